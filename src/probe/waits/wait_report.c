/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/wait_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/machine/environment.h"
#include "probe/symbols/kernel_stacks.h"
#include "probe/waits/wait_futex.h"
#include "probe/waits/wait_rules.h"
#include "probe/waits/wait_sites.h"

struct report {
	struct session *session;
	struct raw_waits *raw;
	const struct wait_sources *sources;
	struct kernel_stacks *stacks;
	struct wait_judgement *judged; /* by raw wait */
	size_t *order;		       /* raw waits by row */
	struct stack_key {
		uint64_t kernel, user;
	} * stack_keys; /* by session stack */
};

static bool has_evidence(const struct raw_wait *wait)
{
	return wait->key.syscall || wait->key.kernel_stack || wait->site ||
	       wait->key.flags & (TT_SITE_GPU_CALL | TT_SITE_IOWAIT);
}

static int syscall_of(const struct raw_wait *wait)
{
	if (!wait->key.syscall)
		return WAIT_SYSCALL_UNKNOWN;
	if (wait->key.syscall == TT_SYSCALL_NONE)
		return WAIT_SYSCALL_NONE;
	return (int)wait->key.syscall - 1;
}

/* Without "irq 37 " or "softirq ". */
static struct wait_waker waker_of(const struct waker *waker)
{
	const char *name = waker->name, *space;
	int words = waker->kind == WAKER_IRQ ? 2 : waker->kind == WAKER_SOFTIRQ ? 1 : 0;

	for (; words; words--) {
		space = strchr(name, ' ');
		name = space ? space + 1 : name + strlen(name);
	}
	return (struct wait_waker){.kind = waker->kind, .name = name};
}

void wait_report_judge(const struct raw_wait *wait, const struct kernel_stack *stack,
		       struct wait_judgement *judgement)
{
	struct wait_evidence evidence = {
		.site.syscall = syscall_of(wait),
		.site.flags = wait->key.flags,
		.site.file = *wait->file ? wait->file : NULL,
		.waker = waker_of(&wait->waker),
		.via = waker_of(&wait->via),
		.via_disk = wait->key.via == TT_WAKER(TT_WAKER_DISK, 0),
		.site.frames = stack->frames,
		.site.nframes = stack->n,
	};

	if (wait->site && !stack->n) {
		evidence.site.frames = wait->site->frames;
		evidence.site.nframes = wait->site->nframes;
	}
	wait_judge(&evidence, judgement);
}

static void judge(const struct report *report, size_t i)
{
	const struct raw_wait *wait = &report->raw->rows[i];
	struct kernel_stack stack;

	kernel_stacks_get(report->stacks, wait->key.kernel_stack, &stack);
	wait_report_judge(wait, &stack, &report->judged[i]);
}

/* Where the stack tells the call, samples may tell its arguments. */
static void add_samples(const struct report *report, size_t i)
{
	struct raw_wait *wait = &report->raw->rows[i];
	const struct thread_account *row = &report->session->threads[wait->row];

	if (wait->key.syscall || !row->tid)
		return;
	judge(report, i);
	if (*report->judged[i].site)
		wait_sites_add(report->sources->sites, report->sources->files, row->pid, row->tid,
			       report->judged[i].site, wait);
}

/*
 * Where only some sleeps are walked (no type data), one that was not is taken for what most of the
 * walked ones of the same thread and waker were: an estimate, counted as such.
 */
static bool estimate(const struct report *report, size_t from, size_t to, size_t i)
{
	struct raw_wait *wait = &report->raw->rows[report->order[i]];
	const struct raw_wait *best = NULL;

	for (size_t j = from; j < to; j++) {
		const struct raw_wait *other = &report->raw->rows[report->order[j]];

		if (has_evidence(other) && wakers_same(&other->waker, &wait->waker, false) &&
		    (!best || other->count > best->count))
			best = other;
	}
	if (!best)
		return false;
	report->judged[report->order[i]] = report->judged[best - report->raw->rows];
	wait->key.syscall = best->key.syscall;
	wait->key.arg = best->key.arg;
	wait->sampled = true;
	return true;
}

static struct wait_edge *find_edge(struct session *session, size_t first,
				   const struct wait_edge *like)
{
	for (size_t i = first; i < session->nedges; i++) {
		struct wait_edge *edge = &session->edges[i];

		if (edge->class == like->class && edge->waker_kind == like->waker_kind &&
		    edge->waker_tid == like->waker_tid && !strcmp(edge->waker, like->waker) &&
		    !strcmp(edge->site, like->site) && !strcmp(edge->via, like->via))
			return edge;
	}
	return NULL;
}

