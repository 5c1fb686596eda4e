/* SPDX-License-Identifier: GPL-2.0-only */
/* The report for people: made to be read in a terminal and pasted into a bug report. */
#ifndef TEGRATRACE_REPORT_TEXT_H
#define TEGRATRACE_REPORT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "diagnose/verdict.h"
#include "session/session.h"

struct report_text_options {
	bool verbose; /* every thread, CPU, sensor and missing capability */
	bool explain; /* the rules that fired and those that nearly did */
	bool color;   /* ANSI escapes: the caller knows whether this is a terminal */
};

/*
 * At most 25 lines of 100 characters; verbose and explain add to that. 0, -ENOMEM, or -errno of a
 * failed write.
 */
int report_text_write(FILE *out, const struct session *session, const struct verdict *verdict,
		      const struct report_text_options *options);

#endif
