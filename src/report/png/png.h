/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two pictures by gnuplot, in a folder: perf_curves.png (use, clocks, temperature and power over
 * time) and, when the workload was given, roofline_analysis.png.
 */
#ifndef TEGRATRACE_REPORT_PNG_H
#define TEGRATRACE_REPORT_PNG_H

#include <stdbool.h>

#include "diagnose/verdict.h"
#include "session/session.h"

/* Whether there is a gnuplot to draw with. */
bool png_available(void);

/* What a session has no figures for is left out with a note. 0, -errno, or 1: failed and said why. */
int png_session_write(int folder, const struct session *session, const struct verdict *verdict);

#endif
