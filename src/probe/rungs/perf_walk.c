/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/perf_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many sleeps are walked before they are judged. */
#define FIRST_SLEEPS 16

static __u64 slept_ns(const struct tt_thread *t)
{
	return t->ns[TT_OFF_OTHER] + t->ns[TT_OFF_DISK];
}

static int compare(const void *a, const void *b)
{
	__u32 x = *(const __u32 *)a, y = *(const __u32 *)b;

	return (x > y) - (x < y);
}

void walk_choose(const struct records *records, struct walk_list *list)
{
	const struct tt_thread *chosen[WALK_MAX], *least;
	int at;

	list->n = 0;
	for (__u32 slot = 1; slot <= records->used; slot++) {
		const struct tt_thread *t = &records->threads[slot];

		if (!t->tid || t->bucket == TT_DEAD ||
		    (!(t->flags & TT_LONG_MASK) && t->switches_voluntary >= FIRST_SLEEPS))
			continue;
		if (list->n < WALK_MAX) {
			chosen[list->n++] = t;
			continue;
		}
		at = 0;
		for (int i = 1; i < WALK_MAX; i++) {
			if (slept_ns(chosen[i]) < slept_ns(chosen[at]))
				at = i;
		}
		least = chosen[at];
		if (slept_ns(t) > slept_ns(least))
			chosen[at] = t;
	}
	for (int i = 0; i < list->n; i++)
		list->tids[i] = chosen[i]->tid;
	qsort(list->tids, list->n, sizeof(list->tids[0]), compare);
}

void walk_filter(const struct walk_list *list, char filter[WALK_FILTER_SIZE])
{
	size_t used = (size_t)snprintf(filter, WALK_FILTER_SIZE, "prev_state & 3 && (");

	for (int i = 0; i < list->n; i++)
		used += (size_t)snprintf(filter + used, WALK_FILTER_SIZE - used, "%sprev_pid == %u",
					 i ? " || " : "", list->tids[i]);
	snprintf(filter + used, WALK_FILTER_SIZE - used, ")");
}
