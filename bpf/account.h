/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps and handlers that both rungs share. A rung decodes its event into tids and a way of going
 * out, and calls in here. Nothing here allocates in a scheduler hook, uses an atomic with a result
 * (the arm64 JIT has none before 5.18) or prints.
 *
 * Lookups are array accesses that the verifier inlines: tid -> slot (target.h) -> record.
 */
#ifndef __TEGRATRACE_ACCOUNT_H
#define __TEGRATRACE_ACCOUNT_H

#include "target.h"
#ifndef TT_IN_USER_SPACE
#include "timeline.h"
#endif
#include "thread_state.h"
#include "waker.h"

/* A rung without BPF has its own of these (src/probe/rungs/perf_account.c). */
#ifndef TT_IN_USER_SPACE

#include "records.h"
#include "waits.h"

/*
 * Zeroed slots, filled by the loader; popped in task context at a birth (and once at an exec). A
 * stack, so that few slots are ever touched: the loader reads only those.
 */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 1);
	__type(value, __u32);
} free_slots SEC(".maps");

const volatile bool follow_children = true;

static __always_inline struct tt_thread *thread_at(__u32 slot)
{
	return slot ? bpf_map_lookup_elem(&threads, &slot) : 0;
}

static __always_inline __u32 take_slot(void)
{
	__u32 slot;

	if (bpf_map_pop_elem(&free_slots, &slot)) {
		__sync_fetch_and_add(&losses.no_slot, 1);
		return 0;
	}
	return slot;
}

#endif /* !TT_IN_USER_SPACE */

static __always_inline struct tt_thread *thread_of(__u32 tid)
{
	return thread_at(slot_of(tid));
}

/* The exec'ing thread goes out under the tid of its dead leader: see tt_succeed. */
static __always_inline void switch_out_of_dead(struct tt_thread *dead, __u64 now,
					       enum tt_switch_out how)
{
	__u32 slot = take_slot();
	struct tt_thread *t = thread_at(slot);
	__u16 *ref;

	if (!t)
		return;
	tt_succeed(t, dead->tid, dead->tgid, now, how);
	ref = slot_ref(dead->tid);
	if (ref)
		*ref = slot;
}

static __always_inline void note_exit(struct tt_thread *t, __u32 flag)
{
	if (t->flags & TT_FLAG_EXITING)
		return;
	t->flags |= flag;
	bpf_get_current_comm(t->comm, sizeof(t->comm));
}

static __always_inline void on_dead(struct tt_thread *t)
{
	__u16 *ref;

	/*
	 * A dead leader keeps its tid until the whole process is gone, and a thread that execs
	 * takes it over; any other dead tid may be born again in an untraced process.
	 */
	if (t->tid == t->tgid)
		return;
	ref = slot_ref(t->tid);
	if (ref)
		*ref = 0;
}

static __always_inline void switch_after_window(__u32 prev_slot, __u32 next_slot)
{
	struct tt_thread *t = thread_at(prev_slot);

	if (t)
		tt_outlive(t, TT_ONCPU);
	t = thread_at(next_slot);
	if (t)
		tt_outlive(t, TT_RUNQ_PREEMPT);
}

/*
 * One clock reading closes prev and opens next, so no time falls between them. It is the caller's, before it
 * walks a stack: to the kernel that is no time of prev either. `ran_ns`: how long
 * prev ran, or TT_RAN_UNKNOWN; then `cpu_free` is where this CPU's last switch is kept.
 */
static __always_inline struct tt_in handle_switch(__u64 now, __u32 prev_slot, __u32 next_slot,
						  enum tt_switch_out how, __u64 ran_ns,
						  __u64 *cpu_free)
{
	struct tt_in in = {};
	struct tt_thread *t;

	if (!in_window(now)) {
		if (after_window(now))
			switch_after_window(prev_slot, next_slot);
		return in;
	}
	t = thread_at(prev_slot);
	if (t && t->bucket == TT_DEAD) {
		switch_out_of_dead(t, now, how);
	} else if (t) {
		tt_switch_out(t, now, window.begin_ns, how, ran_ns, cpu_free ? *cpu_free : 0);
		if (how == TT_OUT_DEAD) {
			note_exit(t, TT_FLAG_EXITING); /* its exit may have been missed */
			on_dead(t);
		}
	}
	t = thread_at(next_slot);
	if (t)
		in = tt_switch_in(t, now, window.begin_ns);
	in.now_ns = now;
	if (cpu_free)
		*cpu_free = now;
	return in;
}

static __always_inline void handle_waking(__u32 tid)
{
	struct tt_thread *t = thread_of(tid);

	if (t)
		tt_waking(t, current_waker());
}

static __always_inline bool is_task(__u32 waker)
{
	return waker >> TT_WAKER_KIND_SHIFT == TT_WAKER_TASK;
}

static __always_inline __u16 site_flags(const struct tt_thread *t, __u32 bucket)
{
	return (bucket == TT_OFF_DISK ? TT_SITE_IOWAIT : 0) |
	       (t->in_gpu_call ? TT_SITE_GPU_CALL : 0);
}

