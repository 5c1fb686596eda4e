/* SPDX-License-Identifier: GPL-2.0-only */
/* Names for what ended a wait. They must be asked while the waker lives. Private to src/probe. */
#ifndef TEGRATRACE_WAKERS_H
#define TEGRATRACE_WAKERS_H

#include <stdbool.h>
#include <sys/types.h>

#include <linux/types.h>

#include "abi.h"
#include "probe/tracer.h"
#include "session/session.h"

struct waker {
	enum waker_kind kind;
	pid_t pid, tid; /* 0 = no task or unknown */
	char name[48];	/* sanitised; empty = unknown */
};

/* `by_name`: threads of one name are the same, as in a row that several threads share. */
bool wakers_same(const struct waker *a, const struct waker *b, bool by_name);

struct wakers;

/* NULL when out of memory. Keeps the pointers. */
struct wakers *wakers_new(const struct tracer *tracer, const struct session *session);
void wakers_free(struct wakers *wakers);

/* A tid may be another task's by now: forget what was asked. */
void wakers_forget(struct wakers *wakers);

/* A thread of the target that has ended: its name holds for those that it woke last. */
void wakers_note_ended(struct wakers *wakers, pid_t pid, pid_t tid, const char comm[TT_COMM_LEN]);

/*
 * A waker without a name may have ended in the same pass as its waiter's account was closed, and been
 * noted after: ask once more when all are closed.
 */
void wakers_name_late(const struct wakers *wakers, struct waker *waker);

/* `value`: the kernel's note of a waker that may be gone; NULL = none. `id` is a TT_WAKER. */
void wakers_name(struct wakers *wakers, __u32 id, const struct tt_edge *value, struct waker *waker);

#endif
