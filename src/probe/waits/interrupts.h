/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of interrupt lines and of softirq vectors. */
#ifndef TEGRATRACE_INTERRUPTS_H
#define TEGRATRACE_INTERRUPTS_H

#include <stddef.h>

#define INTERRUPT_NAME_SIZE 48

struct interrupt {
	int irq;
	char name[INTERRUPT_NAME_SIZE]; /* actions, "a, b" on a shared line; sanitised */
};

struct interrupts {
	struct interrupt *list; /* malloc'd, in the file's order */
	size_t n;
};

/*
 * Read the numbered lines below @root (NULL: "/proc") that have an action: interrupts, else the
 * directories of irq/. Returns 0 or -errno; interrupts_free() in either case. A line requested after
 * this is not known.
 */
int interrupts_read(struct interrupts *interrupts, const char *root);
void interrupts_free(struct interrupts *interrupts);

/* NULL when the line is not known. */
const char *interrupts_name(const struct interrupts *interrupts, int irq);

/* "NET_RX" for 3; NULL beyond those that Linux has. */
const char *softirq_name(unsigned int vector);

#endif