/* A sleep whose wakeup was missed: all but the site. */
static __always_inline void unseen_wake(__u32 slot, const struct tt_thread *t, __u32 bucket,
					struct tt_edge_key *key)
{
	key->slot = slot;
	key->waker = TT_WAKER(TT_WAKER_UNSEEN, 0);
	key->flags = site_flags(t, bucket);
}

/*
 * Returns true when a sleep ended; then `key` has all that does not depend on the rung and the
 * caller adds the site.
 */
static __always_inline bool handle_wakeup(__u32 slot, struct tt_thread *t, __u64 ran_ns,
					  struct tt_wake *wake, struct tt_edge_key *key)
{
	__u64 now = bpf_ktime_get_ns();
	struct tt_thread *waker;

	if (!in_window(now)) {
		if (after_window(now))
			tt_outlive(t, TT_OFF_OTHER);
		return false;
	}
	*wake = tt_wakeup(t, now, window.begin_ns, ran_ns);
	if (!wake->bucket)
		return false;
	waker = is_task(wake->waker) ? thread_of(wake->waker) : 0;
	key->slot = slot;
	key->waker = wake->waker;
	key->via = waker ? tt_cause(waker, now) : 0;
	key->flags = site_flags(t, wake->bucket) | (wake->first ? TT_SITE_FIRST : 0);
	tt_set_cause(t, wake, waker != 0);
	tt_note_length(t, wake->slept_ns);
	return true;
}

/* Also after the window: then the thread was born after it. */
static __always_inline void handle_wakeup_new(__u32 tid)
{
	struct tt_thread *t = thread_of(tid);
	__u64 now;

	if (!t)
		return;
	now = bpf_ktime_get_ns();
	if (now >= window.begin_ns)
		tt_wakeup_new(t, now);
}

#define CLONE_THREAD 0x00010000

/*
 * Task context of the creator. A record that the loader seeded in the same moment (the task is in
 * /proc before this event) is adopted; any other record under that tid is a stale one: newtask
 * fires before a reused tid can run, so it can never be charged to the wrong thread.
 */
static __always_inline void handle_newtask(__u32 tid, __u64 clone_flags)
{
	struct tt_thread *parent = thread_of((__u32)bpf_get_current_pid_tgid());
	__u16 *ref = slot_ref(tid);
	struct tt_thread *t;
	__u64 now;
	__u32 slot;

	if (!ref) {
		if (parent)
			__sync_fetch_and_add(&losses.tid_range, 1);
		return;
	}
	now = bpf_ktime_get_ns();
	t = thread_at(*ref);
	if (t) {
		if (t->bucket == TT_UNKNOWN && !t->t_last_ns)
			return;
		if (in_window(now))
			tt_close(t, now, window.begin_ns, TT_FLAG_REUSED);
		*ref = 0;
	}
	if (!parent || now >= window.end_ns)
		return;
	if (!(clone_flags & CLONE_THREAD) && !follow_children)
		return;
	slot = take_slot();
	t = thread_at(slot);
	if (!t)
		return;
	tt_birth(t, tid, clone_flags & CLONE_THREAD ? parent->tgid : tid, now);
	if (!in_window(now)) {
		t->t_last_ns = 0;
		t->t_birth_ns = 0;
		t->flags = 0;
	}
	*ref = slot;
}

/* sched_process_exec runs in the exec'ing thread, which now owns tid; old_tid is what it had. */
static __always_inline void handle_exec(__u32 tid, __u32 old_tid)
{
	__u16 *ref = slot_ref(tid), *old_ref = slot_ref(old_tid);
	__u64 now = bpf_ktime_get_ns();
	struct tt_thread *t, *old;

	if (!ref || !old_ref || !*old_ref)
		return;
	t = thread_at(*ref);
	if (tid == old_tid) {
		if (t)
			t->flags |= TT_FLAG_EXECED;
		return;
	}
	old = thread_at(*old_ref);
	if (!old || !in_window(now))
		return;
	if (t && (t->flags & TT_FLAG_SUCCEEDS)) {
		t->flags |= TT_FLAG_EXECED;
		tt_renamed(old, window.begin_ns, t, *ref);
	} else if (old->bucket != TT_DEAD) {
		if (t)
			tt_close(t, now, window.begin_ns, 0);
		old->tid = tid;
		old->flags |= TT_FLAG_EXECED;
		*ref = *old_ref;
	} else if (t) {
		t->flags |= TT_FLAG_EXECED;
	}
	*old_ref = 0;
}

/* Rung perf has no process here, and looks for those that it missed itself. */
static __always_inline void note_unknown(__u32 tid)
{
#ifdef TT_IN_USER_SPACE
	(void)tid;
#else
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (tgid != tid && slot_of(tgid) && in_window(bpf_ktime_get_ns()))
		__sync_fetch_and_add(&losses.unknown, 1);
#endif
}

static __always_inline void handle_exit(__u32 tid)
{
	struct tt_thread *t = thread_of(tid);

	if (!t) {
		note_unknown(tid);
		return;
	}
	/* what it did where it had no event before, its last switch tells */
	note_exit(t, after_window(bpf_ktime_get_ns()) ? TT_FLAG_OUTLIVED : TT_FLAG_EXITING);
}

#endif /* __TEGRATRACE_ACCOUNT_H */
