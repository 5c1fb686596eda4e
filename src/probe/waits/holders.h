/* SPDX-License-Identifier: GPL-2.0-only */
/* Who had the CPU while threads waited for one: from the kernel's notes. Private to src/probe. */
#ifndef TEGRATRACE_HOLDERS_H
#define TEGRATRACE_HOLDERS_H

#include "probe/accounts.h"

struct holders;

/* NULL when out of memory. Keeps the pointers. */
struct holders *holders_new(struct tracer *tracer, const struct session *session);
void holders_free(struct holders *holders);

/* A thread's account was closed: take what was noted for its slot. */
void holders_take(struct holders *holders, const struct kept_account *kept);

/* What was read of the kernel's table is stale now. */
void holders_drained(struct holders *holders);

/* Into the session. Returns 0 or -errno of the first failure. */
int holders_finish(struct holders *holders, struct session *session);

#endif
