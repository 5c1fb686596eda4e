/* SPDX-License-Identifier: GPL-2.0-only */
/* Iterations of the inference loop from the boundaries that the programs counted. Pure. */
#ifndef TEGRATRACE_CUDA_ITERATIONS_H
#define TEGRATRACE_CUDA_ITERATIONS_H

#include <linux/types.h>

#include "cuda_abi.h"
#include "session/cuda.h"

/*
 * From one thread's waits: an iteration is the smallest number of waits, up to TT_STEPS, whose
 * intervals are all about equal. Without such a rhythm the source stays ITER_NONE, with a note.
 */
void cuda_iterations_from_waits(const struct tt_cuda_series *series, struct iterations *out);

/* Calls of a probe, each an iteration of its thread: all threads added up. */
struct cuda_probe_calls {
	__u64 calls;
	__u64 intervals; /* between two calls of one thread */
	__u64 interval_ns;
	__u32 hist[TT_STEP_BUCKETS];
};

void cuda_probe_calls_add(struct cuda_probe_calls *sum, const struct tt_cuda_series *series);
void cuda_iterations_from_probe(const struct cuda_probe_calls *calls, struct iterations *out);

/* Lower bound of a bucket, in ns. */
__u64 cuda_step_bucket_ns(__u32 bucket);

#endif
