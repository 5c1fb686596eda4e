/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of all CPUs in the order of time, out of one ring a CPU. Pure. Private to src/probe.
 *
 * Losses: the kernel writes PERF_RECORD_LOST only along with the next record that fits, so a ring
 * found nearly full is taken for one that has lost; otherwise events of other CPUs that came after
 * the loss would be handled before it shows.
 */
#ifndef TEGRATRACE_PERF_MERGE_H
#define TEGRATRACE_PERF_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/rungs/perf_events.h"
#include "probe/rungs/perf_ring.h"

#define MERGE_UNTIL_READ UINT64_MAX /* EVENT_LOST.until_ns: until the ring has been read */

/* One ring. Set ring, cpu and stacks; the rest is zeroed. */
struct event_source {
	struct perf_ring ring;
	__u16 cpu;
	bool stacks; /* its samples are callchains of tasks about to sleep: only they get lost there */
	bool full; /* nearly, when its head was read */
	bool has_next;
	struct trace_event next;
	__u64 last_ns; /* of its last record */
	__u64 frames[TT_STACK_DEPTH];
};

struct event_merge {
	const struct event_formats *formats;
	struct event_source **sources;
	int n;
	uint64_t events; /* handed out */
	uint64_t stacks_lost;
	uint64_t damaged; /* records that are none, or are shorter than their fields */
};

/* Up to where a ring is filled; before each round of merge_next(). */
void merge_set_head(struct event_source *source, uint64_t head);

/*
 * The oldest event before `horizon_ns`; NULL when there is none. Valid until the next call. Every
 * ring must hold all its records of before the horizon: take the time before the heads.
 */
const struct trace_event *merge_next(struct event_merge *merge, uint64_t horizon_ns);

#endif
