/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every interval that each thread spent in one state (--timeline). Filled by src/probe/timeline.c,
 * in about the order of their ends. Where none was lost, and the thread has no unknown_ns, those of a
 * thread add up to its account, to the nanosecond.
 */
#ifndef TEGRATRACE_SESSION_TIMELINE_H
#define TEGRATRACE_SESSION_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/waits.h"

/* As the parts of struct thread_account. */
enum slice_state {
	SLICE_UNKNOWN,
	SLICE_ONCPU,
	SLICE_RUNQ_WAKE,
	SLICE_RUNQ_PREEMPT,
	SLICE_STOPPED,
	SLICE_OFF_DISK,
	SLICE_OFF_OTHER,
	SLICE_STATES,
};

/* "oncpu", "runq-wake", ...; for people: "Running", "Runnable", ... */
const char *slice_state_name(enum slice_state state);
const char *slice_state_title(enum slice_state state);

struct timeline_slice {
	int64_t start_ns; /* since the window's begin */
	int64_t ns;
	pid_t pid, tid;
	enum slice_state state;
	int cpu;		    /* where it ended; -1 at the window's end */
	enum waker_kind waker_kind; /* who ended a sleep; WAKER_NONE: no sleep, or not seen */
	uint32_t waker;		    /* tid, or number of the interrupt */
};

#define TIMELINE_LIMIT 4194304 /* slices */

struct timeline {
	struct timeline_slice *slices;
	size_t n;
};

/* A copy is added; false when out of memory. */
bool timeline_add(struct timeline *timeline, const struct timeline_slice *slice);

/*
 * Indices of the slices by process, thread and time, malloc'd; NULL when out of memory or empty.
 * Slices that overlap the one before in their thread, as a damaged file may have, are left out;
 * *n says how many stay.
 */
uint32_t *timeline_order(const struct timeline *timeline, size_t *n);

#endif
