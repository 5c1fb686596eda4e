/* SPDX-License-Identifier: GPL-2.0-only */
/* The CPUs whose events are read, as they come and go. Private to src/probe. */
#ifndef TEGRATRACE_PERF_CPUS_H
#define TEGRATRACE_PERF_CPUS_H

#include <poll.h>
#include <stdbool.h>

#include "probe/rungs/perf_cpu.h"

struct perf_cpus {
	struct perf_cpu_settings settings;
	struct perf_cpu *open[2 * TT_MAX_CPUS]; /* of one that went and is back the old one, too */
	int n;
	bool listed[TT_MAX_CPUS]; /* online when last looked at */
	/* The rings of those that are open; of each that of its events is polled. */
	struct event_source *sources[4 * TT_MAX_CPUS];
	int nsources;
	struct pollfd polls[1 + 2 * TT_MAX_CPUS]; /* the first is the caller's */
};

/*
 * Opens all that are online, not enabled. Returns 0, or -errno: then *what is the event, or the file, that
 * failed. perf_cpus_close() is due in any case.
 */
int perf_cpus_open(struct perf_cpus *cpus, const char **what);

/*
 * Opens those that came online, as [first, cpus->n), and closes those that went, also when they are back.
 * Their rings must be read up to a moment after the call before. True when anything has changed.
 */
bool perf_cpus_follow(struct perf_cpus *cpus, int *first);

void perf_cpus_close(struct perf_cpus *cpus);

#endif
