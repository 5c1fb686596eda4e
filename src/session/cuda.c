/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/cuda.h"

#include "session/session.h"

#define FIELDS (sizeof(struct cuda_account) / sizeof(int64_t))

_Static_assert(sizeof(struct cuda_account) % sizeof(int64_t) == 0, "an array of counts");

void cuda_account_init(struct cuda_account *account)
{
	for (size_t i = 0; i < FIELDS; i++)
		((int64_t *)account)[i] = UNKNOWN_COUNT;
}

void cuda_account_merge(struct cuda_account *into, const struct cuda_account *from)
{
	int64_t *sum = (int64_t *)into;
	const int64_t *add = (const int64_t *)from;

	for (size_t i = 0; i < FIELDS; i++) {
		if (sum[i] == UNKNOWN_COUNT || add[i] == UNKNOWN_COUNT)
			sum[i] = UNKNOWN_COUNT;
		else if (__builtin_add_overflow(sum[i], add[i], &sum[i]))
			sum[i] = INT64_MAX;
	}
}

static const char *const kinds[CUDA_KINDS][2] = {
	{"stream_sync", "cuStreamSynchronize"},
	{"ctx_sync", "cuCtxSynchronize"},
	{"event_sync", "cuEventSynchronize"},
	{"copy_sync", "cuMemcpy"},
	{"query", "cuStreamQuery"},
	{"launch", "cuLaunchKernel"},
	{"graph_launch", "cuGraphLaunch"},
	{"copy_async", "cuMemcpyAsync"},
	{"other", "other calls"},
};

const char *cuda_kind_name(int kind)
{
	return kinds[kind][0];
}

const char *cuda_kind_symbol(int kind)
{
	return kinds[kind][1];
}

static void init_kinds(struct cuda_summary *summary)
{
	for (int i = 0; i < CUDA_KINDS; i++)
		summary->kinds[i] = (struct cuda_kind_sum){
			.name = cuda_kind_name(i),
			.symbol = cuda_kind_symbol(i),
			.calls = UNKNOWN_COUNT,
			.ns = UNKNOWN_NS,
			.oncpu_ns = UNKNOWN_NS,
			.bytes = UNKNOWN_COUNT,
		};
}

void cuda_summary_init(struct cuda_summary *summary)
{
	*summary = (struct cuda_summary){
		.attached_ns = UNKNOWN_NS,
		.nested = UNKNOWN_COUNT,
		.lost = UNKNOWN_COUNT,
		.cut = UNKNOWN_COUNT,
		.feeder_wall_ns = UNKNOWN_NS,
		.feeder_kind = -1,
		.feeder_kind_ns = UNKNOWN_NS,
		.iterations = {.count = UNKNOWN_COUNT,
			       .mean_ns = UNKNOWN_NS,
			       .p50_ns = UNKNOWN_NS,
			       .p99_ns = UNKNOWN_NS,
			       .attached_ns = UNKNOWN_NS},
		.ns_per_call = NAN,
	};
	cuda_account_init(&summary->feeder_calls);
	init_kinds(summary);
}

const char *cuda_state_name(enum cuda_state state)
{
	static const char *const names[] = {"off", "absent", "failed", "attached"};

	return names[state];
}

const char *cuda_mode_name(enum cuda_mode mode)
{
	static const char *const names[] = {"off", "sync", "all"};

	return names[mode];
}
