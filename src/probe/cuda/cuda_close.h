/* SPDX-License-Identifier: GPL-2.0-only */
/* From the records of the uprobe programs to accounts and the summary. Private to cuda.c. */
#ifndef TEGRATRACE_CUDA_CLOSE_H
#define TEGRATRACE_CUDA_CLOSE_H

#include <linux/types.h>

#include "cuda_abi.h"
#include "probe/cuda/cuda_iterations.h"
#include "session/session.h"

/* What the closed threads add up to. */
struct cuda_totals {
	struct tt_cuda_sum sum[TT_CUDA_KINDS];
	__u64 nested, lost, cut, series_lost;
	int64_t longest_wait_ns; /* of the feeding thread */
	int feeder_kind;
	int64_t feeder_kind_ns;
	struct thread_account feeder;
	struct tt_cuda_series feeder_series;
	struct cuda_probe_calls iterations;
};

/*
 * End the call that a thread is in, at its death or at the window's end. `t` is its record and
 * `oncpu_ns` its on-CPU time by then. Returns whether it was in one.
 */
bool cuda_cut_call(struct tt_cuda *cuda, const struct tt_thread *t, uint64_t begin_ns,
		   uint64_t end_ns, uint64_t oncpu_ns);

/* The call that cuda_cut_call() ended, as the timeline has it. */
void cuda_cut_event(const struct tt_cuda *cuda, const struct tt_thread *t, uint64_t begin_ns,
		    uint64_t end_ns, struct timeline_call *event);

/* The queries that the programs had still gathered. */
void cuda_polls_event(const struct tt_cuda *cuda, const struct thread_account *account,
		      uint64_t begin_ns, struct timeline_call *event);

/* Add a record to its thread's account; the account's other fields are final. */
void cuda_fill_account(const struct tt_cuda *cuda, enum cuda_mode mode,
		       struct thread_account *account);

/* Add a thread to the totals; `series` is NULL without. */
void cuda_add_thread(struct cuda_totals *totals, const struct tt_cuda *cuda,
		     const struct thread_account *account, const struct tt_cuda_series *series);

/* Whether any call was seen. */
bool cuda_any_call(const struct cuda_totals *totals);

void cuda_fill_summary(const struct cuda_totals *totals, bool iter_by_probe,
		       struct cuda_summary *summary);

#endif
