/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/timeline.h"

#include <stdlib.h>

#define FIRST_SLICES 4096

const char *slice_state_name(enum slice_state state)
{
	static const char *const names[SLICE_STATES] = {
		[SLICE_UNKNOWN] = "unknown",	 [SLICE_ONCPU] = "oncpu",
		[SLICE_RUNQ_WAKE] = "runq-wake", [SLICE_RUNQ_PREEMPT] = "runq-preempt",
		[SLICE_STOPPED] = "stopped",	 [SLICE_OFF_DISK] = "off-disk",
		[SLICE_OFF_OTHER] = "off-other",
	};

	return (unsigned int)state < SLICE_STATES ? names[state] : "?";
}

const char *slice_state_title(enum slice_state state)
{
	static const char *const titles[SLICE_STATES] = {
		[SLICE_UNKNOWN] = "Unknown",	[SLICE_ONCPU] = "Running",
		[SLICE_RUNQ_WAKE] = "Runnable", [SLICE_RUNQ_PREEMPT] = "Runnable (Preempted)",
		[SLICE_STOPPED] = "Stopped",	[SLICE_OFF_DISK] = "Sleeping (disk)",
		[SLICE_OFF_OTHER] = "Sleeping",
	};

	return (unsigned int)state < SLICE_STATES ? titles[state] : "?";
}

/* Full at FIRST_SLICES, then at each power of two. */
bool timeline_add(struct timeline *timeline, const struct timeline_slice *slice)
{
	size_t n = timeline->n;

	if (n == 0 || (n >= FIRST_SLICES && (n & (n - 1)) == 0)) {
		struct timeline_slice *more =
			reallocarray(timeline->slices, n ? 2 * n : FIRST_SLICES, sizeof(*more));

		if (!more)
			return false;
		timeline->slices = more;
	}
	timeline->slices[timeline->n++] = *slice;
	return true;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_thread_and_time(const void *a, const void *b, void *slices)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	const struct timeline_slice *x = (const struct timeline_slice *)slices + first;
	const struct timeline_slice *y = (const struct timeline_slice *)slices + second;
	int order = compare(x->pid, y->pid);

	if (!order)
		order = compare(x->tid, y->tid);
	if (!order)
		order = compare(x->start_ns, y->start_ns);
	return order ? order : compare(first, second);
}

static bool overlaps(const struct timeline_slice *before, const struct timeline_slice *slice)
{
	return before->pid == slice->pid && before->tid == slice->tid &&
	       slice->start_ns < before->start_ns + before->ns;
}

uint32_t *timeline_order(const struct timeline *timeline, size_t *n)
{
	const struct timeline_slice *slices = timeline->slices;
	uint32_t *order = reallocarray(NULL, timeline->n, sizeof(*order));

	*n = 0;
	if (!order || !timeline->n) {
		free(order);
		return NULL;
	}
	for (size_t i = 0; i < timeline->n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, timeline->n, sizeof(*order), by_thread_and_time, timeline->slices);
	for (size_t i = 0; i < timeline->n; i++) {
		if (!*n || !overlaps(&slices[order[*n - 1]], &slices[order[i]]))
			order[(*n)++] = order[i];
	}
	return order;
}
