/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/perf_cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_list.h"
#include "base/msg.h"
#include "probe/event_clock.h"

#define ONLINE "/sys/devices/system/cpu/online"

static bool is_open(const struct perf_cpus *cpus, int number)
{
	for (int i = 0; i < cpus->n; i++) {
		if (cpus->open[i]->cpu == number && !cpus->open[i]->gone)
			return true;
	}
	return false;
}

static void close_one(struct perf_cpu *cpu)
{
	if (cpu)
		perf_cpu_close(cpu);
	free(cpu);
}

/* One that has gone offline since the list was read is left out. */
static int open_one(struct perf_cpus *cpus, int number, const char **what)
{
	struct perf_cpu *cpu = malloc(sizeof(*cpu));
	int err = cpu ? perf_cpu_open(cpu, number, &cpus->settings, what) : -ENOMEM;

	if (!err) {
		cpus->open[cpus->n++] = cpu;
		return 0;
	}
	close_one(cpu);
	return err == -ENODEV ? 0 : err;
}

static int open_listed(struct perf_cpus *cpus, const char **what)
{
	int err = 0;

	for (int number = 0; number < TT_MAX_CPUS && !err; number++) {
		if (cpus->listed[number] && !is_open(cpus, number))
			err = open_one(cpus, number, what);
	}
	return err;
}

static void list_rings(struct perf_cpus *cpus)
{
	cpus->nsources = 0;
	for (int i = 0; i < cpus->n; i++) {
		struct perf_cpu *cpu = cpus->open[i];

		cpus->sources[cpus->nsources++] = &cpu->events.source;
		if (cpu->stacks.pages)
			cpus->sources[cpus->nsources++] = &cpu->stacks.source;
		cpus->polls[1 + i] =
			(struct pollfd){.fd = cpu->fds[EVENT_SWITCH], .events = POLLIN};
	}
}

int perf_cpus_open(struct perf_cpus *cpus, const char **what)
{
	int err;

	*what = ONLINE;
	if (!cpu_list_read(ONLINE, cpus->listed, TT_MAX_CPUS))
		return -ENOENT;
	err = open_listed(cpus, what);
	list_rings(cpus);
	return err || cpus->n ? err : -ENODEV;
}

/* Those that went since the look before. Returns whether any did. What it did last may still be to be read. */
static bool find_gone(struct perf_cpus *cpus, const bool listed[TT_MAX_CPUS])
{
	bool any = false;

	for (int i = 0; i < cpus->n; i++) {
		struct perf_cpu *cpu = cpus->open[i];

		cpu->gone = !listed[cpu->cpu] ||
			    !event_clock_runs(cpu->fds[EVENT_SWITCH], &cpu->enabled_ns);
		any |= cpu->gone;
	}
	return any;
}

/* The kernel writes no more into the rings of a CPU that went, also when it is back. */
static void close_gone(struct perf_cpus *cpus)
{
	int kept = 0;

	for (int i = 0; i < cpus->n; i++) {
		if (cpus->open[i]->gone)
			close_one(cpus->open[i]);
		else
			cpus->open[kept++] = cpus->open[i];
	}
	cpus->n = kept;
}

bool perf_cpus_follow(struct perf_cpus *cpus, int *first)
{
	bool listed[TT_MAX_CPUS];
	const char *what = "";
	int err, before = cpus->n;

	if (!cpu_list_read(ONLINE, listed, TT_MAX_CPUS))
		return false;
	close_gone(cpus);
	*first = cpus->n;
	if (!find_gone(cpus, listed) && cpus->n == before &&
	    !memcmp(cpus->listed, listed, sizeof(listed)))
		return false;
	memcpy(cpus->listed, listed, sizeof(listed));
	err = open_listed(cpus, &what);
	if (err)
		msg_debug("%s of a CPU that came online: %s", what, strerror(-err));
	list_rings(cpus);
	return true;
}

void perf_cpus_close(struct perf_cpus *cpus)
{
	for (int i = 0; i < cpus->n; i++)
		close_one(cpus->open[i]);
	cpus->n = cpus->nsources = 0;
}
