/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the host did by time: the CPUs of the machine and the threads of the target. Filled by
 * src/probe/machine/host_watch.c during a run. Unknown is NAN.
 */
#ifndef TEGRATRACE_HOST_SERIES_H
#define TEGRATRACE_HOST_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "session/waits.h"

#define HOST_CPUS  32	/* CPUs of a higher number are not in the series */
#define HOST_LIMIT 8192 /* points */

/* Of the time from t_ns - span_ns to t_ns; "CPUs" and "threads" are means over it. */
struct host_point {
	int64_t t_ns; /* since the window's begin */
	int64_t span_ns;
	/* Every float of a point, so that means are taken in one loop. */
	float oncpu_cpus;      /* used by the target */
	float runq_threads;    /* waiting for a CPU */
	float stopped_threads; /* stopped or traced */
	/*
	 * Asleep, by what they waited for. That is known when a sleep is over: while the run goes on,
	 * what is not over yet is WAIT_OTHER. In the end it is what the threads' accounts have.
	 */
	float off_threads[WAIT_CLASSES];
	float minor_faults_per_s, major_faults_per_s;
	float read_bytes_per_s, write_bytes_per_s; /* of block devices, by the target */
	float cpu_busy[HOST_CPUS];		   /* share 0-1, by number; NAN: there is none */
};

/*
 * Points in order of time. When HOST_LIMIT is reached neighbours are merged, weighed by their
 * spans, and from then on each point is made of more of what is added: memory is bounded.
 */
struct host_series {
	struct host_point *points;
	size_t n;
	unsigned int merged; /* points added that make one point kept */
	struct host_point pending;
	unsigned int pending_n;
};

void host_point_init(struct host_point *point);

/* Returns 0 or -ENOMEM. */
int host_series_add(struct host_series *series, const struct host_point *point);

/* Makes a point of what waits to be merged. Returns 0 or -ENOMEM. */
int host_series_flush(struct host_series *series);
void host_series_free(struct host_series *series);

#endif
