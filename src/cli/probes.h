/* SPDX-License-Identifier: GPL-2.0-only */
/* The probes beside the scheduler accounts, which --without switches off. */
#ifndef TEGRATRACE_PROBES_H
#define TEGRATRACE_PROBES_H

#include <stddef.h>

enum probe {
	PROBE_BLOCK = 1 << 0,
	PROBE_FAULTS = 1 << 1,
	PROBE_SAMPLES = 1 << 2,
	PROBE_CUDA = 1 << 3,
	PROBE_IRQ = 1 << 4,
	PROBE_STACKS = 1 << 5,
	PROBE_SYSTEM = 1 << 6,
};

/*
 * Add the probes of a comma-separated list of names to a set. Returns 0; -EINVAL on an empty or
 * unknown name, which is then in `bad`, sanitised.
 */
int probes_parse(const char *list, unsigned int *set, char *bad, size_t bad_size);

/* "block, faults, ...": all names. */
const char *probes_names(void);

#endif
