/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/option_value.h"

#include <errno.h>
#include <stdlib.h>

bool parse_whole(const char *text, long min, long max, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	return !errno && end != text && !*end && *value >= min && *value <= max;
}

long option_whole(struct argp_state *state, const char *what, const char *text, long min, long max)
{
	long value;

	if (!parse_whole(text, min, max, &value))
		argp_error(state, "%s must be a whole number from %ld to %ld, not '%s'", what, min,
			   max, text);
	return value;
}

double option_above_0(struct argp_state *state, const char *what, const char *unit,
		      const char *text, double max)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value > 0 && value <= max))
		argp_error(state, "%s must be %s above 0 and up to %.0f, not '%s'", what, unit, max,
			   text);
	return value;
}
