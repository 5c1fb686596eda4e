/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/cuda/cuda_close.h"

#include <stdio.h>
#include <string.h>

#include "probe/cuda/cuda_calls.h"

_Static_assert(TT_CUDA_KINDS == CUDA_KINDS, "one sum for each kind");

void cuda_cut_event(const struct tt_cuda *cuda, const struct tt_thread *t, uint64_t begin_ns,
		    uint64_t end_ns, struct timeline_call *event)
{
	uint64_t end = t->bucket == TT_DEAD ? t->t_death_ns : end_ns;
	const struct tt_cuda_call *call = cuda->again ? &cuda->again_call : &cuda->call;
	uint64_t start = call->start_ns > begin_ns ? call->start_ns : begin_ns;

	*event = (struct timeline_call){
		.start_ns = (int64_t)(start - begin_ns),
		.ns = (int64_t)(end - start),
		.bytes = (int64_t)call->bytes,
		.pid = (pid_t)t->tgid,
		.tid = (pid_t)t->tid,
		.kind = (int)call->kind,
		.calls = 1,
	};
}

void cuda_polls_event(const struct tt_cuda *cuda, const struct thread_account *account,
		      uint64_t begin_ns, struct timeline_call *event)
{
	*event = (struct timeline_call){
		.start_ns = (int64_t)(cuda->polls_start_ns - begin_ns),
		.ns = (int64_t)(cuda->polls_end_ns - cuda->polls_start_ns),
		.pid = account->pid,
		.tid = account->tid,
		.kind = TT_CUDA_QUERY,
		.calls = (uint32_t)cuda->polls,
	};
}

bool cuda_cut_call(struct tt_cuda *cuda, const struct tt_thread *t, uint64_t begin_ns,
		   uint64_t end_ns, uint64_t oncpu_ns)
{
	uint64_t end = t->bucket == TT_DEAD ? t->t_death_ns : end_ns;
	const struct tt_cuda_call *call = cuda->again ? &cuda->again_call : &cuda->call;
	struct tt_cuda_sum *sum = &cuda->sum[call->kind];

	if (!cuda->sp || call->kind >= TT_CUDA_KINDS || call->start_ns >= end || end <= begin_ns)
		return false;
	oncpu_ns = tt_ran(oncpu_ns, call->start_oncpu_ns);
	if (cuda_kind_is_work(call->kind))
		oncpu_ns = 0;
	tt_cuda_close(sum, call->start_ns, end, oncpu_ns, begin_ns, end_ns);
	sum->calls++;
	sum->bytes += call->bytes;
	return true;
}

static void add(int64_t *to, uint64_t value)
{
	if (*to == UNKNOWN_NS)
		*to = 0;
	*to += (int64_t)value;
}

void cuda_fill_account(const struct tt_cuda *cuda, enum cuda_mode mode,
		       struct thread_account *account)
{
	struct cuda_account *a = &account->cuda;

	for (int kind = 0; kind < TT_CUDA_QUERY; kind++) {
		add(&a->sync_calls, cuda->sum[kind].calls);
		add(&a->sync_ns, cuda->sum[kind].ns);
		add(&a->spin_ns, cuda->sum[kind].oncpu_ns);
	}
	add(&a->polls, cuda->sum[TT_CUDA_QUERY].calls);
	add(&a->poll_ns, cuda->sum[TT_CUDA_QUERY].ns);
	add(&a->spin_ns, cuda->sum[TT_CUDA_QUERY].oncpu_ns);
	if (a->spin_ns > account->oncpu_ns)
		a->spin_ns = account->oncpu_ns;
	account->gpu_spin_ns = a->spin_ns;
	if (mode != CUDA_MODE_ALL)
		return;
	add(&a->launches, cuda->sum[TT_CUDA_LAUNCH].calls);
	add(&a->graph_launches, cuda->sum[TT_CUDA_GRAPH_LAUNCH].calls);
	add(&a->launch_ns, cuda->sum[TT_CUDA_LAUNCH].ns + cuda->sum[TT_CUDA_GRAPH_LAUNCH].ns);
	add(&a->copies, cuda->sum[TT_CUDA_COPY_SYNC].calls + cuda->sum[TT_CUDA_COPY_ASYNC].calls);
	add(&a->copy_bytes,
	    cuda->sum[TT_CUDA_COPY_SYNC].bytes + cuda->sum[TT_CUDA_COPY_ASYNC].bytes);
}

