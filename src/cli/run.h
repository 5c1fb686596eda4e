/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_RUN_H
#define TEGRATRACE_RUN_H

#include <stdbool.h>

#include "cli/options.h"

/* Trace, diagnose, report. Returns the exit status; *measured tells whether there was a window. */
int run_trace(const struct options *options, bool *measured);

#endif
