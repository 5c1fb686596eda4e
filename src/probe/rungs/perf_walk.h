/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose sleeps are worth a callchain: the choice, and the kernel's filter for it. Private to src/probe. */
#ifndef TEGRATRACE_PERF_WALK_H
#define TEGRATRACE_PERF_WALK_H

#include <stddef.h>

#include "probe/rungs/records.h"

#define WALK_MAX	 64
#define WALK_FILTER_SIZE 2048 /* the kernel takes less than a page */

struct walk_list {
	__u32 tids[WALK_MAX]; /* ascending */
	int n;
};

/*
 * The threads whose last sleeps were long or that have hardly slept yet; if they are too many, those
 * that have slept most. With the lock held.
 */
void walk_choose(const struct records *records, struct walk_list *list);

/* Switches of these threads to sleep, as a filter of sched/sched_switch. */
void walk_filter(const struct walk_list *list, char filter[WALK_FILTER_SIZE]);

#endif
