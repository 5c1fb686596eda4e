/* SPDX-License-Identifier: GPL-2.0-only */
/* What the running kernel offers to the probes: events, and the settings that stand in their way. */
#ifndef TEGRATRACE_KERNEL_FEATURES_H
#define TEGRATRACE_KERNEL_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/machine/environment.h"
#include "probe/machine/kernel_config.h"
#include "probe/tracefs.h"

#define TRACEPOINTS_MAX 12

/* The tracepoints that one probe attaches to. */
struct tracepoint_set {
	const char *what;
	const char *loses;		     /* without them */
	const char *events[TRACEPOINTS_MAX]; /* "system/event" */
	const char *optional;		     /* one that older kernels lack without harm; NULL */
};

extern const struct tracepoint_set tracepoint_sets[];
extern const size_t tracepoint_set_count;

/* `tracefs` may be closed (fd -1). Fills there[i] for each event of the set. */
void tracepoint_set_check(const struct tracepoint_set *set, const struct tracefs *tracefs,
			  bool there[TRACEPOINTS_MAX], struct finding *finding);

#define KERNEL_FEATURES 6

/* Perf events, the JIT, lockdown, delay accounting, interrupt time, capabilities; returns how many. */
int kernel_features_check(const struct kernel_config *config,
			  struct finding findings[KERNEL_FEATURES]);

#endif
