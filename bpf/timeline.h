/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every interval of every traced thread through a ring to the loader, when asked for. The sums never
 * depend on it. Included before thread_state.h, whose tt_charge() it hooks into.
 */
#ifndef __TEGRATRACE_TIMELINE_H
#define __TEGRATRACE_TIMELINE_H

#include "timeline_ring.h"

extern struct tt_losses losses;

static __noinline int keep_slice(const struct tt_thread *t, __u64 start_ns, __u64 ns, __u32 bucket,
				 __u32 next)
{
	struct tt_slice *slice = timeline_reserve(sizeof(*slice), &losses.slices);

	if (!slice)
		return 0;
	timeline_head(slice, start_ns, ns, (__u64)t->tgid << 32 | t->tid, bucket);
	if (bucket >= TT_OFF_FIRST && next == TT_RUNQ_WAKE)
		slice->waker = t->last_waker;
	timeline_submit(slice);
	return 0;
}

#define TT_KEEP_SLICE(t, start, length, held, now_held)               \
	do {                                                          \
		if (keep_timeline && (length))                        \
			keep_slice(t, start, length, held, now_held); \
	} while (0)

#endif /* __TEGRATRACE_TIMELINE_H */
