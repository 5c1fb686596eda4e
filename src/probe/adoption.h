/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads and processes of the target whose birth was missed, found in /proc and traced from then on. */
#ifndef TEGRATRACE_ADOPTION_H
#define TEGRATRACE_ADOPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/tracer.h"

/* All zero but the tracer is a good start. */
struct adoption {
	struct tracer *tracer;
	bool follow;	  /* children too */
	int64_t begin_ns; /* of the window; 0 = not yet */
	int64_t next_ns;
	int64_t descend_ns; /* when to look for processes next */
	int64_t now_ns, boottime_ns;
};

/*
 * Looks once a second for threads of the traced processes, and as often, or less where that takes
 * long, for the processes that they started. What one did until it was found is unknown.
 */
void adoption_tick(struct adoption *adoption, int64_t now_ns);

#endif
