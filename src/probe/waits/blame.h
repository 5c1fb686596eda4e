/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who had the CPU while threads of the target waited in its run queue: names and kinds for what the
 * scheduler programs noted, waiter and holder by thread id.
 */
#ifndef TEGRATRACE_BLAME_H
#define TEGRATRACE_BLAME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/session.h"

struct blame;

/* Is a process one of the target's? May be asked for any pid, several times. */
typedef bool (*blame_target_fn)(void *ctx, pid_t pid);

/* NULL when out of memory. */
struct blame *blame_new(blame_target_fn is_target, void *ctx);
void blame_free(struct blame *blame);

/*
 * A waiter: thread `tid` of process `pid`, or tid 0 for its exited threads of the (sanitised) group.
 * A holder: `tid` 0 is the idle task; `comm`, raw and maybe empty, is its name when it was seen.
 * Entries of the same two add up. What the kernel still tells of a holder is asked at the first
 * entry that names it: call this while it lives, if possible. Returns 0 or -ENOMEM.
 */
int blame_add(struct blame *blame, pid_t waiter_pid, pid_t waiter_tid, const char *waiter_group,
	      pid_t holder_tid, const char comm[16], int64_t ns, int64_t count);

/*
 * When session->threads is complete, session->cpu_holders: waiters with the longest waits first, for each its longest holders, the
 * rest added up. Returns 0 or -ENOMEM.
 */
int blame_finish(struct blame *blame, struct session *session);

#endif
