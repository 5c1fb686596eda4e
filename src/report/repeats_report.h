/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known at the end of a job of one or several runs, for its text and its JSON. */
#ifndef TEGRATRACE_REPORT_REPEATS_REPORT_H
#define TEGRATRACE_REPORT_REPEATS_REPORT_H

#include "diagnose/repeats.h"

/* Paths as they are: hostile. */
struct repeat_files {
	const char *recording;
	const char *page; /* NULL: none */
};

struct repeats_report {
	char *const *command;
	const struct repeat_run *runs;
	int n, asked;			  /* runs that were measured, and were to be */
	const struct verdict *shown;	  /* whose checklist is printed; NULL: none */
	int shown_number;		  /* its run, from 1 */
	const struct repeat_files *files; /* of each run */
	const char *more;		  /* another sentence about the files; empty: none */
};

#endif
