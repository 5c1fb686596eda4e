/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CUDA calls as the uprobe programs keep them, one record a thread, written by that thread alone.
 * Pure functions over the records are here too, for the programs, the loader and the unit tests.
 */
#ifndef __TEGRATRACE_CUDA_ABI_H
#define __TEGRATRACE_CUDA_ABI_H

#include <stdbool.h>

#include "thread_state.h"

/* What a call does to its caller; the symbols of each are in src/probe/cuda/cuda_calls.c. */
enum tt_cuda_kind {
	TT_CUDA_STREAM_SYNC, /* waits */
	TT_CUDA_CTX_SYNC,    /* waits */
	TT_CUDA_EVENT_SYNC,  /* waits */
	TT_CUDA_COPY_SYNC,   /* waits, and copies */
	TT_CUDA_QUERY,	     /* asks; a loop of it waits */
	TT_CUDA_LAUNCH,
	TT_CUDA_GRAPH_LAUNCH,
	TT_CUDA_COPY_ASYNC,
	TT_CUDA_OTHER, /* queues something else, allocates or frees */
	TT_CUDA_KINDS,
};

static __always_inline bool tt_cuda_waits(__u32 kind)
{
	return kind <= TT_CUDA_COPY_SYNC;
}

/* What a probe at an entry is told: the kind, and which argument counts bytes (0 = none). */
#define TT_CUDA_COOKIE(kind, bytes)  ((__u64)(kind) | (__u64)(bytes) << 8)
#define TT_CUDA_COOKIE_KIND(cookie)  ((__u32)(cookie)&0xff)
#define TT_CUDA_COOKIE_BYTES(cookie) ((__u32)(cookie) >> 8)

/* Calls that ended in the window; ns and oncpu_ns are the parts inside it. */
struct tt_cuda_sum {
	__u64 calls;
	__u64 ns;
	__u64 oncpu_ns; /* of the kinds up to TT_CUDA_QUERY; the others are work, not waiting */
	__u64 bytes;
};

/*
 * The gap behind a query that found the GPU busy is polling while it is shorter; beyond that, while
 * the thread has run no longer and has not slept (it was preempted).
 */
#define TT_CUDA_POLL_GAP_NS 100000
#define TT_CUDA_NOT_READY   600 /* CUDA_ERROR_NOT_READY */

struct tt_cuda_call {
	__u64 start_ns;
	__u64 start_oncpu_ns;
	__u64 bytes;
	__u32 kind;
	__u32 pad;
};

struct tt_cuda {
	/*
	 * The outermost call under way: its stack pointer at the entry is its identity. A call made
	 * inside it has a lower one, and an entry with a higher one proves that it was left without
	 * a return (longjmp, a return probe that the kernel could not set).
	 */
	__u64 sp; /* 0 = none */
	struct tt_cuda_call call;
	/*
	 * Entered again with the same stack pointer: either a jump of the call itself to another
	 * probed function, or the call was left and this is a new one. The return tells: in a new
	 * call it goes where this entry said, in a jump that is the kernel's trampoline.
	 */
	__u32 again;  /* how often */
	__u32 series; /* 0 = none yet */
	__u64 again_return;
	struct tt_cuda_call again_call; /* the last */

	__u64 poll_since_ns; /* when a query last found the GPU busy; 0 = not polling */
	__u64 poll_oncpu_ns; /* on-CPU sum then */
	__u32 poll_sleeps;   /* voluntary switches by then */
	__u32 nested;	     /* calls inside calls: they are part of the outer one */
	__u32 lost;	     /* calls left without a return: in no other sum */
	__u32 series_lost;   /* boundaries not kept: every series was taken */
	struct tt_cuda_sum sum[TT_CUDA_KINDS];
	/* For the timeline: queries of a loop that found the GPU busy, and are not in the ring yet. */
	__u64 polls_start_ns, polls_end_ns;
	__u64 polls; /* 0 = none */
	/* The state that the record was found in while the thread ran, by its begin; and when. */
	__u64 unseen_last_ns;
	__u64 unseen_ns;
};

_Static_assert(sizeof(struct tt_cuda) == 448, "seven cache lines");

