/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/text_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define CELL  160 /* bytes of a cell: 36 characters of 4 bytes and the NUL */
#define LABEL 36

double share_of(int64_t part, int64_t whole)
{
	if (part == UNKNOWN_NS || whole <= 0)
		return NAN;
	return (double)part / (double)whole;
}

void text_percent(char *dst, size_t size, double share)
{
	if (!isfinite(share))
		snprintf(dst, size, "?");
	else if (share > 0 && share < 0.0005)
		snprintf(dst, size, "<0.1");
	else if (share >= 10)
		snprintf(dst, size, ">999.9");
	else
		snprintf(dst, size, "%.1f", 100 * share);
}

void text_percent_sign(char *dst, size_t size, double share)
{
	if (!isfinite(share))
		snprintf(dst, size, "unknown");
	else if (share > 0 && share < 0.005)
		snprintf(dst, size, "<1 %%");
	else
		snprintf(dst, size, "%.0f %%", 100 * share);
}

/* Its main thread's name is of now; a target's is of when the window began. */
static const char *process_comm(const struct session *session, pid_t pid)
{
	for (size_t i = 0; i < session->nthreads; i++)
		if (session->threads[i].tid == pid)
			return session->threads[i].comm;
	for (int i = 0; i < session->ntargets && i < SESSION_TARGETS; i++)
		if (session->targets[i].pid == pid)
			return session->targets[i].comm;
	return "?";
}

void text_process(char *dst, size_t size, const struct session *session, pid_t pid, size_t width)
{
	const char *comm = process_comm(session, pid);
	char id[16], clean[TEXT_SANITIZED_SIZE(16)], cut[CELL];
	size_t used;

	snprintf(id, sizeof(id), "/%d", pid);
	text_sanitize(clean, sizeof(clean), comm, strnlen(comm, 16));
	used = text_columns(clean);
	if (strlen(id) + used > width)
		used = width > strlen(id) + 3 ? width - strlen(id) : 3;
	text_cell(cut, sizeof(cut), clean, (int)used);
	snprintf(dst, size, "%s%s", cut, id);
}

static void group_label(char *dst, const struct session *session, const struct thread_group *group)
{
	char name[TEXT_SANITIZED_SIZE(sizeof(group->name))], process[CELL], label[CELL * 2];
	size_t columns;

	text_sanitize(name, sizeof(name), group->name, strnlen(group->name, sizeof(group->name)));
	columns = text_columns(name) + 1;
	text_process(process, sizeof(process), session, group->pid,
		     columns < LABEL ? LABEL - columns : 0);
	snprintf(label, sizeof(label), "%s %s", process, *name ? name : "?");
	text_cell(dst, CELL, label, LABEL);
}

/* The class that takes most of its sleep, in percent of its time. */
static void top_wait(char *dst, size_t size, const struct thread_account *sum)
{
	int top = 0;
	char share[24];

	for (int i = 1; i < WAIT_CLASSES; i++) {
		if (sum->wait_ns[i] > sum->wait_ns[top])
			top = i;
	}
	if (sum->wait_ns[top] <= 0) {
		snprintf(dst, size, "-");
		return;
	}
	text_percent(share, sizeof(share), share_of(sum->wait_ns[top], sum->wall_ns));
	snprintf(dst, size, "%s: %s", wait_class_name(top), share);
}

static void group_row(struct lines *lines, const struct session *session,
		      const struct thread_group *group)
{
	const struct thread_account *sum = &group->sum;
	double runq = share_of(sum->runq_wake_ns, sum->wall_ns) +
		      share_of(sum->runq_preempt_ns, sum->wall_ns);
	char label[CELL], on[24], queue[24], off[24], p99[24], wait[64];

	group_label(label, session, group);
	text_percent(on, sizeof(on), share_of(sum->oncpu_ns, sum->wall_ns));
	text_percent(queue, sizeof(queue), runq);
	text_percent(off, sizeof(off), share_of(sum->offcpu_ns, sum->wall_ns));
	if (sum->runq.count <= 0)
		snprintf(p99, sizeof(p99), "-");
	else
		text_duration(p99, sizeof(p99), runq_quantile_ns(&sum->runq, 0.99));
	top_wait(wait, sizeof(wait), sum);
	lines_addf(lines, "  %s %7" PRId64 " %8s %6s %9s %10s %14s", label, group->threads, on,
		   queue, off, p99, wait);
}

static void groups_left_out(struct lines *lines, const struct thread_group *groups, size_t n)
{
	int64_t threads = 0;
	char busy[32];
	struct thread_account sum = groups[0].sum;

	for (size_t i = 0; i < n; i++) {
		threads += groups[i].threads;
		if (i > 0)
			thread_account_merge(&sum, &groups[i].sum);
	}
	text_duration(busy, sizeof(busy), sum.oncpu_ns);
	lines_addf(lines, "  and %zu more with %" PRId64 " threads, on-CPU for %s in all (-v)", n,
		   threads, busy);
}

void text_groups(struct lines *lines, const struct session *session,
		 const struct thread_group *groups, size_t n, size_t max_lines)
{
	size_t rows = n < max_lines ? n : max_lines - 2;

	if (n == 0) {
		lines_label(lines, "threads",
			    *session->capability.rung ? "none was seen" : "not measured", 1);
		return;
	}
	lines_addf(lines, "  %-*s %7s %8s %6s %9s %10s %14s", LABEL, "process/group", "threads",
		   "on-CPU %", "runq %", "off-CPU %", "p99 runq", "waits for: %");
	for (size_t i = 0; i < rows; i++)
		group_row(lines, session, &groups[i]);
	if (rows < n)
		groups_left_out(lines, groups + rows, n - rows);
}
