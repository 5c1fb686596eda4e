/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/machine/system.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe/procfs.h"

/* BPF run statistics cost two clock reads a program run, so they are on only this long. */
#define COUNT_COST_NS 250000000LL

struct system_watch {
	struct procfs_cpu_totals before, after;
	bool have_before;
	int stats_fd;
	int64_t count_begin_ns, counted_ns;
	int64_t begin_ns;
	struct program_cost costs[TRACER_PROGRAMS];
	int ncosts;
	int64_t events; /* handled by us until the begin; UNKNOWN_COUNT where programs do */
	struct rusage usage;
};

struct system_watch *system_watch_new(void)
{
	struct system_watch *watch = calloc(1, sizeof(*watch));

	if (watch)
		watch->stats_fd = -1;
	return watch;
}

void system_watch_free(struct system_watch *watch)
{
	if (!watch)
		return;
	if (watch->stats_fd >= 0)
		close(watch->stats_fd);
	free(watch);
}

void system_watch_begin(struct system_watch *watch, const struct tracer *tracer, int64_t now_ns)
{
	watch->begin_ns = now_ns;
	watch->have_before = !procfs_cpu_totals(&watch->before);
	getrusage(RUSAGE_SELF, &watch->usage);
	watch->events = tracer_events(tracer);
	watch->stats_fd =
		watch->events == UNKNOWN_COUNT ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1;
	watch->ncosts = tracer_program_costs(tracer, watch->costs);
	watch->count_begin_ns = now_ns;
}

static void stop_counting(struct system_watch *watch, const struct tracer *tracer, int64_t now_ns)
{
	struct program_cost now[TRACER_PROGRAMS];
	int n;

	if (watch->stats_fd < 0)
		return;
	n = tracer_program_costs(tracer, now);
	close(watch->stats_fd);
	watch->stats_fd = -1;
	for (int i = 0; i < n && i < watch->ncosts; i++) {
		watch->costs[i].runs = now[i].runs - watch->costs[i].runs;
		watch->costs[i].ns = now[i].ns - watch->costs[i].ns;
	}
	watch->counted_ns = now_ns - watch->count_begin_ns;
}

void system_watch_tick(struct system_watch *watch, const struct tracer *tracer, int64_t now_ns)
{
	if (now_ns - watch->count_begin_ns >= COUNT_COST_NS)
		stop_counting(watch, tracer, now_ns);
}

/* iowait may step back (proc(5)), so a part can come out below 0. */
static double share(int64_t part, int64_t whole)
{
	return whole > 0 ? fmax(0, (double)part / (double)whole) : NAN;
}

static void fill_cpu(struct cpu_account *cpu, const struct procfs_cpu *a,
		     const struct procfs_cpu *b)
{
	int64_t idle = b->idle - a->idle + b->iowait - a->iowait;
	int64_t irq = b->irq - a->irq + b->softirq - a->softirq;
	int64_t steal = b->steal - a->steal;
	int64_t work = b->user - a->user + b->nice - a->nice + b->system - a->system;
	int64_t all = idle + irq + steal + work;

	cpu->id = b->id;
	cpu->online = true;
	cpu->busy = share(irq + work + steal, all);
	cpu->irq = share(irq, all);
	cpu->steal = share(steal, all);
}

static void fill_cpus(struct system_watch *watch, struct session *session)
{
	if (!watch->have_before || procfs_cpu_totals(&watch->after))
		return;
	session->cpus = calloc(watch->after.n, sizeof(*session->cpus));
	if (!session->cpus)
		return;
	for (int i = 0; i < watch->after.n; i++) {
		for (int k = 0; k < watch->before.n; k++) {
			if (watch->before.cpu[k].id == watch->after.cpu[i].id)
				fill_cpu(&session->cpus[session->ncpus++], &watch->before.cpu[k],
					 &watch->after.cpu[i]);
		}
	}
}

static int64_t usage_ns(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000LL +
	       (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000LL;
}

void system_watch_end(struct system_watch *watch, const struct tracer *tracer, int64_t now_ns,
		      struct session *session)
{
	struct overhead *overhead = &session->overhead;
	struct rusage usage;
	double programs_ns = 0, own_share;

	stop_counting(watch, tracer, now_ns);
	getrusage(RUSAGE_SELF, &usage);
	overhead->rss_bytes = usage.ru_maxrss * 1024;
	for (int i = 0; i < watch->ncosts && watch->counted_ns > 0; i++) {
		const struct program_cost *cost = &watch->costs[i];

		if (overhead->events == UNKNOWN_COUNT)
			overhead->events = 0;
		overhead->events +=
			(int64_t)((double)cost->runs * (double)(now_ns - watch->begin_ns) /
				  (double)watch->counted_ns);
		programs_ns += (double)cost->ns;
		if (!strcmp(cost->name, "sched_switch") && cost->runs)
			overhead->ns_per_switch = (double)cost->ns / (double)cost->runs;
	}
	own_share = (double)(usage_ns(&usage) - usage_ns(&watch->usage)) /
		    (double)(now_ns - watch->begin_ns);
	if (watch->counted_ns > 0)
		overhead->cpu_share = programs_ns / (double)watch->counted_ns + own_share;
	if (watch->events != UNKNOWN_COUNT) {
		overhead->events = tracer_events(tracer) - watch->events;
		overhead->cpu_share = own_share;
	}
	fill_cpus(watch, session);
}