static int add_edge(struct session *session, size_t first, const struct wait_edge *edge)
{
	struct wait_edge *into = find_edge(session, first, edge);

	if (into) {
		into->ns += edge->ns;
		into->count += edge->count;
		if (edge->max_ns > into->max_ns)
			into->max_ns = edge->max_ns;
		if (into->stack < 0)
			into->stack = edge->stack;
		return 0;
	}
	into = session_add_edge(session);
	if (!into)
		return -ENOMEM;
	*into = *edge;
	return 0;
}

/* Outermost first, as flame graphs want it: user frames, then the kernel's. */
static char *fold(const struct report *report, pid_t pid, const struct tt_edge_key *key)
{
	struct kernel_stack stack;
	char *folded = NULL;
	size_t size;
	FILE *out = open_memstream(&folded, &size);

	if (!out)
		return NULL;
	if (key->user_stack)
		user_stacks_fold(report->sources->user_stacks, pid, key->user_stack, out);
	kernel_stacks_get(report->stacks, key->kernel_stack, &stack);
	for (int i = stack.n; i-- > 0;)
		fprintf(out, "%s%s_[k]", ftell(out) > 0 ? ";" : "", stack.frames[i]);
	if (fclose(out)) {
		free(folded);
		return NULL;
	}
	return folded;
}

/* Returns its index among the session's stacks, -1 without one, -ENOMEM. */
static int add_stack(struct report *report, size_t first, const struct raw_wait *wait,
		     enum wait_class class)
{
	const struct thread_account *row = &report->session->threads[wait->row];
	struct session *session = report->session;
	struct stack_key key = {wait->key.kernel_stack, wait->key.user_stack}, *keys;
	struct wait_stack *stack;

