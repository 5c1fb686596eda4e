/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/timeline.h"

#include <stdlib.h>

#define FIRST_ROWS 4096

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

static size_t bytes_of(const struct timeline *timeline)
{
	return timeline->n * sizeof(*timeline->slices) +
	       timeline->nrequests * sizeof(*timeline->requests) +
	       timeline->nfaults * sizeof(*timeline->faults) +
	       timeline->ncalls * sizeof(*timeline->calls);
}

/*
 * The rows with room for one more, which are full at FIRST_ROWS, then at each power of two; NULL,
 * and the old ones stay, when there is to be none.
 */
static void *with_room(struct timeline *timeline, void *rows, size_t n, size_t size)
{
	if (n >= TIMELINE_LIMIT ||
	    (timeline->limit_bytes && bytes_of(timeline) + size > timeline->limit_bytes))
		rows = NULL;
	else if (n == 0 || (n >= FIRST_ROWS && (n & (n - 1)) == 0))
		rows = reallocarray(rows, n ? 2 * n : FIRST_ROWS, size);
	if (!rows)
		timeline->left_out++;
	return rows;
}

#define ADD(timeline, rows, n, row)                                                           \
	do {                                                                                  \
		void *grown_ =                                                                \
			with_room(timeline, (timeline)->rows, (timeline)->n, sizeof(*(row))); \
		if (!grown_)                                                                  \
			return;                                                               \
		(timeline)->rows = grown_;                                                    \
		(timeline)->rows[(timeline)->n++] = *(row);                                   \
	} while (0)

void timeline_add_slice(struct timeline *timeline, const struct timeline_slice *slice)
{
	ADD(timeline, slices, n, slice);
}

void timeline_add_request(struct timeline *timeline, const struct timeline_request *request)
{
	ADD(timeline, requests, nrequests, request);
}

void timeline_add_fault(struct timeline *timeline, const struct timeline_fault *fault)
{
	ADD(timeline, faults, nfaults, fault);
}

void timeline_add_call(struct timeline *timeline, const struct timeline_call *call)
{
	ADD(timeline, calls, ncalls, call);
}

void timeline_free(struct timeline *timeline)
{
	free(timeline->slices);
	free(timeline->requests);
	free(timeline->faults);
	free(timeline->calls);
	*timeline = (struct timeline){0};
}
