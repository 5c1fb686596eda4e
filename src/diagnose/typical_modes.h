/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The four typical patterns that people look for in tegrastats curves: compute limit, memory wall,
 * throttling, CPU or I/O. Their usual figures are off in places, so what is said has the numbers of
 * this log beside the thresholds of the rule table, and the usual figure where that is wrong.
 */
#ifndef TEGRATRACE_TYPICAL_MODES_H
#define TEGRATRACE_TYPICAL_MODES_H

#include "diagnose/facts.h"
#include "diagnose/verdict.h"

/*
 * Which of them a verdict on a log is, 1-4, or 0: none, or not to be told; *text says why, with
 * `size` bytes of room.
 */
int typical_mode(const struct session *session, const struct facts *facts,
		 const struct verdict *verdict, char *text, size_t size);

#endif
