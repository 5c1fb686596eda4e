/* SPDX-License-Identifier: GPL-2.0-only */
/* A set of kernel addresses and their function names, looked up in one pass. */
#ifndef TEGRATRACE_KERNEL_NAMES_H
#define TEGRATRACE_KERNEL_NAMES_H

#include <stdint.h>

struct kernel_names;

/* NULL when out of memory. */
struct kernel_names *kernel_names_new(void);
void kernel_names_free(struct kernel_names *names);

void kernel_names_add(struct kernel_names *names, uint64_t address);

/* Looks up all that were added. Without kernel symbols every name stays "?". */
void kernel_names_resolve(struct kernel_names *names);

/* Valid until the free; "?" where it is not known. */
const char *kernel_names_get(const struct kernel_names *names, uint64_t address);

#endif
