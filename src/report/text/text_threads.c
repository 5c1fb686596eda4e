/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of all threads. Too wide for 100 columns: only with -v. */
#include "report/text/text_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define CELL 128
#define NAME 24
#define TIME 10
#define ROW  1024

static void append_time(char *row, int64_t ns)
{
	char time[32];

	text_duration(time, sizeof(time), ns);
	text_appendf(row, ROW, " %*s", TIME, ns == UNKNOWN_NS ? "?" : time);
}

static void append_count(char *row, int64_t count, int width)
{
	if (count == UNKNOWN_COUNT)
		text_appendf(row, ROW, " %*s", width, "?");
	else
		text_appendf(row, ROW, " %*" PRId64, width, count);
}

/* TID and name; what is not one living thread is said behind the name. */
static void begin_row(char *row, const struct thread_account *thread)
{
	char comm[TEXT_SANITIZED_SIZE(16)], note[40] = "", name[CELL], cell[CELL], tid[16] = "-";

	text_sanitize(comm, sizeof(comm), thread->comm, strnlen(thread->comm, 16));
	if (thread->tid)
		snprintf(tid, sizeof(tid), "%d", thread->tid);
	if (thread->folded > 1) {
		text_sanitize(name, sizeof(name), thread->group,
			      strnlen(thread->group, sizeof(thread->group)));
		snprintf(note, sizeof(note), " x%" PRIu32, thread->folded);
	} else {
		snprintf(name, sizeof(name), "%s", comm);
	}
	if (thread->exited)
		text_appendf(note, sizeof(note), " ended");
	if (text_columns(name) + strlen(note) > NAME)
		text_cell(cell, sizeof(cell), name, NAME - (int)strlen(note));
	else
		snprintf(cell, sizeof(cell), "%s", name);
	snprintf(name, sizeof(name), "%s%s", cell, note);
	text_cell(cell, sizeof(cell), name, NAME);
	snprintf(row, ROW, "  %7s %s", tid, cell);
}

static void times_header(struct lines *lines)
{
	lines_addf(lines, "  %7s %-*s %*s %*s %*s %*s %*s %*s %*s", "tid", NAME, "name", TIME,
		   "wall", TIME, "on-CPU", TIME, "rq-wake", TIME, "rq-preempt", TIME, "off-CPU",
		   TIME, "stopped", TIME, "unknown");
}

static void times_row(struct lines *lines, const struct thread_account *thread)
{
	char row[ROW];

	begin_row(row, thread);
	append_time(row, thread->wall_ns);
	append_time(row, thread->oncpu_ns);
	append_time(row, thread->runq_wake_ns);
	append_time(row, thread->runq_preempt_ns);
	append_time(row, thread->offcpu_ns);
	append_time(row, thread->stopped_ns);
	append_time(row, thread->unknown_ns);
	lines_addf(lines, "%s", row);
}

static void switches_header(struct lines *lines)
{
	lines_addf(lines, "  %7s %-*s %9s %11s %9s %*s %*s %*s %*s %*s %6s", "tid", NAME, "name",
		   "voluntary", "involuntary", "delays", TIME, "rq p50", TIME, "rq p99", TIME,
		   "rq max", TIME, "ks on-CPU", TIME, "ks rq", "gaps");
}

static void switches_row(struct lines *lines, const struct thread_account *thread)
{
	char row[ROW];

	begin_row(row, thread);
	append_count(row, thread->switches_voluntary, 9);
	append_count(row, thread->switches_involuntary, 11);
	append_count(row, thread->runq.count, 9);
	append_time(row, runq_quantile_ns(&thread->runq, 0.50));
	append_time(row, runq_quantile_ns(&thread->runq, 0.99));
	append_time(row, thread->runq.count > 0 ? thread->runq.max_ns : UNKNOWN_NS);
	append_time(row, thread->schedstat_oncpu_ns);
	append_time(row, thread->schedstat_runq_ns);
	append_count(row, thread->gaps, 6);
	lines_addf(lines, "%s", row);
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread_account *x = *(const struct thread_account *const *)a;
	const struct thread_account *y = *(const struct thread_account *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->oncpu_ns != y->oncpu_ns)
		return x->oncpu_ns > y->oncpu_ns ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* One table: the rows of each process behind a line that names it. */
static void table(struct lines *lines, const struct session *session,
		  const struct thread_account **sorted, void (*header)(struct lines *),
		  void (*row)(struct lines *, const struct thread_account *))
{
	char process[CELL];

	header(lines);
	for (size_t i = 0; i < session->nthreads; i++) {
		if (i == 0 || sorted[i]->pid != sorted[i - 1]->pid) {
			text_process(process, sizeof(process), session, sorted[i]->pid, NAME + 8);
			lines_addf(lines, "  %s", process);
		}
		row(lines, sorted[i]);
	}
}

static void identity(struct lines *lines, const struct session *session)
{
	uint64_t threads = 0, sound = 0;

	for (size_t i = 0; i < session->nthreads; i++) {
		const struct thread_account *thread = &session->threads[i];

		threads += thread->folded;
		if (thread_identity_error_ns(thread) == 0)
			sound += thread->folded;
	}
	lines_addf(lines,
		   "identity: on + run-queue + off + stopped + unknown == wall for %" PRIu64
		   " of %" PRIu64 " threads",
		   sound, threads);
}

void text_threads(struct lines *lines, const struct session *session)
{
	size_t n = session->nthreads;
	const struct thread_account **sorted;
	struct lines tables = {.wide = true};

	if (n == 0)
		return;
	sorted = calloc(n, sizeof(const struct thread_account *));
	if (!sorted) {
		lines->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = &session->threads[i];
	qsort(sorted, n, sizeof(*sorted), compare_threads);

	lines_addf(&tables,
		   "times of threads (rq: run queue, after a wakeup and after a preemption)");
	table(&tables, session, sorted, times_header, times_row);
	identity(&tables, session);
	lines_addf(&tables, "%s", "");
	lines_addf(&tables,
		   "switches and single run-queue (rq) delays of threads (ks: the kernel's own "
		   "books, /proc/PID/task/TID/schedstat)");
	table(&tables, session, sorted, switches_header, switches_row);
	free(sorted);
	lines_move(lines, &tables);
}
