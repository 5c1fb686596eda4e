/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_CLOCK_H
#define TEGRATRACE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* What a clock that cannot fail reads: CLOCK_MONOTONIC, CLOCK_BOOTTIME, of CPU time. */
static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

#endif
