/* SPDX-License-Identifier: GPL-2.0-only */
/* Page faults of the target, by thread and mapping. Filled by src/probe/samples/faults.c. */
#ifndef TEGRATRACE_FAULTS_H
#define TEGRATRACE_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Faults of one thread in one mapping. */
struct fault_site {
	pid_t pid, tid; /* tid 0: exited threads of this group */
	char group[32];
	char mapping[160]; /* path, "[heap]", "[stack]", "[anon]"; "[unknown]" when it was gone */
	char kind[12];	   /* "file", "heap", "stack", "anonymous", "shared", "device", ... */
	int64_t minor, major;
};

#define FAULT_SERIES_LIMIT 3600 /* points */

struct fault_point {
	int64_t minor, major;
};

/* Faults by time: each point is of interval_ns, which doubles when the series is full. */
struct fault_series {
	int64_t interval_ns;
	size_t n;
	struct fault_point points[FAULT_SERIES_LIMIT];
};

struct fault_summary {
	bool measured;
	int64_t minor, major;
	int64_t anonymous;	  /* minor faults of heap and anonymous memory */
	int64_t swap_ins;	  /* major faults of what only swap can back */
	int64_t file_reads;	  /* major faults of files */
	int64_t rss_growth_bytes; /* of the targets over the window; UNKNOWN_COUNT */
	struct fault_site *sites; /* most faults first, major ones weighing more */
	size_t nsites;
	struct fault_series *series; /* NULL without */
};

#endif
