/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/machine/host_watch.h"

#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "probe/procfs.h"

/* /proc/stat counts in steps of 10 ms: 2 % of this. */
#define PERIOD_NS 500000000LL
/* A little early is due, since ticks come at multiples of a part of it. */
#define EARLY_NS 50000000LL

#define PROCESSES 128 /* more are left out of the faults and of the I/O */

/* What the kernel counts of a process. */
struct counts {
	int64_t minor, major, read_bytes, write_bytes; /* UNKNOWN_COUNT */
};

#define COUNTS (sizeof(struct counts) / sizeof(int64_t))

struct process {
	pid_t pid;
	bool met;
	struct counts counts;
};

struct host_watch {
	struct live_threads *live;
	struct waits *waits;
	int64_t begin_ns, last_ns;
	int64_t sums_ns[TT_BUCKET_SLOTS];
	struct procfs_cpu_totals before, after;
	bool have_before;
	struct process processes[PROCESSES];
	int nprocesses;
	struct counts grown; /* since the last point */
};

struct host_watch *host_watch_new(struct live_threads *live, struct waits *waits)
{
	struct host_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->live = live;
	watch->waits = waits;
	return watch;
}

void host_watch_free(struct host_watch *watch)
{
	free(watch);
}

static int64_t number_behind(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	char *end;
	long long value;

	if (!at)
		return UNKNOWN_COUNT;
	at += strlen(key);
	value = strtoll(at, &end, 10);
	return end == at || value < 0 ? UNKNOWN_COUNT : value;
}

static void read_counts(pid_t pid, struct counts *counts)
{
	struct procfs_stat stat;
	char text[512];

	*counts = (struct counts){UNKNOWN_COUNT, UNKNOWN_COUNT, UNKNOWN_COUNT, UNKNOWN_COUNT};
	if (!procfs_task_stat(pid, PROCFS_PROCESS, &stat)) {
		counts->minor = stat.minflt;
		counts->major = stat.majflt;
	}
	if (procfs_task_text(pid, PROCFS_PROCESS, "io", text, sizeof(text)) <= 0)
		return;
	counts->read_bytes = number_behind(text, "\nread_bytes: ");
	counts->write_bytes = number_behind(text, "\nwrite_bytes: ");
}

static struct process *find_process(struct host_watch *watch, pid_t pid)
{
	for (int i = 0; i < watch->nprocesses; i++) {
		if (watch->processes[i].pid == pid)
			return &watch->processes[i];
	}
	if (watch->nprocesses == PROCESSES)
		return NULL;
	watch->processes[watch->nprocesses] = (struct process){.pid = pid};
	return &watch->processes[watch->nprocesses++];
}

static void add_process(void *ctx, pid_t pid)
{
	struct host_watch *watch = ctx;
	struct process *process = find_process(watch, pid);
	int64_t *grown = (int64_t *)&watch->grown, *old, *new;
	struct counts now;

	if (!process)
		return;
	read_counts(pid, &now);
	old = (int64_t *)&process->counts;
	new = (int64_t *)&now;
	for (size_t i = 0; process->met && i < COUNTS; i++) {
		if (new[i] == UNKNOWN_COUNT || old[i] == UNKNOWN_COUNT)
			continue;
		/* less than before: another process has the number now */
		grown[i] = (grown[i] == UNKNOWN_COUNT ? 0 : grown[i]) +
			   (new[i] >= old[i] ? new[i] - old[i] : 0);
	}
	process->counts = now;
	process->met = true;
}

/* Those that ended make room. */
static void forget_ended(struct host_watch *watch)
{
	int n = 0;

	for (int i = 0; i < watch->nprocesses; i++) {
		if (watch->processes[i].counts.minor != UNKNOWN_COUNT)
			watch->processes[n++] = watch->processes[i];
	}
	watch->nprocesses = n;
}

static void read_processes(struct host_watch *watch)
{
	watch->grown = (struct counts){UNKNOWN_COUNT, UNKNOWN_COUNT, UNKNOWN_COUNT, UNKNOWN_COUNT};
	live_threads_processes(watch->live, add_process, watch);
	forget_ended(watch);
}

void host_watch_prepare(struct host_watch *watch)
{
	watch->have_before = !procfs_cpu_totals(&watch->before);
	read_processes(watch);
}

