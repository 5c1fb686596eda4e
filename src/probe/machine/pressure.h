/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the machine and the targets' cgroups were short of over the window. User space only: a few
 * small files at its begin and end, and once a second between. Every function takes NULL.
 */
#ifndef TEGRATRACE_PRESSURE_PROBE_H
#define TEGRATRACE_PRESSURE_PROBE_H

#include <stdint.h>
#include <sys/types.h>

#include "session/session.h"

struct pressure_watch;

/* All files below `root`, "" in use. NULL when out of memory. */
struct pressure_watch *pressure_watch_open(const char *root);
void pressure_watch_free(struct pressure_watch *watch);

/*
 * Watch the limits of the cgroups that a process is in, from now on. To be repeated: a process
 * that has moved is watched where it is now. One that has ended is ignored.
 */
void pressure_watch_add(struct pressure_watch *watch, pid_t pid);

/* The window begins. */
void pressure_watch_begin(struct pressure_watch *watch, int64_t now_ns);

/* True when a tick is due: add the processes of now, then call it. */
bool pressure_watch_due(const struct pressure_watch *watch, int64_t now_ns);
void pressure_watch_tick(struct pressure_watch *watch, int64_t now_ns);

/* The window ended: session->pressure, and what is missing to its capabilities. */
void pressure_watch_end(struct pressure_watch *watch, int64_t now_ns, struct session *session);

#endif
