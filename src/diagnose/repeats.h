/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several runs of one command side by side: median and spread of what was measured, and whether all
 * came to the same verdict. Pure.
 */
#ifndef TEGRATRACE_REPEATS_H
#define TEGRATRACE_REPEATS_H

#include <stdbool.h>

#include "diagnose/verdict.h"
#include "session/session.h"

#define REPEATS_MAX 100

enum repeat_end {
	REPEAT_WHOLE,	    /* counts */
	REPEAT_FAILED,	    /* the command did; the rest is told, and does not count */
	REPEAT_INTERRUPTED, /* by a signal to us */
	REPEAT_UNREAD,	    /* nothing is known of it */
};

enum repeat_quantity {
	REPEAT_TIME,	   /* s, of the window */
	REPEAT_ITERATIONS, /* a second */
	REPEAT_ITERATION,  /* s, mean */
	REPEAT_SHARE,	   /* of the limit, 0-1 */
	REPEAT_GPU,	   /* busy, 0-1 */
	REPEAT_QUANTITIES,
};

/* NAN unknown. */
struct repeat_run {
	enum repeat_end end;
	int exit_status; /* of the command as a shell says it; -1: it went on, or was ended by us */
	double value[REPEAT_QUANTITIES];
	enum verdict_class class;
	double confidence;
};

/* What a session and its verdict say. */
void repeat_run_of(const struct session *session, const struct verdict *verdict,
		   struct repeat_run *run);

/* Of the runs that count; NAN without one. With an even number the mean of the two in the middle. */
struct repeat_stat {
	int n; /* in which it is known */
	double median, min, max;
};

struct repeats {
	int counted;
	struct repeat_stat stat[REPEAT_QUANTITIES];
	int classes[VERDICT_CLASSES]; /* runs that came to it */
	enum verdict_class most;      /* the commonest, the first one of equals */
	bool same;		      /* all did; false without one */
	double confidence_min, confidence_max;
	int middle; /* index of the run whose time is nearest to the median; -1 without one */
};

void repeats_summarise(const struct repeat_run *runs, int n, struct repeats *out);

#endif
