/* SPDX-License-Identifier: GPL-2.0-only */
/* From kinds of sleep to the session's classes, edges and stacks. Private to src/probe. */
#ifndef TEGRATRACE_WAIT_REPORT_H
#define TEGRATRACE_WAIT_REPORT_H

#include "probe/raw_waits.h"
#include "session/session.h"

/*
 * Judge every raw wait; move its time from WAIT_OTHER of its row to its class; make edges and
 * stacks. `stacks_fd` is the kernel's table of stacks. Returns 0 or -ENOMEM.
 */
int wait_report_fill(struct session *session, const struct raw_waits *raw, int stacks_fd);

#endif
