/* SPDX-License-Identifier: GPL-2.0-only */
/* Only with -v: what the sleep of each thread was for, and the largest single waits. */
#include "report/text/text_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define TEXT	  512
#define EDGES	  20
#define NAME	  24
#define SHARE_MIN 0.0005

static void classes(char *text, const struct thread_account *thread)
{
	char share[24];

	for (int i = 0; i < WAIT_CLASSES; i++) {
		double part = share_of(thread->wait_ns[i], thread->wall_ns);

		if (!(part >= SHARE_MIN))
			continue;
		text_percent(share, sizeof(share), part);
		text_appendf(text, TEXT, "%s%s %s", *text ? ", " : "", wait_class_name(i), share);
	}
}

static void thread_row(struct lines *lines, const struct thread_account *thread)
{
	char name[TEXT_SANITIZED_SIZE(32)], cell[256], tid[16] = "-", text[TEXT] = "";
	const char *raw = thread->tid ? thread->comm : thread->group;

	text_sanitize(name, sizeof(name), raw, strnlen(raw, thread->tid ? 16 : 32));
	text_cell(cell, sizeof(cell), name, NAME);
	if (thread->tid)
		snprintf(tid, sizeof(tid), "%d", thread->tid);
	classes(text, thread);
	if (*text)
		lines_addf(lines, "  %7s %s %s", tid, cell, text);
}

static void edge_row(struct lines *lines, const struct wait_edge *edge)
{
	char total[32], longest[32], waiter[256], text[TEXT], tid[16] = "-";

	text_duration(total, sizeof(total), edge->ns);
	text_duration(longest, sizeof(longest), edge->max_ns);
	text_cell(waiter, sizeof(waiter), edge->group, NAME);
	if (edge->tid)
		snprintf(tid, sizeof(tid), "%d", edge->tid);
	snprintf(text, sizeof(text), "%s", wait_class_name(edge->class));
	if (*edge->site)
		text_appendf(text, sizeof(text), " in %s", edge->site);
	if (edge->waker_kind == WAKER_NONE)
		text_appendf(text, sizeof(text), ", no waker seen");
	else
		text_appendf(text, sizeof(text), ", ended by %s %s",
			     waker_kind_name(edge->waker_kind), edge->waker);
	if (edge->waker_tid)
		text_appendf(text, sizeof(text), "/%d", edge->waker_tid);
	if (*edge->via)
		text_appendf(text, sizeof(text), " via %s", edge->via);
	lines_addf(lines, "  %7s %s %10s %9" PRId64 " %10s  %s", tid, waiter, total, edge->count,
		   longest, text);
}

static void coverage(struct lines *lines, const struct session *session)
{
	const struct wait_coverage *waits = &session->waits;
	char stacks[32], estimated[32];

	text_percent_sign(stacks, sizeof(stacks), share_of(waits->with_stack_ns, waits->ns));
	text_percent_sign(estimated, sizeof(estimated), share_of(waits->estimated_ns, waits->ns));
	lines_addf(
		lines,
		"%s of the sleep has a kernel stack, %s was judged by other sleeps of its thread",
		stacks, estimated);
}

void text_waits(struct lines *lines, const struct session *session)
{
	struct lines tables = {.wide = true};
	size_t n = session->nedges < EDGES ? session->nedges : EDGES;

	if (!session->nedges)
		return;
	lines_addf(&tables, "%s", "");
	lines_addf(&tables, "what threads slept for, %% of their time");
	for (size_t i = 0; i < session->nthreads; i++)
		thread_row(&tables, &session->threads[i]);
	coverage(&tables, session);
	lines_addf(&tables, "%s", "");
	lines_addf(&tables, "largest waits (%zu of %zu; all of them with --json)", n,
		   session->nedges);
	lines_addf(&tables, "  %7s %-*s %10s %9s %10s  %s", "tid", NAME, "group", "time", "times",
		   "longest", "what");
	for (size_t i = 0; i < n; i++)
		edge_row(&tables, &session->edges[i]);
	lines_move(lines, &tables);
}
