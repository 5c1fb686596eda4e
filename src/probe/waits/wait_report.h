/* SPDX-License-Identifier: GPL-2.0-only */
/* From kinds of sleep to the session's classes, edges and stacks. Private to src/probe. */
#ifndef TEGRATRACE_WAIT_REPORT_H
#define TEGRATRACE_WAIT_REPORT_H

#include "probe/symbols/kernel_stacks.h"
#include "probe/waits/fd_names.h"
#include "probe/waits/raw_waits.h"
#include "probe/waits/wait_rules.h"
#include "probe/waits/site_sampler.h"
#include "probe/symbols/user_stacks.h"
#include "session/session.h"

/*
 * Judge every raw wait; move its time from WAIT_OTHER of its row to its class; make edges and
 * stacks. Returns 0 or -ENOMEM.
 */
struct wait_sources {
	const struct tracer *tracer;	  /* has the stacks */
	const struct site_sampler *sites; /* NULL where system calls are seen */
	struct fd_names *files;
	const struct user_stacks *user_stacks;
};

/* One alone. Without the functions of its stack (n 0) some are WAIT_OTHER, or what their waker tells. */
void wait_report_judge(const struct raw_wait *wait, const struct kernel_stack *stack,
		       struct wait_judgement *judgement);

int wait_report_fill(struct session *session, struct raw_waits *raw,
		     const struct wait_sources *sources);

#endif