void host_watch_begin(struct host_watch *watch, int64_t begin_ns)
{
	watch->begin_ns = watch->last_ns = begin_ns;
	waits_begin(watch->waits, begin_ns);
}

static float per_second(int64_t count, int64_t span_ns)
{
	return count == UNKNOWN_COUNT ? NAN : (float)((double)count * 1e9 / (double)span_ns);
}

static int64_t busy_ticks(const struct procfs_cpu *cpu)
{
	return cpu->user + cpu->nice + cpu->system + cpu->irq + cpu->softirq + cpu->steal;
}

/* iowait may step back (proc(5)). */
static float busy_share(const struct procfs_cpu *a, const struct procfs_cpu *b)
{
	int64_t busy = busy_ticks(b) - busy_ticks(a);
	int64_t all = busy + b->idle - a->idle + b->iowait - a->iowait;

	if (all <= 0 || busy < 0)
		return NAN;
	return fminf(1, (float)busy / (float)all);
}

static void fill_cpus(struct host_watch *watch, struct host_point *point)
{
	int k = 0;

	if (procfs_cpu_totals(&watch->after))
		return;
	for (int i = 0; watch->have_before && i < watch->after.n; i++) {
		const struct procfs_cpu *cpu = &watch->after.cpu[i];

		while (k < watch->before.n && watch->before.cpu[k].id < cpu->id)
			k++;
		if (k < watch->before.n && watch->before.cpu[k].id == cpu->id &&
		    cpu->id < HOST_CPUS)
			point->cpu_busy[cpu->id] = busy_share(&watch->before.cpu[k], cpu);
	}
	watch->before = watch->after;
	watch->have_before = true;
}

/* Threads that were on average in a state. */
static float mean_threads(const struct host_watch *watch, const int64_t *sums, int bucket,
			  int64_t span_ns)
{
	int64_t grown_ns = sums[bucket] - watch->sums_ns[bucket];

	/* below 0 where an event told that time before it was of another kind */
	return grown_ns > 0 ? (float)((double)grown_ns / (double)span_ns) : 0;
}

static void fill_threads(struct host_watch *watch, struct host_point *point)
{
	const int64_t *sums = live_threads_sums_ns(watch->live);
	int64_t span_ns = point->span_ns;

	point->oncpu_cpus = mean_threads(watch, sums, TT_ONCPU, span_ns);
	point->runq_threads = mean_threads(watch, sums, TT_RUNQ_WAKE, span_ns) +
			      mean_threads(watch, sums, TT_RUNQ_PREEMPT, span_ns);
	point->stopped_threads = mean_threads(watch, sums, TT_STOPPED, span_ns);
	waits_look(watch->waits, watch->live, point,
		   mean_threads(watch, sums, TT_OFF_DISK, span_ns) +
			   mean_threads(watch, sums, TT_OFF_OTHER, span_ns));
	memcpy(watch->sums_ns, sums, sizeof(watch->sums_ns));
}

static void add_point(struct host_watch *watch, int64_t now_ns, struct host_series *series)
{
	struct host_point point;
	int64_t span_ns = now_ns - watch->last_ns;

	host_point_init(&point);
	point.t_ns = now_ns - watch->begin_ns;
	point.span_ns = span_ns;
	fill_threads(watch, &point);
	fill_cpus(watch, &point);
	read_processes(watch);
	point.minor_faults_per_s = per_second(watch->grown.minor, span_ns);
	point.major_faults_per_s = per_second(watch->grown.major, span_ns);
	point.read_bytes_per_s = per_second(watch->grown.read_bytes, span_ns);
	point.write_bytes_per_s = per_second(watch->grown.write_bytes, span_ns);
	watch->last_ns = now_ns;
	host_series_add(series, &point);
}

void host_watch_tick(struct host_watch *watch, int64_t now_ns, struct host_series *series)
{
	if (watch->begin_ns && now_ns - watch->last_ns >= PERIOD_NS - EARLY_NS)
		add_point(watch, now_ns, series);
}

void host_watch_end(struct host_watch *watch, int64_t end_ns, struct host_series *series)
{
	if (watch->begin_ns && end_ns > watch->last_ns)
		add_point(watch, end_ns, series);
}
