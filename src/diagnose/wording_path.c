/* SPDX-License-Identifier: GPL-2.0-only */
/* The sentences of a verdict on what the GPU-feeding thread waits for. */
#include "diagnose/wording.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/path_verdict.h"

#define PCT(share) (100 * (share))

/* Parts of less than this are left out of the line that adds up the path. */
#define PART_MIN 0.02

static void append_part(char *text, size_t size, const struct facts *facts, enum path_end end)
{
	const struct path_part *part = &facts->path.parts[end];

	if (part->share >= PART_MIN)
		text_appendf(text, size, "%s%s %.0f %%", *text ? ", " : "", path_end_name(end),
			     PCT(part->share));
}

static void sum_evidence(const struct facts *facts, struct verdict *v)
{
	static const enum path_end order[] = {PATH_GPU,	  PATH_CPU,  PATH_RUNQ,	 PATH_DISK,
					      PATH_FAULT, PATH_LOCK, PATH_INPUT, PATH_UNKNOWN};
	char who[64], parts[160] = "";

	wording_thread(who, sizeof(who), facts->path.feeder);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		append_part(parts, sizeof(parts), facts, order[i]);
	verdict_evidence(v, "scheduler, estimated", "%s feeds the GPU; its time goes to: %s", who,
			 parts);
}

/* "2310 times, longest 12 ms, in pread64 /data/x.bin, ended by irq 37 nvme0q1" */
static void edge_text(char *dst, size_t size, const struct wait_edge *edge)
{
	char longest[32];

	text_duration(longest, sizeof(longest), edge->max_ns);
	snprintf(dst, size, "%lld times, longest %s", (long long)edge->count, longest);
	if (*edge->site)
		text_appendf(dst, size, ", in %s", edge->site);
	if (edge->class == WAIT_LOCK && *edge->waker)
		text_appendf(dst, size, ", held by %s/%d", edge->waker, edge->waker_tid);
	else if (*edge->waker)
		text_appendf(dst, size, ", ended by %s", edge->waker);
	if (*edge->via)
		text_appendf(dst, size, " (via %s)", edge->via);
}

static void part_evidence(const struct facts *facts, enum path_end end, struct verdict *v)
{
	const struct path_part *part = &facts->path.parts[end];
	char who[64], text[160];

	if (!part->top || part->top_share < 0.1)
		return;
	wording_thread(who, sizeof(who), part->top);
	if (!part->edge) {
		verdict_evidence(v, "scheduler", "%s: %s for %.0f %% of the path", who,
				 path_end_name(end), PCT(part->top_share));
		return;
	}
	edge_text(text, sizeof(text), part->edge);
	verdict_evidence(v, "scheduler", "%s waits for %s (%s): %s", who, path_end_name(end),
			 wait_class_name(part->edge->class), text);
}

#define HOLDERS_NAMED	  3
#define HOLDERS_LOOKED_AT 16

struct holder_sum {
	const struct cpu_holder *holder;
	double share;
	int holders;
};

/* Holders of one waiter by name: the workers of a pool are one cause. Returns how many. */
static int sum_holders(const struct session *session, const struct thread_account *waiter,
		       struct holder_sum sums[HOLDERS_LOOKED_AT])
{
	int n = 0, k;

	for (size_t i = 0; i < session->ncpu_holders; i++) {
		const struct cpu_holder *row = &session->cpu_holders[i];

		if (row->pid != waiter->pid || row->tid != waiter->tid ||
		    row->kind == HOLDER_IDLE || row->kind == HOLDER_OTHERS)
			continue;
		for (k = 0; k < n && strcmp(sums[k].holder->name, row->name); k++)
			;
		if (k == HOLDERS_LOOKED_AT)
			continue;
		if (k == n)
			sums[n++] = (struct holder_sum){.holder = row};
		sums[k].share += row->share;
		sums[k].holders++;
	}
	return n;
}

static void append_holder(char *text, size_t size, const struct holder_sum *sum)
{
	text_appendf(text, size, "%s%s%s %.0f %%", *text ? ", " : "",
		     sum->holder->kind == HOLDER_OWN ? "its own " : "", sum->holder->name,
		     PCT(sum->share));
	if (sum->holders > 1)
		text_appendf(text, size, " (%d)", sum->holders);
}

/* Who had the CPU while the thread that waited longest for one did. */
static void holder_evidence(const struct session *session, const struct facts *facts,
			    struct verdict *v)
{
	const struct thread_account *waiter = facts->path.parts[PATH_RUNQ].top;
	struct holder_sum sums[HOLDERS_LOOKED_AT];
	char who[64], text[128] = "";
	int n;

