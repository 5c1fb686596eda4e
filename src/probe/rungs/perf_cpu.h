/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's tracepoint events and its two rings: of the events, and of the callchains of threads that
 * go to sleep. Private to src/probe.
 */
#ifndef TEGRATRACE_PERF_CPU_H
#define TEGRATRACE_PERF_CPU_H

#include "probe/rungs/perf_events.h"
#include "probe/rungs/perf_merge.h"

/* A ring that the kernel fills. */
struct perf_buffer {
	void *pages;  /* NULL = none */
	size_t bytes; /* mapped */
	struct event_source source;
};

struct perf_cpu {
	int cpu;
	bool gone;	      /* it writes no more: see perf_cpus.h */
	uint64_t enabled_ns;  /* that of EVENT_SWITCH: see event_clock.h */
	int fds[EVENT_KINDS]; /* -1 = not open; that of EVENT_SWITCH has the ring */
	struct perf_buffer events;
	int stacks_fd;	    /* has the ring of callchains; -1 = none */
	int stack_event_fd; /* -1 = none now */
	struct perf_buffer stacks;
};

struct perf_cpu_settings {
	const struct event_formats *formats;
	size_t ring_bytes; /* a power of two */
	bool stacks;
	char *scratch; /* PERF_RECORD_MAX bytes, shared */
};

/*
 * The events are open but not enabled. Returns 0; -ENODEV when the CPU is not online, another -errno;
 * then *what is the event that failed. perf_cpu_close() is due in any case.
 */
int perf_cpu_open(struct perf_cpu *cpu, int number, const struct perf_cpu_settings *settings,
		  const char **what);
void perf_cpu_close(struct perf_cpu *cpu);

void perf_cpu_enable(const struct perf_cpu *cpu);
void perf_cpu_disable(const struct perf_cpu *cpu);

/* Callchains of switches that this filter of tracefs lets pass, from now on; NULL: none. */
int perf_cpu_walk(struct perf_cpu *cpu, const struct event_formats *formats, const char *filter);

/* Before and after reading: how far it is filled, and how far it may be written again. */
void perf_buffer_begin(struct perf_buffer *buffer);
void perf_buffer_end(struct perf_buffer *buffer);

#endif
