/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command run again and again: first unmeasured, then measured, each time by a child of its own
 * that is a whole live run. So whatever ends a measurement, this process goes on to put the clocks
 * back, and what one run left in memory is not the next one's.
 */
#ifndef TEGRATRACE_RUN_SERIES_H
#define TEGRATRACE_RUN_SERIES_H

#include <signal.h>
#include <stdint.h>

#include "cli/kin.h"
#include "cli/run_files.h"
#include "diagnose/repeats.h"
#include "tegra/clock_lock.h"

struct run_series {
	const struct run_files *files;
	int warmups;	    /* whole runs before */
	int64_t warmups_ns; /* or runs for that time, the last one cut short; 0: none */
	int repeat;
	struct clock_lock *lock; /* the children leave it alone */
	sigset_t before;	 /* signals that were blocked before run_series_block() */
	struct kin kin;		 /* of the commands; opened by the caller */

	struct repeat_run runs[REPEATS_MAX];
	int n;	    /* runs that were measured */
	int signal; /* that asked for the end; 0 */
};

/* From here on signals that end programs only end the series. */
void run_series_block(struct run_series *series);

/* And from here on programs again. One that came too late to be seen is taken. */
void run_series_unblock(struct run_series *series);

/* Both return an exit status: of tegratrace, or the command's that failed. */
int run_series_warm_up(struct run_series *series);
int run_series_measure(struct run_series *series);

#endif
