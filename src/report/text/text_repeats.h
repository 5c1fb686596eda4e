/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands at the end of a job of one or several runs: how they compare, the checklist, the files. */
#ifndef TEGRATRACE_REPORT_TEXT_REPEATS_H
#define TEGRATRACE_REPORT_TEXT_REPEATS_H

#include <stdio.h>

#include "diagnose/repeats.h"

struct repeats_report {
	const struct repeat_run *runs;
	int n, asked;		     /* runs that were measured, and were to be */
	const struct verdict *shown; /* whose checklist is printed; NULL: none */
	int shown_number;	     /* its run, from 1 */
	const char *const *files;    /* of each run; hostile */
	const char *more;	     /* another sentence about the files; empty: none */
	bool color;
};

/* 0, -ENOMEM, or -errno of a failed write. */
int report_repeats_write(FILE *out, const struct repeats_report *report);

#endif
