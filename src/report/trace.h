/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the trace formats show of a session, in one order of time: tracks of threads with their states,
 * wakeups, counters. Private to src/report.
 */
#ifndef TEGRATRACE_REPORT_TRACE_H
#define TEGRATRACE_REPORT_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "diagnose/verdict.h"
#include "session/session.h"

#define TRACE_NAME 64

/* A thread, of the accounts or of the timeline; by process and thread. */
struct trace_thread {
	pid_t pid, tid;
	char name[TRACE_NAME];		      /* sanitised */
	const struct thread_account *account; /* NULL: it lies in a folded row */
};

struct trace_counter {
	const char *name, *unit;
};

#define TRACE_COUNTERS 32

/* The counters by number; NULL behind the last. */
const struct trace_counter *trace_counter(unsigned int number);

enum trace_kind { TRACE_BEGIN, TRACE_END, TRACE_WAKES, TRACE_COUNT };

struct trace_event {
	int64_t t_ns; /* since the window's begin */
	enum trace_kind kind;
	uint32_t thread; /* whose track; of TRACE_COUNT the counter */
	uint32_t slice;	 /* of the timeline: for TRACE_WAKES the sleep that it ended */
	uint32_t flow;	 /* that TRACE_WAKES begins and TRACE_BEGIN takes up; 0 = none */
	float value;	 /* of TRACE_COUNT */
	uint32_t seq;
};

struct trace {
	const struct session *session;
	uint64_t begin_ns; /* CLOCK_MONOTONIC; 0 unknown */
	int64_t end_ns;	   /* since then */
	bool counted[TRACE_COUNTERS];
	struct trace_thread *threads;
	size_t nthreads;
	const struct wait_edge **edges; /* of the session, by process and thread */
	struct trace_event *events;	/* by time; at the same time as they must be read */
	size_t nevents, room;
};

/* Returns 0 or -ENOMEM. */
int trace_make(struct trace *trace, const struct session *session);
void trace_free(struct trace *trace);

/* Name of the process of a thread by its number: of its main thread, or of the target. */
const char *trace_process_name(const struct trace *trace, size_t thread);

/* What is said with the end of a track; text, sanitised, or a number. */
struct trace_fact {
	const char *name, *text;
	int64_t number;
	double real;
	bool is_real;
};

#define TRACE_FACTS 32

/* Unknown ones are left out. Both return their number; 0 for a thread in a folded row. */
int trace_thread_facts(const struct trace_thread *thread, struct trace_fact facts[TRACE_FACTS]);
int trace_verdict_facts(const struct trace *trace, const struct verdict *verdict,
			struct trace_fact facts[TRACE_FACTS]);

/*
 * "Running", "Sleeping (gpu)": a sleep has the class of the waits of this thread that were ended by
 * the same waker, when they have only one.
 */
unsigned int trace_slice_name(const struct trace *trace, const struct timeline_slice *slice);

/* The names by number, from 0; NULL behind the last. */
const char *trace_name(unsigned int number);

#endif
