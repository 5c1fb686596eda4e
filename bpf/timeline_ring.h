/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring of the timeline, one for all objects: that of the scheduler has it, and the loader hands
 * it to the others. An event that does not fit is counted and costs nothing else.
 */
#ifndef __TEGRATRACE_TIMELINE_RING_H
#define __TEGRATRACE_TIMELINE_RING_H

#include "abi.h"

/* Sized by the loader, or not made at all: the kernel has such rings since 5.8. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} timeline SEC(".maps");

/* While false the verifier drops all of this. */
const volatile bool keep_timeline = false;

/* No wakeup of the reader, which would be another switch: it looks by itself. */
#define timeline_submit(event) bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP)

/* Of a constant size; NULL, and one more in *lost, when the ring is full. */
static __always_inline void *timeline_reserve(__u64 size, __u64 *lost)
{
	void *event = bpf_ringbuf_reserve(&timeline, size, 0);

	if (!event)
		__sync_fetch_and_add(lost, 1);
	return event;
}

/* `id` as of bpf_get_current_pid_tgid(). */
static __always_inline void timeline_head(struct tt_slice *head, __u64 start_ns, __u64 ns, __u64 id,
					  __u16 kind)
{
	head->start_ns = start_ns;
	head->ns = ns;
	head->tid = (__u32)id;
	head->tgid = id >> 32;
	head->waker = 0;
	head->cpu = bpf_get_smp_processor_id();
	head->bucket = kind;
}

#endif /* __TEGRATRACE_TIMELINE_RING_H */
