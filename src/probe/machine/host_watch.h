/* SPDX-License-Identifier: GPL-2.0-only */
/* Fills the session's host series while the run goes on. */
#ifndef TEGRATRACE_HOST_WATCH_H
#define TEGRATRACE_HOST_WATCH_H

#include "probe/targets/live_threads.h"
#include "probe/waits/waits.h"
#include "session/session.h"

struct host_watch;

/* Keeps the pointers. NULL when out of memory. */
struct host_watch *host_watch_new(struct live_threads *live, struct waits *waits);
void host_watch_free(struct host_watch *watch);

/* Reads what the first point is compared with; the threads are seeded. */
void host_watch_prepare(struct host_watch *watch);
void host_watch_begin(struct host_watch *watch, int64_t begin_ns);

/* After live_threads_tick(); adds a point when half a second has passed. */
void host_watch_tick(struct host_watch *watch, int64_t now_ns, struct host_series *series);

/* The window ended: what is left of it becomes the last point. */
void host_watch_end(struct host_watch *watch, int64_t end_ns, struct host_series *series);

#endif
