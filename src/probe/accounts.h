/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the kernel's records to the session's thread accounts: seeding the targets' threads,
 * draining the dead ones during the run, and closing all accounts at the end of the window.
 */
#ifndef TEGRATRACE_ACCOUNTS_H
#define TEGRATRACE_ACCOUNTS_H

#include "probe/targets/targets.h"
#include "probe/tracer.h"
#include "session/session.h"

struct accounts;

/* Keeps the pointers; `session` receives the accounts. NULL when out of memory. */
struct accounts *accounts_new(struct tracer *tracer, struct session *session);
void accounts_free(struct accounts *accounts);

/*
 * Another probe that keeps data by slot: called once for each slot of a thread whose account is
 * being closed, before the slot is used again. It adds what it has to the account and zeroes it.
 */
typedef void (*accounts_close_fn)(void *ctx, uint32_t slot, struct thread_account *account);

/* Returns 0 or -ENOSPC. */
int accounts_on_close(struct accounts *accounts, accounts_close_fn fn, void *ctx);

/* An account that has become, or become part of, row `row` of session.threads. */
struct kept_account {
	const struct tracer_slots *slots;
	const struct tt_thread
		*record; /* as it was at the end, before its last interval was closed */
	size_t row;
	int64_t asleep_ns; /* of a sleep that was not over at the end; 0 = none */
};

typedef void (*accounts_kept_fn)(void *ctx, const struct kept_account *kept);

/* One listener; called after the close functions. */
void accounts_on_kept(struct accounts *accounts, accounts_kept_fn fn, void *ctx);

/*
 * One listener for threads found asleep when the window begins (`at_end` false) and when it ends:
 * where they sleep can only be asked then.
 */
typedef void (*accounts_asleep_fn)(void *ctx, uint32_t slot, pid_t pid, pid_t tid, bool at_end);
void accounts_on_asleep(struct accounts *accounts, accounts_asleep_fn fn, void *ctx);

/*
 * Seed every thread of the targets (and of their descendants with `follow`) until a whole pass
 * finds no new one. Returns the number of threads seeded by this call, or -errno.
 */
int accounts_seed(struct accounts *accounts, const struct target_set *targets, bool follow);

/* Read the kernel's own books of every seeded thread; call shortly before the window begins. */
void accounts_take_baseline(struct accounts *accounts);

/* The window began; from now on threads that end may be drained. */
void accounts_begin(struct accounts *accounts, int64_t begin_ns);

/* Threads and, with `follow`, processes whose birth was missed, which live: see adoption_tick(). */
void accounts_adopt(struct accounts *accounts, int64_t now_ns);

/* Take the closed records out of the kernel; call a few times a second. */
void accounts_drain(struct accounts *accounts);

/* Threads traced now and not closed. */
int accounts_living(const struct accounts *accounts);

/*
 * A rung that polls sees no single delay, and of a thread that has ended no count of switches: then
 * they become unknown.
 */
void accounts_forget_unseen(const struct tracer *tracer, struct thread_account *account);

/*
 * After end_ns has passed: read the kernel's books of the living, detach the programs, close all
 * accounts and the loss counters in the session.
 */
void accounts_finish(struct accounts *accounts, int64_t end_ns);

#endif
