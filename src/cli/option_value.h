/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers behind options. What is none, or out of its range, ends the process with argp's exit status. */
#ifndef TEGRATRACE_OPTION_VALUE_H
#define TEGRATRACE_OPTION_VALUE_H

#include <argp.h>
#include <stdbool.h>

/* False when the text is not a whole number from min to max, and nothing else. */
bool parse_whole(const char *text, long min, long max, long *value);

/* `what` is the option, as "--interval". */
long option_whole(struct argp_state *state, const char *what, const char *text, long min, long max);

/* Above 0, at most max; `unit` is its plural, as "seconds". */
double option_above_0(struct argp_state *state, const char *what, const char *unit,
		      const char *text, double max);

#endif
