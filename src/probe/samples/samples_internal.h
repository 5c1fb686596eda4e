/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by samples.c, which collects, and sample_sites.c, which sums up. */
#ifndef TEGRATRACE_SAMPLES_INTERNAL_H
#define TEGRATRACE_SAMPLES_INTERNAL_H

#include "probe/cpu_events.h"
#include "probe/flip.h"
#include "probe/samples/samples.h"
#include "probe/tally.h"
#include "probe/symbols/user_stacks.h"

struct sampler;

/* Words of a tally key. */
enum {
	SAMPLE_SYMBOL, /* number of the user symbol + 1; 0 unknown */
	SAMPLE_KERNEL_IP,
	SAMPLE_KERNEL_STACK,
	SAMPLE_USER_STACK,
};

struct samples {
	struct sampler *skeleton;
	struct cpu_events events;
	struct flip flip;
	struct tally *tally;
	struct mappings *mappings;
	struct user_symbols *symbols;
	struct user_stacks *stacks; /* NULL without whole stacks */
	int stacks_fd;
};

void samples_losses(const struct samples *samples, struct session_losses *losses);

#endif