/*
 * Iterations from the rhythm of a thread: the intervals over 1 .. TT_STEPS boundaries, as a
 * histogram each. One iteration may hold several synchronisations, and then the steps of that
 * number are regular while single ones are not.
 *
 * Bucket 0 is below 2^13 ns, then eight to an octave, the last open (34 s).
 */
#define TT_STEPS	  6
#define TT_STEP_FIRST_LOG 13
#define TT_STEP_LAST_LOG  35
#define TT_STEP_SUB_LOG	  3
#define TT_STEP_BUCKETS	  (((TT_STEP_LAST_LOG - TT_STEP_FIRST_LOG) << TT_STEP_SUB_LOG) + 2)

struct tt_cuda_series {
	__u64 boundaries;
	__u64 first_ns;
	__u64 last_ns[TT_STEPS]; /* newest first */
	__u32 hist[TT_STEPS][TT_STEP_BUCKETS];
};

/* Numbers 1 .. TT_CUDA_SERIES - 1; threads that synchronise at once. */
#define TT_CUDA_SERIES 128

static __always_inline __u32 tt_step_bucket(__u64 ns)
{
	__u32 log = tt_log2(ns), sub;

	if (log < TT_STEP_FIRST_LOG)
		return 0;
	if (log >= TT_STEP_LAST_LOG)
		return TT_STEP_BUCKETS - 1;
	sub = (ns >> (log - TT_STEP_SUB_LOG)) & ((1u << TT_STEP_SUB_LOG) - 1);
	return 1 + ((log - TT_STEP_FIRST_LOG) << TT_STEP_SUB_LOG) + sub;
}

/* One more boundary at now, which must not be before the last. */
static __always_inline void tt_series_add(struct tt_cuda_series *s, __u64 now)
{
#pragma GCC unroll 6
	for (int step = TT_STEPS - 1; step >= 0; step--) {
		__u64 i = tt_step_bucket(now - s->last_ns[step]);

		/* The verifier must see the bound: see tt_runq_sample. */
		__asm__ volatile("" : "+r"(i));
		if (s->last_ns[step] && i < TT_STEP_BUCKETS)
			s->hist[step][i]++;
		s->last_ns[step] = step ? s->last_ns[step - 1] : now;
	}
	if (!s->first_ns)
		s->first_ns = now;
	s->boundaries++;
}

/*
 * The time that a running thread had spent on a CPU by now, in the books of the scheduler programs.
 * Without any event since the window's begin it has run all the time.
 */
static __always_inline __u64 tt_oncpu_at(const struct tt_thread *t, __u64 now, __u64 begin)
{
	__u64 last = t->t_last_ns, sum = t->ns[TT_ONCPU];

	if (t->bucket == TT_ONCPU && now > last)
		sum += now - last;
	else if (t->bucket == TT_UNKNOWN && !last && now > begin)
		sum += now - begin;
	return sum;
}

/*
 * The same of the thread that runs this. Its record may say that it waits: then its switch-in was
 * missed, and from the first such look on it is known to have run. What it ran before is added by the
 * switch-out, where the rung knows it.
 */
static __always_inline __u64 tt_oncpu_here(struct tt_cuda *c, const struct tt_thread *t, __u64 now,
					   __u64 begin)
{
	__u64 last = t->t_last_ns;

	if (t->bucket == TT_ONCPU || !last)
		return tt_oncpu_at(t, now, begin);
	if (c->unseen_last_ns != last) {
		c->unseen_last_ns = last;
		c->unseen_ns = now;
	}
	return t->ns[TT_ONCPU] + (now > c->unseen_ns ? now - c->unseen_ns : 0);
}

/* Between two such sums; they can go back where a switch-in was missed and never learned of. */
static __always_inline __u64 tt_ran(__u64 sum, __u64 before)
{
	return sum > before ? sum - before : 0;
}

/* Add a call's part of [begin, end) to its sum; returns how long that is. */
static __always_inline __u64 tt_cuda_close(struct tt_cuda_sum *sum, __u64 start, __u64 now,
					   __u64 oncpu_ns, __u64 begin, __u64 end)
{
	__u64 ns;

	if (start < begin)
		start = begin;
	if (now > end)
		now = end;
	ns = now > start ? now - start : 0;
	sum->ns += ns;
	sum->oncpu_ns += oncpu_ns < ns ? oncpu_ns : ns;
	return ns;
}

#endif /* __TEGRATRACE_CUDA_ABI_H */