static int longest_kind(const struct tt_cuda *cuda)
{
	int longest = 0;

	for (int kind = 1; kind <= TT_CUDA_QUERY; kind++) {
		if (cuda->sum[kind].ns > cuda->sum[longest].ns)
			longest = kind;
	}
	return longest;
}

void cuda_add_thread(struct cuda_totals *totals, const struct tt_cuda *cuda,
		     const struct thread_account *account, const struct tt_cuda_series *series)
{
	static const struct tt_cuda_series none;
	int64_t wait_ns = 0;
	int kind = longest_kind(cuda);

	for (int i = 0; i < TT_CUDA_KINDS; i++) {
		totals->sum[i].calls += cuda->sum[i].calls;
		totals->sum[i].ns += cuda->sum[i].ns;
		totals->sum[i].oncpu_ns += cuda->sum[i].oncpu_ns;
		totals->sum[i].bytes += cuda->sum[i].bytes;
	}
	for (int i = 0; i <= TT_CUDA_QUERY; i++)
		wait_ns += (int64_t)cuda->sum[i].ns;
	totals->nested += cuda->nested;
	totals->lost += cuda->lost;
	totals->series_lost += cuda->series_lost;
	if (series)
		cuda_probe_calls_add(&totals->iterations, series);
	if (wait_ns <= totals->longest_wait_ns)
		return;
	totals->longest_wait_ns = wait_ns;
	totals->feeder = *account;
	totals->feeder_series = series ? *series : none;
	totals->feeder_kind = kind;
	totals->feeder_kind_ns = (int64_t)cuda->sum[kind].ns;
}

bool cuda_any_call(const struct cuda_totals *totals)
{
	for (int i = 0; i < TT_CUDA_KINDS; i++) {
		if (totals->sum[i].calls)
			return true;
	}
	return totals->iterations.calls;
}

static void fill_feeder(const struct cuda_totals *totals, struct cuda_summary *summary)
{
	const struct thread_account *feeder = &totals->feeder;

	if (!totals->longest_wait_ns)
		return;
	summary->feeder_pid = feeder->pid;
	summary->feeder_tid = feeder->tid;
	memcpy(summary->feeder, feeder->group, sizeof(summary->feeder));
	summary->feeder_wall_ns = feeder->wall_ns;
	summary->feeder_calls = feeder->cuda;
	summary->feeder_kind = totals->feeder_kind;
	summary->feeder_kind_ns = totals->feeder_kind_ns;
}

static void fill_kinds(const struct cuda_totals *totals, struct cuda_summary *summary)
{
	for (int i = 0; i < TT_CUDA_KINDS; i++) {
		struct cuda_kind_sum *kind = &summary->kinds[i];
		bool copies = i == TT_CUDA_COPY_SYNC || i == TT_CUDA_COPY_ASYNC;

		if (summary->mode == CUDA_MODE_OFF ||
		    (summary->mode == CUDA_MODE_SYNC && cuda_kind_is_work(i)))
			continue;
		kind->calls = (int64_t)totals->sum[i].calls;
		kind->ns = (int64_t)totals->sum[i].ns;
		if (!cuda_kind_is_work(i))
			kind->oncpu_ns = (int64_t)totals->sum[i].oncpu_ns;
		if (copies)
			kind->bytes = (int64_t)totals->sum[i].bytes;
	}
}

void cuda_fill_summary(const struct cuda_totals *totals, bool iter_by_probe,
		       struct cuda_summary *summary)
{
	fill_kinds(totals, summary);
	fill_feeder(totals, summary);
	summary->nested = (int64_t)totals->nested;
	summary->lost = (int64_t)totals->lost;
	summary->cut = (int64_t)totals->cut;
	if (iter_by_probe)
		cuda_iterations_from_probe(&totals->iterations, &summary->iterations);
	else
		cuda_iterations_from_waits(&totals->feeder_series, &summary->iterations);
	if (totals->series_lost)
		snprintf(summary->iterations.note, sizeof(summary->iterations.note),
			 "%llu boundaries of threads beyond %d were not kept",
			 (unsigned long long)totals->series_lost, TT_CUDA_SERIES - 1);
}
