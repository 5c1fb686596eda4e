/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target as every BPF object sees it: tid -> slot, and the window. The tid table is the filter
 * too, so a task that is not traced costs one load and a compare. The scheduler object owns the
 * table; the loader hands the same map to the others.
 */
#ifndef __TEGRATRACE_TARGET_H
#define __TEGRATRACE_TARGET_H

#include "abi.h"

/* A rung without BPF has its own of these (src/probe/rungs/perf_account.c). */
#ifndef TT_IN_USER_SPACE

/* Sized by the loader: pid_max / 32. An array, so the verifier inlines the access. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tt_slot_line);
} tid_slots SEC(".maps");

/* Of this object; the loader publishes all of them. */
struct tt_window window = {TT_WINDOW_CLOSED, TT_WINDOW_CLOSED};

static __always_inline __u16 *slot_ref(__u32 tid)
{
	__u32 line = tid >> TT_TID_SHIFT;
	struct tt_slot_line *l = bpf_map_lookup_elem(&tid_slots, &line);

	return l ? &l->slot[tid & (TT_TIDS_PER_LINE - 1)] : 0;
}

#endif /* !TT_IN_USER_SPACE */

/* 0 = not traced. */
static __always_inline __u32 slot_of(__u32 tid)
{
	__u16 *ref = slot_ref(tid);

	return ref ? *ref : 0;
}

static __always_inline bool in_window(__u64 now)
{
	return now >= window.begin_ns && now < window.end_ns;
}

static __always_inline bool after_window(__u64 now)
{
	return now >= window.end_ns;
}

#endif /* __TEGRATRACE_TARGET_H */