	if (!waiter || facts->path.parts[PATH_RUNQ].top_share < 0.1)
		return;
	n = sum_holders(session, waiter, sums);
	for (int named = 0; named < HOLDERS_NAMED && named < n; named++) {
		int best = 0;

		for (int i = 1; i < n; i++)
			best = sums[i].share > sums[best].share ? i : best;
		if (sums[best].share >= 0.01)
			append_holder(text, sizeof(text), &sums[best]);
		sums[best].share = 0;
	}
	if (!*text)
		return;
	wording_thread(who, sizeof(who), waiter);
	verdict_evidence(v, "scheduler", "while %s waited for a CPU, it was held by %s", who, text);
}

void wording_path_evidence(const struct session *session, const struct facts *facts,
			   struct verdict *v)
{
	if (!facts->path.feeder)
		return;
	sum_evidence(facts, v);
	holder_evidence(session, facts, v);
	for (int end = 0; end < PATH_ENDS; end++) {
		if (end != PATH_GPU && end != PATH_UNKNOWN)
			part_evidence(facts, end, v);
	}
}

/* What the part was waited for, in a few words: "pread64 /data/x.bin", "the lock of logger/14". */
static void what_for(char *dst, size_t size, const struct path_part *part)
{
	const struct wait_edge *edge = part->edge;

	if (edge && edge->class == WAIT_LOCK && *edge->waker)
		snprintf(dst, size, " (held by %s/%d)", edge->waker, edge->waker_tid);
	else if (edge && *edge->site)
		snprintf(dst, size, " (%s)", edge->site);
	else
		*dst = '\0';
}

void wording_path_headline(const struct facts *facts, struct verdict *v)
{
	static const char *const what[VERDICT_CLASSES] = {
		[VERDICT_CPU_BOUND] = "computes",
		[VERDICT_LAUNCH_BOUND] = "prepares and launches GPU work",
		[VERDICT_CPU_STARVED] = "is ready but has no CPU",
		[VERDICT_IO_BOUND] = "reads or writes a disk",
		[VERDICT_MEMORY_PRESSURE] = "waits for pages that were evicted",
		[VERDICT_LOCK_BOUND] = "waits for a lock",
		[VERDICT_INPUT_LIMITED] = "waits for input",
	};
	const struct path_part *part = path_part_of(v->class, facts);
	char who[64], why[96], gpu[48] = "GPU load unknown";

	if (!part || !part->top || !what[v->class])
		return;
	wording_thread(who, sizeof(who), part->top);
	what_for(why, sizeof(why), part);
	if (!isnan(facts->gpu_busy))
		snprintf(gpu, sizeof(gpu), "the GPU is busy %.0f %%", PCT(facts->gpu_busy));
	if (part->top == facts->path.feeder)
		snprintf(v->headline, sizeof(v->headline),
			 "%s, which feeds the GPU, %s %.0f %% of the "
			 "time%s, %s",
			 who, what[v->class], PCT(part->share), why, gpu);
	else
		snprintf(v->headline, sizeof(v->headline),
			 "the GPU waits %.0f %% of the time while %s %s%s, %s", PCT(part->share),
			 who, what[v->class], why, gpu);
}

static void input_step(const struct path_part *part, struct verdict *v)
{
	switch (part->edge ? part->edge->class : WAIT_OTHER) {
	case WAIT_TIMER:
		verdict_step(v,
			     "a timer paces the input: raise the frame rate of the source, or feed "
			     "more streams or larger batches");
		break;
	case WAIT_NET:
		verdict_step(v,
			     "the network paces the input: check the sender's rate, or receive and "
			     "decode ahead in a thread of its own");
		break;
	case WAIT_PROCESS:
		verdict_step(v, "another process (%s) paces the input: trace it too (-p both)",
			     *part->edge->waker ? part->edge->waker : "unknown");
		break;
	default:
		verdict_step(v,
			     "the source paces the input: raise its rate, or feed more streams or "
			     "larger batches");
	}
}

void wording_path_steps(const struct facts *facts, struct verdict *v)
{
	const struct path_part *part = path_part_of(v->class, facts);
	char who[64];

	if (!part || !part->top)
		return;
	wording_thread(who, sizeof(who), part->top);
	switch (v->class) {
	case VERDICT_IO_BOUND:
		verdict_step(
			v,
			"read ahead in threads of their own, larger and sequential; keep the data "
			"on NVMe or in memory (vmtouch, tmpfs); -v shows queue and device time of "
			"each disk");
		break;
	case VERDICT_MEMORY_PRESSURE:
		verdict_step(v, "the working set does not fit: a smaller batch, model or number of "
				"workers, or close other programs; lock the model's pages (mlock)");
		break;
	case VERDICT_LOCK_BOUND:
		verdict_step(v,
			     "shorten what is done under that lock, or split it; see its holder in "
			     "edges (--json) and with --user-stacks the code that waits");
		break;
	case VERDICT_LAUNCH_BOUND:
		verdict_step(v, "launch less often: CUDA graphs, fused kernels, larger batches");
		break;
	case VERDICT_INPUT_LIMITED:
		input_step(part, v);
		break;
	default:
		break;
	}
}
