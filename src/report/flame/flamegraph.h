/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The folded stacks as one picture (SVG): on- and off-CPU time, widths are microseconds, colours
 * tell what kind of time it is. It needs nothing but itself.
 */
#ifndef TEGRATRACE_REPORT_FLAMEGRAPH_H
#define TEGRATRACE_REPORT_FLAMEGRAPH_H

#include <stdio.h>

#include "diagnose/verdict.h"
#include "session/session.h"

/* Returns 0, -ENOMEM, or -errno of a failed write. */
int report_flamegraph_write(FILE *out, const struct session *session,
			    const struct verdict *verdict);

#endif
