/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The moments themselves (--timeline): every interval that each thread spent in one state, the
 * target's block requests, page faults and CUDA calls. Filled by src/probe/, in about the order of
 * their ends; times are since the window's begin. Where none was lost they add up to the accounts,
 * intervals of threads without unknown_ns and all others, to the nanosecond.
 */
#ifndef TEGRATRACE_SESSION_TIMELINE_H
#define TEGRATRACE_SESSION_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/block_io.h"
#include "session/waits.h"

/* As the parts of struct thread_account. */
enum slice_state {
	SLICE_UNKNOWN,
	SLICE_ONCPU,
	SLICE_RUNQ_WAKE,
	SLICE_RUNQ_PREEMPT,
	SLICE_STOPPED,
	SLICE_OFF_DISK,
	SLICE_OFF_OTHER,
	SLICE_STATES,
};

/* "oncpu", "runq-wake", ...; for people: "Running", "Runnable", ... */
const char *slice_state_name(enum slice_state state);
const char *slice_state_title(enum slice_state state);

struct timeline_slice {
	int64_t start_ns; /* since the window's begin */
	int64_t ns;
	pid_t pid, tid;
	enum slice_state state;
	int cpu;		    /* where it ended; -1 at the window's end */
	enum waker_kind waker_kind; /* who ended a sleep; WAKER_NONE: no sleep, or not seen */
	uint32_t waker;		    /* tid, or number of the interrupt */
};

/* A request that completed in the window and was issued in it; `pid` and `tid` submitted it. */
struct timeline_request {
	int64_t issue_ns;
	int64_t queue_ns;  /* before the issue; unknown when that began before the window */
	int64_t device_ns; /* after it */
	int64_t bytes;
	pid_t pid, tid;
	enum block_op op;
	char device[32]; /* as in struct block_row */
};

/* One major fault, when it was over (ns 0), or several minor ones of about a millisecond. */
struct timeline_fault {
	int64_t start_ns, ns;
	int64_t count;
	pid_t pid, tid;
	bool major;
};

/* The part of a call inside the window; or queries of a loop, with the time between them. */
struct timeline_call {
	int64_t start_ns, ns;
	int64_t bytes; /* 0: it copies none, or does not say how many */
	pid_t pid, tid;
	int kind;	/* as cuda_summary.kinds */
	uint32_t calls; /* more than 1 only of queries */
};

#define TIMELINE_LIMIT 4194304 /* rows of one kind */

struct timeline {
	struct timeline_slice *slices;
	size_t n;
	struct timeline_request *requests;
	size_t nrequests;
	struct timeline_fault *faults;
	size_t nfaults;
	struct timeline_call *calls;
	size_t ncalls;
	/* While it is filled. */
	size_t limit_bytes; /* 0 = none */
	int64_t left_out;   /* beyond the limit, or out of memory */
};

/* A copy is added, or counted as left out. */
void timeline_add_slice(struct timeline *timeline, const struct timeline_slice *slice);
void timeline_add_request(struct timeline *timeline, const struct timeline_request *request);
void timeline_add_fault(struct timeline *timeline, const struct timeline_fault *fault);
void timeline_add_call(struct timeline *timeline, const struct timeline_call *call);

void timeline_free(struct timeline *timeline);

#endif
