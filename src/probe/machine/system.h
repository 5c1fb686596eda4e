/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine beside the target: CPU use, and what tracing itself costs. */
#ifndef TEGRATRACE_SYSTEM_H
#define TEGRATRACE_SYSTEM_H

#include "probe/tracer.h"
#include "session/session.h"

struct system_watch;

struct system_watch *system_watch_new(void);
void system_watch_free(struct system_watch *watch);

/* The window begins: remember /proc/stat, and count program runs for a short while. */
void system_watch_begin(struct system_watch *watch, const struct tracer *tracer, int64_t now_ns);

/* Stop counting once it has gone on long enough; call a few times a second. */
void system_watch_tick(struct system_watch *watch, const struct tracer *tracer, int64_t now_ns);

/* The window ended: cpus and overhead of the session. */
void system_watch_end(struct system_watch *watch, const struct tracer *tracer, int64_t now_ns,
		      struct session *session);

#endif
