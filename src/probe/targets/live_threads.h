/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads' accounts while the run goes on: what all threads did since the last look, and rows of
 * those that live. Read beside the kernel that writes them, so single rows may be off by the event
 * under way; the accounts of the report are closed elsewhere (src/probe/accounts.c) and exact.
 */
#ifndef TEGRATRACE_LIVE_THREADS_H
#define TEGRATRACE_LIVE_THREADS_H

#include "probe/tracer.h"
#include "session/session.h"

struct live_threads;

/* Keeps the pointer. NULL when out of memory. */
struct live_threads *live_threads_new(struct tracer *tracer);
void live_threads_free(struct live_threads *live);

void live_threads_begin(struct live_threads *live, int64_t begin_ns);

/*
 * Takes what has been accounted since the call before. Call it before each accounts_drain(): dead
 * records stay for one drain at least, so none is missed.
 */
void live_threads_tick(struct live_threads *live, int64_t now_ns);

/* Time of all threads by enum tt_bucket, up to the last tick. */
const int64_t *live_threads_sums_ns(const struct live_threads *live);

/* The thread that is, or was last, in a slot, and its sleep up to the last tick; zeroed: none yet. */
struct live_sleep {
	pid_t pid;
	uint32_t tid;
	uint64_t birth_ns;
	int64_t off_ns;
};

struct live_sleep live_threads_sleep(const struct live_threads *live, uint32_t slot);

/* Slots above hold none. */
uint32_t live_threads_slots(const struct live_threads *live);

/* Calls `fn` for each process that has a traced thread alive. */
typedef void (*live_process_fn)(void *ctx, pid_t pid);
void live_threads_processes(struct live_threads *live, live_process_fn fn, void *ctx);

/*
 * Accounts of the living and of those not drained yet, as of the last tick. Returns a malloc'd array
 * and its length; NULL with *n = 0 when there are none or out of memory. All sleep is WAIT_OTHER.
 */
struct thread_account *live_threads_rows(struct live_threads *live, size_t *n);

#endif
