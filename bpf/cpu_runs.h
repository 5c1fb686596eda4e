/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The longest of the last runs on one CPU, noted while a traced thread waits for it: who had it.
 * The task just before the waiter is not the answer: a real-time hog that the kernel stops once a
 * second lets all that starved in first, and ksoftirqd runs for some microseconds between two long
 * slices. Pure: no kernel call, so that unit tests drive it.
 */
#ifndef __TEGRATRACE_CPU_RUNS_H
#define __TEGRATRACE_CPU_RUNS_H

#include "abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define TT_RUNS	      4
#define TT_RUN_MIN_NS 20000  /* a shorter run keeps nobody waiting for long */
#define TT_RUN_GAP_NS 100000 /* a shorter interruption is no end of a run */

struct tt_run {
	__u64 end_ns; /* 0 = unused */
	__u64 ran_ns;
	__u32 tid; /* 0 = idle */
	char comm[TT_COMM_LEN];
	__u32 pad;
};

/* Written under the CPU's run-queue lock, but for `waiting` when a waiter has moved. */
struct tt_cpu {
	__u64 switched_ns; /* since when the task of now has it, or is waited for */
	__u32 waiting;	   /* traced threads in its run queue; set right when the CPU goes idle */
	__u32 pad;
	struct tt_run runs[TT_RUNS];
	__u64 pad_line[2];
};

_Static_assert(sizeof(struct tt_cpu) == 192, "three cache lines");

/* The task `tid` gives up the CPU. Returns the run when it has to be named, else 0. */
static __always_inline struct tt_run *tt_note_run(struct tt_cpu *cpu, __u64 now, __u32 tid)
{
	__u64 from = cpu->switched_ns, least = ~0ULL;
	struct tt_run *least_run = &cpu->runs[0];

	cpu->switched_ns = now;
	if (now < from + TT_RUN_MIN_NS)
		return 0;
	for (int i = 0; i < TT_RUNS; i++) {
		struct tt_run *run = &cpu->runs[i];

		if (run->tid == tid && from < run->end_ns + TT_RUN_GAP_NS) {
			run->ran_ns += now - from;
			run->end_ns = now;
			return 0;
		}
		/* a long run is worth keeping for as long as it took */
		if (run->end_ns + run->ran_ns < least) {
			least = run->end_ns + run->ran_ns;
			least_run = run;
		}
	}
	least_run->end_ns = now;
	least_run->ran_ns = now - from;
	least_run->tid = tid;
	return least_run;
}

/* Who had most of the time since `begin`, the waiter `tid` not counted; 0 when that is not known. */
static __always_inline struct tt_run *tt_holder_since(struct tt_cpu *cpu, __u64 begin, __u32 tid)
{
	struct tt_run *holder = 0;
	__u64 most = 0;

	for (int i = 0; i < TT_RUNS; i++) {
		struct tt_run *run = &cpu->runs[i];
		__u64 had;

		if (run->end_ns <= begin || run->tid == tid)
			continue;
		had = run->end_ns - begin;
		if (had > run->ran_ns)
			had = run->ran_ns;
		if (had > most) {
			most = had;
			holder = run;
		}
	}
	return holder;
}

#endif /* __TEGRATRACE_CPU_RUNS_H */
