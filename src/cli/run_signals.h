/* SPDX-License-Identifier: GPL-2.0-only */
/* The signals of a run, as something to poll. */
#ifndef TEGRATRACE_RUN_SIGNALS_H
#define TEGRATRACE_RUN_SIGNALS_H

#include <stdbool.h>

/*
 * A descriptor for SIGINT, SIGTERM, SIGCHLD and, unless the caller ignores it, SIGHUP, which are blocked
 * from here on; -1 when there is none to be had, which is said.
 */
int run_signals_open(void);

/* Takes what came. True when one asks for the end: the next SIGINT ends the program at once. */
bool run_signals_read(int fd);

#endif
