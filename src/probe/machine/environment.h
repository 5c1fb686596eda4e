/* SPDX-License-Identifier: GPL-2.0-only */
/* What this machine lacks or hides that a measurement or a later question would want. */
#ifndef TEGRATRACE_ENVIRONMENT_H
#define TEGRATRACE_ENVIRONMENT_H

#include <stdbool.h>

#include "session/session.h"

/* One thing that was looked at. */
struct finding {
	const char *what;
	bool ok;
	char text[192]; /* what it is, or why not and the remedy */
};

#define FINDINGS 12

/* Returns the number of findings; none is fatal by itself. */
int environment_check(struct finding findings[FINDINGS]);

/* Add one thing that is missing; dropped when the list is full. */
void capability_add(struct capability *capability, const char *what, const char *why);

/* Add the findings that are not ok. */
void environment_report(struct capability *capability);

#endif
