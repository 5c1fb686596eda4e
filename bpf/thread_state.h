/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state machine of one thread: pure functions over struct tt_thread, no kernel call, no libc.
 * The BPF programs, the unit tests and any user-space rung run this same code.
 *
 * Every function takes `now` (the event's one clock reading, inside the window) and `begin` (the
 * window's start). Identity by construction: a transition adds exactly now - t_last to the bucket
 * held and moves t_last to now, so the sums always add up to t_last - birth.
 */
#ifndef __TEGRATRACE_THREAD_STATE_H
#define __TEGRATRACE_THREAD_STATE_H

#include <stdbool.h>

#include "abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* floor(log2(v)), 0 for 0: BPF has no count-leading-zeros instruction. */
static __always_inline __u32 tt_log2(__u64 v)
{
	__u32 r = 0, s;

	s = (v > 0xffffffffULL) << 5;
	v >>= s;
	r |= s;
	s = (v > 0xffff) << 4;
	v >>= s;
	r |= s;
	s = (v > 0xff) << 3;
	v >>= s;
	r |= s;
	s = (v > 0xf) << 2;
	v >>= s;
	r |= s;
	s = (v > 0x3) << 1;
	v >>= s;
	r |= s;
	r |= (__u32)(v >> 1);
	return r;
}

static __always_inline __u32 tt_hist_index(__u64 ns)
{
	__u32 i = tt_log2(ns >> TT_HIST_SHIFT);

	return i < TT_HIST_BUCKETS ? i : TT_HIST_BUCKETS - 1;
}

/* Set by a rung that reads the task's own state: nothing goes out as TT_OUT_UNTOLD. */
#ifndef TT_TELLS_FROZEN
#define TT_TELLS_FROZEN 0
#endif

/* Whoever includes this may keep each interval. */
#ifndef TT_KEEP_SLICE
#define TT_KEEP_SLICE(t, start, length, held, now_held)
#endif

/*
 * Close the interval held with `bucket` and open `next` at now. An event older than the last
 * transition (clocks of two CPUs, a race) is taken as 0 ns long and never moves t_last back.
 */
static __always_inline __u64 tt_charge(struct tt_thread *t, __u64 now, __u64 begin, __u32 bucket,
				       __u32 next)
{
	__u64 last = t->t_last_ns ? t->t_last_ns : begin;
	__u64 d = 0;

	if (now >= last) {
		d = now - last;
		last = now;
	} else {
		t->clamped++;
	}
	t->ns[bucket & (TT_BUCKET_SLOTS - 1)] += d;
	TT_KEEP_SLICE(t, last - d, d, bucket, next);
	t->t_last_ns = last;
	t->bucket = next;
	return d;
}

static __always_inline bool tt_is_queued(enum tt_switch_out how)
{
	return how == TT_OUT_RUNNABLE || how == TT_OUT_UNTOLD;
}

static __always_inline __u32 tt_bucket_after(enum tt_switch_out how)
{
	switch (how) {
	case TT_OUT_RUNNABLE:
	case TT_OUT_UNTOLD:
		return TT_RUNQ_PREEMPT;
	case TT_OUT_DISK:
		return TT_OFF_DISK;
	case TT_OUT_STOPPED:
		return TT_STOPPED;
	case TT_OUT_DEAD:
		return TT_DEAD;
	default:
		return TT_OFF_OTHER;
	}
}

/* How long the task going out has run since it came in; exact from the kernel's own counter. */
#define TT_RAN_UNKNOWN (~0ULL)
/* The same of one that is known to be on no CPU: longer than any slice. */
#define TT_RAN_NOT_TOLD (1ULL << 62)

/*
 * The slice lies in the interval held, or the kernel's counter was of something else. The clocks of
 * both may differ by what one is slewed.
 */
static __always_inline bool tt_fits(__u64 ran_ns, __u64 held_ns)
{
	return ran_ns <= held_ns + (held_ns >> 10);
}

/*
 * Close the interval held in two parts: `first` up to `mid`, `second` from there to now. For a
 * transition that was missed between two events seen.
 */
static __always_inline void tt_split(struct tt_thread *t, __u64 now, __u64 begin, __u64 mid,
				     __u32 first, __u32 second, __u32 next)
{
	__u64 last = t->t_last_ns ? t->t_last_ns : begin;

	if (mid > now)
		mid = now;
	if (mid > last)
		tt_charge(t, mid, begin, first, first);
	tt_charge(t, now, begin, second, next);
}

/*
 * Going out while not on a CPU: the switch-in was missed. With the kernel's run time of this slice
 * the moment it came in is known. Without, it lies after `cpu_free_ns`, when this CPU was last seen
 * taken by another task; until then the state held is certain, after it nothing is.
 */
static __always_inline void tt_missed_switch_in(struct tt_thread *t, __u64 now, __u64 begin,
						__u64 ran_ns, __u64 cpu_free_ns, __u32 next)
{
	__u64 last = t->t_last_ns ? t->t_last_ns : begin;

	t->gap_switch_out++;
	if (tt_fits(ran_ns, now - last))
		tt_split(t, now, begin, ran_ns < now ? now - ran_ns : 0, t->bucket, TT_ONCPU, next);
	else
		tt_split(t, now, begin, cpu_free_ns, t->bucket, TT_UNKNOWN, next);
}

static __always_inline void tt_switch_out(struct tt_thread *t, __u64 now, __u64 begin,
					  enum tt_switch_out how, __u64 ran_ns, __u64 cpu_free_ns)
{
	__u32 next = tt_bucket_after(how);

	if (t->bucket == TT_DEAD)
		return;
	if (tt_is_queued(how))
		t->switches_involuntary++;
	else
		t->switches_voluntary++;
	if (!TT_TELLS_FROZEN)
		t->flags = how == TT_OUT_UNTOLD ? t->flags | TT_FLAG_UNTOLD
						: t->flags & ~TT_FLAG_UNTOLD;
	/* No event since begin, and it leaves a CPU: it ran throughout. */
	if (t->bucket == TT_ONCPU || (t->bucket == TT_UNKNOWN && !t->t_last_ns))
		tt_charge(t, now, begin, TT_ONCPU, next);
	else
		tt_missed_switch_in(t, now, begin, ran_ns, cpu_free_ns, next);
	if (how == TT_OUT_DEAD)
		t->t_death_ns = t->t_last_ns;
}

/* Returns the delay. */
static __always_inline __u64 tt_runq_sample(struct tt_thread *t, __u64 delay_ns)
{
	__u64 i = tt_hist_index(delay_ns);

	t->runq_count++;
	if (delay_ns > t->runq_max_ns)
		t->runq_max_ns = delay_ns;
	/*
	 * The verifier loses the bound (5.10 to 6.1): test it in the register that is the index,
	 * and where the compiler cannot know that no test is needed.
	 */
	__asm__ volatile("" : "+r"(i));
	if (i < TT_HIST_BUCKETS)
		t->runq_hist[i]++;
	return delay_ns;
}

/* What a switch-in ended. */
struct tt_in {
	__u64 now_ns;	/* 0: outside of the window */
	__u64 delay_ns; /* in the run queue; 0 when its length is not known */
	__u64 slept_ns; /* of a sleep whose wakeup was missed */
	__u32 bucket;	/* of that sleep; 0 = none */
};

static __always_inline struct tt_in tt_switch_in(struct tt_thread *t, __u64 now, __u64 begin)
{
	struct tt_in in = {};
	__u32 held = t->bucket;

	if (held == TT_DEAD)
		return in;
	t->pend = 0;
	if (held == TT_RUNQ_WAKE || held == TT_RUNQ_PREEMPT) {
		in.delay_ns = tt_runq_sample(t, tt_charge(t, now, begin, held, TT_ONCPU));
		/* What woke it stays fresh while it has to wait for a CPU. */
		t->woken_ns += in.delay_ns;
		return in;
	}
	if (held == TT_UNKNOWN) {
		/*
		 * It comes from a run queue without a wakeup since begin, so it was queued all
		 * the time; whether a wake or a preemption put it there is not known. No sample:
		 * the delay began before the window.
		 */
		held = t->flags & TT_FLAG_BORN ? TT_RUNQ_WAKE : TT_RUNQ_PREEMPT;
	} else {
		t->gap_switch_in++;
		if (held == TT_ONCPU)
			held = TT_UNKNOWN; /* the switch-out was missed: it ran for a part only */
	}
	in.slept_ns = tt_charge(t, now, begin, held, TT_ONCPU);
	in.bucket = held >= TT_OFF_FIRST ? held : 0;
	/* Who woke it is not known, but what it had slept for may be. */
	t->cause = held == TT_OFF_DISK ? TT_WAKER(TT_WAKER_DISK, 0) : 0;
	t->woken_ns = now;
	return in;
}

/*
 * Only names the waker; it may come before the sleeper's own switch-out, so no state moves here.
 */
static __always_inline void tt_waking(struct tt_thread *t, __u32 waker)
{
	t->pend = waker | TT_PEND;
}

/* A sleep that a wakeup ended. */
struct tt_wake {
	__u64 slept_ns;
	__u32 bucket; /* that was held: TT_OFF_FIRST or above; 0 = no sleep ended */
	__u32 waker;
	bool first; /* asleep since the window's begin: why was not seen */
};

/* Returns the waker. */
static __always_inline __u32 tt_commit_wake(struct tt_thread *t, __u64 now, __u32 pend)
{
	t->wakes++;
	t->woken_ns = now;
	t->last_waker = pend ? pend & ~TT_PEND : TT_WAKER(TT_WAKER_UNSEEN, 0);
	if (!pend)
		t->gap_waker++;
	return t->last_waker;
}

/*
 * `ran_ns` is the length of the thread's last slice when the rung knows that it is on no CPU now,
 * else TT_RAN_UNKNOWN. A wakeup of a thread held as running is spurious unless that is known: then
 * its switch-out was missed, and it ran for ran_ns and slept since; when its length is not known, or
 * cannot be, neither is what it did since.
 */
static __always_inline struct tt_wake tt_wakeup(struct tt_thread *t, __u64 now, __u64 begin,
						__u64 ran_ns)
{
	__u32 held = t->bucket, pend = t->pend;
	__u64 last = t->t_last_ns ? t->t_last_ns : begin;
	struct tt_wake wake = {};

	if (held == TT_DEAD)
		return wake;
	t->pend = 0;
	if (held == TT_ONCPU && ran_ns != TT_RAN_UNKNOWN) {
		t->gap_switch_in++;
		if (tt_fits(ran_ns, now - last)) {
			wake.waker = tt_commit_wake(t, now, pend);
			tt_split(t, now, begin, last + ran_ns, TT_ONCPU, TT_OFF_OTHER,
				 TT_RUNQ_WAKE);
			wake.slept_ns = now > last + ran_ns ? now - last - ran_ns : 0;
			wake.bucket = TT_OFF_OTHER;
			return wake;
		}
		held = TT_UNKNOWN;
	} else if (held == TT_UNKNOWN) {
		held = TT_OFF_OTHER;
		wake.first = !t->t_last_ns;
	} else if (!TT_TELLS_FROZEN && held == TT_RUNQ_PREEMPT && t->flags & TT_FLAG_UNTOLD) {
		/* Nothing wakes a thread that is queued as running: this one was not. */
		t->switches_involuntary--;
		t->switches_voluntary++;
		held = TT_STOPPED;
	} else if (held >= TT_ONCPU && held <= TT_RUNQ_PREEMPT) {
		t->spurious_wakes++;
		return wake;
	}
	wake.waker = tt_commit_wake(t, now, pend);
	wake.slept_ns = tt_charge(t, now, begin, held, TT_RUNQ_WAKE);
	wake.bucket = held >= TT_OFF_FIRST ? held : 0;
	return wake;
}

/*
 * What woke this thread, told to those that it wakes in turn: an interrupt, a task that is not
 * traced, or that it had waited for a disk. A wake by a traced thread passes nothing on, so a cause
 * travels one hop and no chain builds up.
 */
static __always_inline void tt_set_cause(struct tt_thread *t, const struct tt_wake *wake,
					 bool waker_is_traced)
{
	if (wake->bucket == TT_OFF_DISK)
		t->cause = TT_WAKER(TT_WAKER_DISK, 0);
	else if (waker_is_traced || wake->waker == TT_WAKER(TT_WAKER_UNSEEN, 0))
		t->cause = 0;
	else
		t->cause = wake->waker;
}

static __always_inline __u32 tt_cause(const struct tt_thread *waker, __u64 now)
{
	return now - waker->woken_ns < TT_VIA_NS ? waker->cause : 0;
}

/*
 * Does the sleep that begins now pay for a stack? Its length is not known: judged by the last ones,
 * of which a thread may mix short and long.
 */
static __always_inline bool tt_wants_stack(const struct tt_thread *t)
{
	return t->flags & TT_LONG_MASK || t->switches_voluntary % TT_STACK_SAMPLE == 0;
}

static __always_inline void tt_note_length(struct tt_thread *t, __u64 slept_ns)
{
	if (slept_ns >= TT_STACK_MIN_NS)
		t->flags = (t->flags & ~TT_LONG_MASK) | TT_LONG_KEPT << TT_LONG_SHIFT;
	else if (t->flags & TT_LONG_MASK)
		t->flags -= 1u << TT_LONG_SHIFT;
}

static __always_inline bool tt_repeats(const struct tt_repeat *r, const struct tt_edge_key *key)
{
	return r->used && r->waker == key->waker && r->arg == key->arg &&
	       r->kernel_stack == key->kernel_stack && r->user_stack == key->user_stack &&
	       r->syscall == key->syscall && r->flags == key->flags && r->via == key->via;
}

/* The thread exists from its first wakeup on: between creation and that it cannot run. */
static __always_inline void tt_wakeup_new(struct tt_thread *t, __u64 now)
{
	if (t->bucket != TT_UNKNOWN)
		return;
	t->t_last_ns = now;
	t->t_birth_ns = now;
	t->flags |= TT_FLAG_BORN;
	t->bucket = TT_RUNQ_WAKE;
}

/* A zeroed record for a thread created at now inside the window, until its first wakeup. */
static __always_inline void tt_birth(struct tt_thread *t, __u32 tid, __u32 tgid, __u64 now)
{
	t->tid = tid;
	t->tgid = tgid;
	t->t_last_ns = now;
	t->t_birth_ns = now;
	t->flags = TT_FLAG_BORN;
	t->bucket = TT_UNKNOWN;
}

/* Close an account for a reason other than the DEAD switch. */
static __always_inline void tt_close(struct tt_thread *t, __u64 now, __u64 begin, __u32 why_flag)
{
	if (t->bucket == TT_DEAD)
		return;
	tt_charge(t, now, begin, t->bucket, TT_DEAD);
	t->t_death_ns = t->t_last_ns;
	t->flags |= why_flag;
}

/*
 * An event of after the window: the thread did not end in it. Without one in the window it tells what
 * it did all the time: `past`.
 */
static __always_inline void tt_outlive(struct tt_thread *t, __u32 past)
{
	if (t->bucket == TT_UNKNOWN && !t->t_last_ns && !(t->flags & TT_FLAG_LOST))
		t->bucket = past;
	t->flags |= TT_FLAG_OUTLIVED;
}

/* It had ended before the window, and only its process lives on: nothing of it lies in the window. */
static __always_inline bool tt_died_before(const struct tt_thread *t)
{
	return t->bucket == TT_DEAD && !t->t_last_ns;
}

/*
 * From `since` on events may have been lost, on any CPU. The state held is certain up to there. A
 * thread without any event since begin keeps it open that it had none.
 */
static __always_inline void tt_lose(struct tt_thread *t, __u64 since, __u64 begin)
{
	if (t->bucket == TT_DEAD)
		return;
	if (t->t_last_ns && since > t->t_last_ns)
		tt_charge(t, since, begin, t->bucket, TT_UNKNOWN);
	t->flags |= TT_FLAG_LOST;
	t->pend = 0;
}

/* Before the first event after a loss: all since is unknown, and the event tells `bucket`. */
static __always_inline bool tt_find_again(struct tt_thread *t, __u64 now, __u64 begin, __u32 bucket)
{
	if (!(t->flags & TT_FLAG_LOST) || t->bucket == TT_DEAD)
		return false;
	tt_charge(t, now, begin, TT_UNKNOWN, bucket);
	t->flags &= ~TT_FLAG_LOST;
	return true;
}

/*
 * exec by a non-leader: the kernel swaps the tids of the two tasks (exchange_tids, 5.8) before
 * sched_process_exec, so the exec'ing thread's switches arrive under the dead leader's tid first.
 * At the first such switch-out the caller opens `t` for them: the thread ran until now, which its
 * own record learns when the exec event links the two (tt_renamed).
 */
static __always_inline void tt_succeed(struct tt_thread *t, __u32 tid, __u32 tgid, __u64 now,
				       enum tt_switch_out how)
{
	t->tid = tid;
	t->tgid = tgid;
	t->t_last_ns = now;
	t->t_birth_ns = now;
	if (how == TT_OUT_DEAD)
		t->t_death_ns = now;
	t->flags = TT_FLAG_SUCCEEDS;
	t->bucket = tt_bucket_after(how);
	if (tt_is_queued(how))
		t->switches_involuntary = 1;
	else
		t->switches_voluntary = 1;
}

static __always_inline void tt_renamed(struct tt_thread *old, __u64 begin,
				       const struct tt_thread *next, __u32 next_slot)
{
	if (old->bucket == TT_DEAD)
		return;
	old->successor = next_slot;
	tt_close(old, next->t_birth_ns, begin, TT_FLAG_RENAMED);
}

#endif /* __TEGRATRACE_THREAD_STATE_H */
