/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals that are ignored or blocked stay so over exec(): what whoever started us had set is neither
 * to break our own waiting nor to be lost to a command that we start.
 */
#ifndef TEGRATRACE_CALLER_SIGNALS_H
#define TEGRATRACE_CALLER_SIGNALS_H

#include <stdbool.h>

/* Once, before anything else: remembers them and sets ours. */
void caller_signals_replace(void);

/* In a child that is about to become the user's command. */
void caller_signals_put_back(void);

/* As nohup has it: the end of the terminal is not to end the run. */
bool caller_ignores_hangup(void);

#endif
