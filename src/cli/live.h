/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page of the HTML report while the run goes on, in browsers: an HTTP server of its own thread,
 * whose viewers get the curves by server-sent events and at last the whole report. The run never
 * waits for a viewer but, at its end, VIEWERS_WAIT_MS for those that are not yet up to date.
 */
#ifndef TEGRATRACE_LIVE_H
#define TEGRATRACE_LIVE_H

#include <stdint.h>

#include "diagnose/verdict.h"
#include "session/session.h"

#define LIVE_DEFAULT "127.0.0.1"

struct live;

/*
 * `where`: ADDR, ADDR:PORT, PORT or [ADDR6]:PORT, all numbers; without a port the kernel gives one.
 * Prints the address to open. The signals of the process stay with its other threads. *live is NULL
 * without `where`. Returns an exit status.
 */
int live_open(struct live **live, const char *where);

/* From here on. All take a NULL live. */

/* The window has begun. */
void live_begin(struct live *live, const struct session *session);

/* A few times a second; sends what is new in the series about once in one. */
void live_tick(struct live *live, const struct session *session, int64_t now_ns);

/* The report. */
void live_end(struct live *live, const struct session *session, const struct verdict *verdict);
void live_close(struct live *live);

#endif
