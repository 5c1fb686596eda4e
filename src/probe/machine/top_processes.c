/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/machine/top_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "probe/procfs.h"

struct usage {
	pid_t pid;
	uint64_t starttime; /* tells a reused pid */
	int64_t ticks;
};

struct top_watch {
	struct usage *begin; /* by pid, ascending */
	size_t n, capacity;
	int64_t begin_ns;
};

static int take_usage(void *ctx, pid_t pid)
{
	struct top_watch *watch = ctx;
	struct procfs_stat stat;

	if (procfs_task_stat(pid, PROCFS_PROCESS, &stat))
		return 0;
	if (watch->n == watch->capacity) {
		size_t capacity = watch->capacity ? 2 * watch->capacity : 256;
		struct usage *begin = reallocarray(watch->begin, capacity, sizeof(*begin));

		if (!begin)
			return -ENOMEM;
		watch->begin = begin;
		watch->capacity = capacity;
	}
	watch->begin[watch->n++] =
		(struct usage){pid, stat.starttime_ticks, stat.utime_ticks + stat.stime_ticks};
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	return ((const struct usage *)a)->pid - ((const struct usage *)b)->pid;
}

struct top_watch *top_watch_begin(int64_t now_ns)
{
	struct top_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->begin_ns = now_ns;
	if (procfs_for_each_pid(take_usage, watch)) {
		top_watch_free(watch);
		return NULL;
	}
	qsort(watch->begin, watch->n, sizeof(*watch->begin), by_pid);
	return watch;
}

void top_watch_free(struct top_watch *watch)
{
	if (!watch)
		return;
	free(watch->begin);
	free(watch);
}

struct ending {
	const struct top_watch *watch;
	bool (*is_target)(void *ctx, pid_t pid);
	void *ctx;
	struct session *session;
	double ticks_to_share;
};

/* Into the list in its place, the smallest dropped when it is full. */
static void insert(struct session *session, const struct top_process *process)
{
	struct top_process *top = session->top_processes;
	int at = session->ntop_processes;

	while (at > 0 && top[at - 1].cpu_share < process->cpu_share)
		at--;
	if (at == TOP_PROCESSES)
		return;
	if (session->ntop_processes < TOP_PROCESSES)
		session->ntop_processes++;
	memmove(&top[at + 1], &top[at], (session->ntop_processes - at - 1) * sizeof(*top));
	top[at] = *process;
}

static int take_growth(void *ctx, pid_t pid)
{
	const struct ending *ending = ctx;
	struct usage key = {.pid = pid};
	const struct usage *begin;
	struct top_process process = {.pid = pid};
	struct procfs_stat stat;
	int64_t ticks;

	if (procfs_task_stat(pid, PROCFS_PROCESS, &stat))
		return 0;
	begin = bsearch(&key, ending->watch->begin, ending->watch->n, sizeof(key), by_pid);
	ticks = stat.utime_ticks + stat.stime_ticks;
	if (begin && begin->starttime == stat.starttime_ticks)
		ticks -= begin->ticks;
	if (ticks <= 0 || ending->is_target(ending->ctx, pid))
		return 0;
	process.cpu_share = (double)ticks * ending->ticks_to_share;
	text_sanitize(process.comm, sizeof(process.comm), stat.comm, strlen(stat.comm));
	insert(ending->session, &process);
	return 0;
}

void top_watch_end(struct top_watch *watch, int64_t now_ns, bool (*is_target)(void *ctx, pid_t pid),
		   void *ctx, struct session *session)
{
	struct ending ending = {watch, is_target, ctx, session, 0};

	if (!watch || now_ns <= watch->begin_ns)
		return;
	ending.ticks_to_share =
		1e9 / (double)sysconf(_SC_CLK_TCK) / (double)(now_ns - watch->begin_ns);
	session->ntop_processes = 0;
	if (procfs_for_each_pid(take_growth, &ending))
		session->ntop_processes = -1;
}
