/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every interval of every traced thread through a ring to the loader, when asked for. The sums never
 * depend on it. Included before thread_state.h, whose tt_charge() it hooks into.
 */
#ifndef __TEGRATRACE_TIMELINE_H
#define __TEGRATRACE_TIMELINE_H

#include "abi.h"

/* Sized by the loader, or not made at all: the kernel has such rings since 5.8. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} timeline SEC(".maps");

/* While false the verifier drops all of this. */
const volatile bool keep_timeline = false;

extern struct tt_losses losses;

/* No wakeup of the reader, which would be another switch: it looks by itself. */
static __noinline int keep_slice(const struct tt_thread *t, __u64 start_ns, __u64 ns, __u32 bucket,
				 __u32 next)
{
	struct tt_slice *slice = bpf_ringbuf_reserve(&timeline, sizeof(*slice), 0);

	if (!slice) {
		__sync_fetch_and_add(&losses.slices, 1);
		return 0;
	}
	slice->start_ns = start_ns;
	slice->ns = ns;
	slice->tid = t->tid;
	slice->tgid = t->tgid;
	slice->waker = bucket >= TT_OFF_FIRST && next == TT_RUNQ_WAKE ? t->last_waker : 0;
	slice->cpu = bpf_get_smp_processor_id();
	slice->bucket = bucket;
	bpf_ringbuf_submit(slice, BPF_RB_NO_WAKEUP);
	return 0;
}

#define TT_KEEP_SLICE(t, start, length, held, now_held)               \
	do {                                                          \
		if (keep_timeline && (length))                        \
			keep_slice(t, start, length, held, now_held); \
	} while (0)

#endif /* __TEGRATRACE_TIMELINE_H */
