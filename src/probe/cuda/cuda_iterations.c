/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/cuda/cuda_iterations.h"

#include <stdio.h>

/* A rhythm is told from this many intervals on. */
#define INTERVALS_MIN 8
/* Two buckets are about a fifth of the value: what a loaded machine adds to an interval. */
#define NEAR_BUCKETS 2
#define NEAR_SHARE   0.75
/* Many short intervals and a few long ones have a median too, but it is not their mean. */
#define MEAN_OFF 0.10

__u64 cuda_step_bucket_ns(__u32 bucket)
{
	const __u32 sub_count = 1u << TT_STEP_SUB_LOG;
	__u32 octave;

	if (!bucket)
		return 0;
	octave = (bucket - 1) >> TT_STEP_SUB_LOG;
	return (__u64)(sub_count + ((bucket - 1) & (sub_count - 1)))
	       << (octave + TT_STEP_FIRST_LOG - TT_STEP_SUB_LOG);
}

static __u64 total(const __u32 *hist)
{
	__u64 n = 0;

	for (int i = 0; i < TT_STEP_BUCKETS; i++)
		n += hist[i];
	return n;
}

/* The bucket that holds quantile q, and what lies below it. */
static __u32 bucket_of(const __u32 *hist, double wanted, double *below)
{
	__u32 i = 0;

	*below = 0;
	while (i < TT_STEP_BUCKETS - 1 && *below + hist[i] < wanted)
		*below += hist[i++];
	return i;
}

static double quantile_ns(const __u32 *hist, double q)
{
	double below, wanted = q * (double)total(hist), start, end;
	__u32 i = bucket_of(hist, wanted, &below);

	start = (double)cuda_step_bucket_ns(i);
	end = (double)cuda_step_bucket_ns(i + 1);
	return hist[i] ? start + (end - start) * (wanted - below) / hist[i] : start;
}

static bool is_rhythm(const __u32 *hist, double mean_ns)
{
	double median_ns = quantile_ns(hist, 0.5), below;
	__u64 n = total(hist), near = 0;
	__u32 middle = bucket_of(hist, 0.5 * (double)n, &below);

	for (__u32 i = middle < NEAR_BUCKETS ? 0 : middle - NEAR_BUCKETS;
	     i <= middle + NEAR_BUCKETS && i < TT_STEP_BUCKETS; i++)
		near += hist[i];
	return n >= INTERVALS_MIN && (double)near >= NEAR_SHARE * (double)n &&
	       mean_ns < (1 + MEAN_OFF) * median_ns && mean_ns > (1 - MEAN_OFF) * median_ns;
}

static void fill(struct iterations *out, __u64 count, double mean_ns, const __u32 *hist)
{
	out->count = (int64_t)count;
	out->mean_ns = (int64_t)(mean_ns + 0.5);
	out->p50_ns = (int64_t)(quantile_ns(hist, 0.50) + 0.5);
	out->p99_ns = (int64_t)(quantile_ns(hist, 0.99) + 0.5);
}

void cuda_iterations_from_waits(const struct tt_cuda_series *series, struct iterations *out)
{
	double span_ns = (double)(series->last_ns[0] - series->first_ns);
	double interval_ns;

	if (series->boundaries <= INTERVALS_MIN) {
		snprintf(out->note, sizeof(out->note), "fewer than %d waits for the GPU",
			 INTERVALS_MIN + 1);
		return;
	}
	interval_ns = span_ns / (double)(series->boundaries - 1);
	for (int step = 0; step < TT_STEPS; step++) {
		double mean_ns = (step + 1) * interval_ns;

		if (!is_rhythm(series->hist[step], mean_ns))
			continue;
		out->source = ITER_SYNC;
		out->syncs = step + 1;
		fill(out, series->boundaries / (unsigned int)out->syncs, mean_ns,
		     series->hist[step]);
		return;
	}
	snprintf(out->note, sizeof(out->note),
		 "the waits for the GPU have no rhythm: --iter SYMBOL@LIB counts a function "
		 "instead");
}

void cuda_probe_calls_add(struct cuda_probe_calls *sum, const struct tt_cuda_series *series)
{
	sum->calls += series->boundaries;
	if (series->boundaries > 1) {
		sum->intervals += series->boundaries - 1;
		sum->interval_ns += series->last_ns[0] - series->first_ns;
	}
	for (int i = 0; i < TT_STEP_BUCKETS; i++)
		sum->hist[i] += series->hist[0][i];
}

void cuda_iterations_from_probe(const struct cuda_probe_calls *calls, struct iterations *out)
{
	out->source = ITER_PROBE;
	out->syncs = 0;
	out->count = (int64_t)calls->calls;
	if (calls->intervals)
		fill(out, calls->calls, (double)calls->interval_ns / (double)calls->intervals,
		     calls->hist);
}