	if (!key.kernel && !key.user)
		return -1;
	for (size_t i = first; i < session->nstacks; i++) {
		stack = &session->stacks[i];
		if (stack->class != class || report->stack_keys[i].kernel != key.kernel ||
		    report->stack_keys[i].user != key.user)
			continue;
		stack->ns += wait->ns;
		stack->count += wait->count;
		return (int)i;
	}
	keys = reallocarray(report->stack_keys, session->nstacks + 1, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	report->stack_keys = keys;
	stack = session_add_stack(session);
	if (!stack)
		return -ENOMEM;
	keys[session->nstacks - 1] = key;
	stack->pid = row->pid;
	stack->tid = row->tid;
	memcpy(stack->group, row->group, sizeof(stack->group));
	stack->class = class;
	stack->ns = wait->ns;
	stack->count = wait->count;
	stack->frames = fold(report, row->pid, &wait->key);
	return stack->frames ? (int)session->nstacks - 1 : -ENOMEM;
}

static int put(struct report *report, size_t first_edge, size_t first_stack, size_t i)
{
	struct raw_wait *wait = &report->raw->rows[i];
	const struct wait_judgement *judged = &report->judged[i];
	struct thread_account *row = &report->session->threads[wait->row];
	struct wait_edge edge = {
		.pid = row->pid,
		.tid = row->tid,
		.waker_kind = wait->waker.kind,
		.waker_pid = wait->waker.pid,
		.waker_tid = row->folded > 1 ? 0 : wait->waker.tid,
		.class = judged->class,
		.ns = wait->ns,
		.count = wait->count,
		.max_ns = wait->max_ns,
	};

	memcpy(edge.group, row->group, sizeof(edge.group));
	text_copy(edge.waker, sizeof(edge.waker), wait->waker.name);
	text_copy(edge.site, sizeof(edge.site), judged->site);
	if (judged->inherited)
		text_copy(edge.via, sizeof(edge.via),
			  wait->key.via == TT_WAKER(TT_WAKER_DISK, 0) ? "disk" : wait->via.name);
	edge.stack = add_stack(report, first_stack, wait, judged->class);
	if (edge.stack == -ENOMEM)
		return -ENOMEM;
	wait->class = judged->class;
	row->wait_ns[WAIT_OTHER] -= wait->ns;
	row->wait_ns[judged->class] += wait->ns;
	return add_edge(report->session, first_edge, &edge);
}

static int put_row(struct report *report, size_t from, size_t to)
{
	struct session *session = report->session;
	size_t first_edge = session->nedges, first_stack = session->nstacks;
	int err = 0;

	for (size_t i = from; i < to; i++) {
		const struct raw_wait *wait = &report->raw->rows[report->order[i]];

		session->waits.ns += wait->ns;
		if (wait->key.kernel_stack || (wait->site && wait->site->nframes))
			session->waits.with_stack_ns += wait->ns;
		if (!has_evidence(wait) && estimate(report, from, to, i))
			session->waits.estimated_ns += wait->ns;
	}
	session->waits.estimated_ns +=
		wait_futex_timeouts(report->raw, report->judged, report->order, from, to);
	for (size_t i = from; i < to && !err; i++)
		err = put(report, first_edge, first_stack, report->order[i]);
	return err;
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct raw_wait *rows = ctx;
	size_t x = rows[*(const size_t *)a].row, y = rows[*(const size_t *)b].row;

	return (x > y) - (x < y);
}

static int put_all(struct report *report)
{
	const struct raw_waits *raw = report->raw;
	size_t from = 0;
	int err = 0;

	qsort_r(report->order, raw->n, sizeof(*report->order), compare_rows, raw->rows);
	while (from < raw->n && !err) {
		size_t to = from + 1;

		while (to < raw->n &&
		       raw->rows[report->order[to]].row == raw->rows[report->order[from]].row)
			to++;
		err = put_row(report, from, to);
		from = to;
	}
	return err;
}

static int compare_edges(const void *a, const void *b)
{
	const struct wait_edge *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

static int compare_stacks(const void *a, const void *b, void *ctx)
{
	const struct wait_stack *stacks = ctx;
	int64_t x = stacks[*(const int *)a].ns, y = stacks[*(const int *)b].ns;

	return (x < y) - (x > y);
}

/* Largest first; the edges follow their stacks. */
static int sort(struct session *session)
{
	size_t n = session->nstacks;
	struct wait_stack *sorted = calloc(n + 1, sizeof(*sorted));
	int *order = calloc(n + 1, sizeof(*order)), *place = calloc(n + 1, sizeof(*place));
	int err = sorted && order && place ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		order[i] = (int)i;
	if (!err && n) {
		qsort_r(order, n, sizeof(*order), compare_stacks, session->stacks);
		for (size_t i = 0; i < n; i++) {
			sorted[i] = session->stacks[order[i]];
			place[order[i]] = (int)i;
		}
		memcpy(session->stacks, sorted, n * sizeof(*sorted));
		for (size_t i = 0; i < session->nedges; i++) {
			if (session->edges[i].stack >= 0)
				session->edges[i].stack = place[session->edges[i].stack];
		}
	}
	if (session->nedges)
		qsort(session->edges, session->nedges, sizeof(*session->edges), compare_edges);
	free(sorted);
	free(order);
	free(place);
	return err;
}

static int read_stacks(struct report *report)
{
	const struct raw_waits *raw = report->raw;
	uint64_t *keys = malloc((raw->n + 1) * sizeof(*keys));
	int err;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < raw->n; i++)
		keys[i] = raw->rows[i].key.kernel_stack;
	err = kernel_stacks_read(&report->stacks, report->sources->tracer, keys, raw->n);
	free(keys);
	if (!err || err == -ENOMEM)
		return err;
	capability_add(&report->session->capability, "kernel symbols",
		       "kernel.kptr_restrict hides them, so stacks do not tell what was waited "
		       "for: sudo sysctl kernel.kptr_restrict=1");
	return 0;
}

int wait_report_fill(struct session *session, struct raw_waits *raw,
		     const struct wait_sources *sources)
{
	struct report report = {.session = session, .raw = raw, .sources = sources};
	int err = read_stacks(&report);

	report.judged = calloc(raw->n + 1, sizeof(*report.judged));
	report.order = calloc(raw->n + 1, sizeof(*report.order));
	if (!report.judged || !report.order)
		err = -ENOMEM;
	for (size_t i = 0; i < raw->n && !err; i++) {
		report.order[i] = i;
		add_samples(&report, i);
	}
	if (!err)
		err = wait_futex_locks(raw, session);
	for (size_t i = 0; i < raw->n && !err; i++)
		judge(&report, i);
	if (!err)
		err = put_all(&report);
	if (!err)
		err = sort(session);
	kernel_stacks_free(report.stacks);
	free(report.judged);
	free(report.order);
	free(report.stack_keys);
	return err;
}
