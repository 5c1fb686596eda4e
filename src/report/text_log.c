/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report on a log has in place of the thread table: phases and the checklist. */
#include "report/text_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

#define TEXT	     256
#define PHASES_SHOWN 4

static void phase_line(struct lines *lines, const struct phase_verdict *phase, bool first)
{
	char text[TEXT], from[32], to[32];

	text_duration(from, sizeof(from), phase->start_ns);
	text_duration(to, sizeof(to), phase->end_ns);
	snprintf(text, sizeof(text), "%-8s %6" PRId64 " lines  %-22s", phase->name, phase->samples,
		 verdict_class_name(phase->class));
	if (phase->start_ns != UNKNOWN_NS)
		text_appendf(text, sizeof(text), "  %s - %s", from, to);
	lines_label(lines, first ? "phases" : "", text, 1);
}

/* The steady one and the longest others, in their order. */
static bool is_shown(const struct verdict *verdict, int i, bool verbose)
{
	int longer = 0;

	if (verbose || verdict->nphases <= PHASES_SHOWN)
		return true;
	for (int k = 0; k < verdict->nphases; k++)
		longer += verdict->phases[k].samples > verdict->phases[i].samples;
	return longer < PHASES_SHOWN;
}

static void phases(struct lines *lines, const struct verdict *verdict, bool verbose)
{
	bool first = true;
	int shown = 0;

	for (int i = 0; i < verdict->nphases; i++) {
		if (!is_shown(verdict, i, verbose))
			continue;
		phase_line(lines, &verdict->phases[i], first);
		first = false;
		shown++;
	}
	if (shown < verdict->nphases)
		lines_addf(lines, "            and %d short ones (-v)", verdict->nphases - shown);
}

void text_log(struct lines *lines, const struct verdict *verdict, bool verbose)
{
	static const char *const results[] = {
		[CHECK_PASS] = "pass",
		[CHECK_FAIL] = "FAIL",
		[CHECK_UNKNOWN] = "?",
	};
	char text[TEXT];

	phases(lines, verdict, verbose);
	for (int i = 0; i < verdict->nchecks && i < VERDICT_CHECKS; i++) {
		const struct check *check = &verdict->checks[i];

		snprintf(text, sizeof(text), "%-4s  %s: %s", results[check->result], check->name,
			 check->text);
		lines_label(lines, i ? "" : "checklist", text, 1);
	}
}
