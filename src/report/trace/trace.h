/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the trace formats show of a session, in one order of time: tracks of threads with their
 * states, wakeups, faults and CUDA calls, of block devices with their requests, and counters. The
 * events are made one at a time from the rows of the timeline, so memory is 4 bytes a row. Private
 * to src/report.
 */
#ifndef TEGRATRACE_REPORT_TRACE_H
#define TEGRATRACE_REPORT_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "diagnose/verdict.h"
#include "report/trace/trace_heap.h"
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

/*
 * Of a thread's track: its states, the wakeups that it causes, its faults; of its track of calls:
 * those; of a lane: requests, each with its time in the device inside; of a counter: a value.
 */
enum trace_kind {
	TRACE_BEGIN,
	TRACE_END,
	TRACE_WAKES,
	TRACE_FAULT,
	TRACE_CALL_BEGIN,
	TRACE_CALL_END,
	TRACE_REQUEST_BEGIN,
	TRACE_DEVICE_BEGIN,
	TRACE_DEVICE_END,
	TRACE_REQUEST_END,
	TRACE_COUNT,
};

struct trace_event {
	int64_t t_ns; /* since the window's begin */
	enum trace_kind kind;
	uint32_t track; /* number of the thread, lane or counter */
	uint32_t row;  /* of the timeline's rows of its kind; of TRACE_WAKES the runnable state's */
	uint32_t flow; /* that TRACE_WAKES begins and TRACE_BEGIN takes up; 0 = none */
	float value;   /* of TRACE_COUNT */
	int64_t wait_ns; /* of TRACE_FAULT: the sleep of a major one; unknown */
};

/* Rows of the timeline by track and time: those of track i are order[from], order[from + 1] ... */
struct trace_rows {
	uint32_t *order;
	struct trace_range {
		uint32_t from, n;
	} * tracks;
};

/* What a thread's sleeps that a certain waker ended were for. */
struct trace_waker {
	pid_t pid, tid; /* that slept */
	enum waker_kind kind;
	pid_t waker;	    /* 0: no thread */
	unsigned int class; /* WAIT_CLASSES: not always the same */
};

struct trace {
	const struct session *session;
	uint64_t begin_ns; /* CLOCK_MONOTONIC; 0 unknown */
	int64_t end_ns;	   /* since then */
	bool counted[TRACE_COUNTERS];
	struct trace_thread *threads;
	size_t nthreads;
	const char **lanes; /* the device of each: its requests that do not overlap */
	size_t nlanes;
	struct trace_rows slices, faults, calls; /* by thread */
	struct trace_rows requests;		 /* by lane */
	/* Private. */
	const struct trace_thread **by_tid;
	struct trace_waker *wakers;
	size_t nwakers;
	struct trace_source *sources;
	struct trace_heap heap;
	uint32_t flows;
};

/* Returns 0 or -ENOMEM. */
int trace_make(struct trace *trace, const struct session *session);
void trace_free(struct trace *trace);

/*
 * The next event by time; at the same time as they must be read. False behind the last. Rows that
 * overlap the one before on their track, as a damaged file may have, are left out.
 */
bool trace_next(struct trace *trace, struct trace_event *event);

/* Name of the process of a thread by its number: of its main thread, or of the target. */
const char *trace_process_name(const struct trace *trace, size_t thread);

/* NULL: it has no track. */
const struct trace_thread *trace_find_thread(const struct trace *trace, pid_t pid, pid_t tid);

/* What is said with an event or the end of a track; text, sanitised, or a number. */
struct trace_fact {
	const char *name, *text;
	int64_t number;
	double real;
	bool is_real;
};

#define TRACE_FACTS 32

/* Unknown ones are left out. All return their number; 0 for a thread in a folded row. */
int trace_thread_facts(const struct trace_thread *thread, struct trace_fact facts[TRACE_FACTS]);
int trace_verdict_facts(const struct trace *trace, const struct verdict *verdict,
			struct trace_fact facts[TRACE_FACTS]);
/* Of TRACE_FAULT, TRACE_CALL_BEGIN and TRACE_REQUEST_BEGIN; 0 for all others. */
int trace_event_facts(const struct trace *trace, const struct trace_event *event,
		      struct trace_fact facts[TRACE_FACTS]);

/*
 * "Running", "Sleeping (gpu)", "cuLaunchKernel", "read": of what happens, begins or ends; a counter
 * has none. A sleep has the class of the waits of this thread that were ended by the same waker, when
 * they have only one.
 */
unsigned int trace_event_name(const struct trace *trace, const struct trace_event *event);

/* The names by number, from 0; NULL behind the last. */
const char *trace_name(unsigned int number);

/* Of the making: src/report/trace/trace_rows.c and trace_names.c. Return 0 or -ENOMEM. */
int trace_find_threads(struct trace *trace);
int trace_sort_rows(struct trace *trace);
int trace_find_wakers(struct trace *trace);

#endif
