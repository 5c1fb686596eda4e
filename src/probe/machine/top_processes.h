/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes of the whole machine used CPU time: two passes over /proc. */
#ifndef TEGRATRACE_TOP_PROCESSES_H
#define TEGRATRACE_TOP_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/session.h"

struct top_watch;

/* Takes the first pass; NULL when out of memory or without /proc. */
struct top_watch *top_watch_begin(int64_t now_ns);
void top_watch_free(struct top_watch *watch);

/*
 * Takes the second pass: session->top_processes, those that is_target tells of left out. A process
 * that ended in the window is not seen; one that began in it counts from its start. NULL is fine.
 */
void top_watch_end(struct top_watch *watch, int64_t now_ns, bool (*is_target)(void *ctx, pid_t pid),
		   void *ctx, struct session *session);

#endif
