/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report on a log has in place of the thread table: phases and the checklist. */
#include "report/text/text_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define TEXT 256

/* Corrected for the lag of the sensor; "raw" where that cannot be done. */
static void append_power(char *text, const struct phase_verdict *phase)
{
	bool raw = isnan(phase->power_mw);
	double mw = raw ? phase->power_raw_mw : phase->power_mw;

	if (!isnan(mw))
		text_appendf(text, TEXT, " %5.1f W%s", mw / 1000, raw ? " raw" : "");
}

static void phase_line(struct lines *lines, const struct phase_verdict *phase, bool first)
{
	char text[TEXT], from[32], to[32];

	text_duration(from, sizeof(from), phase->start_ns);
	text_duration(to, sizeof(to), phase->end_ns);
	snprintf(text, sizeof(text), "%-8s %6" PRId64 " lines  %-22s", phase->name, phase->samples,
		 verdict_class_name(phase->class));
	append_power(text, phase);
	if (phase->start_ns != UNKNOWN_NS)
		text_appendf(text, sizeof(text), "  %s - %s", from, to);
	lines_label(lines, first ? "phases" : "", text, 1);
}

/* Is it among the `room` longest? */
static bool is_shown(const struct verdict *verdict, int i, size_t room)
{
	size_t before = 0;

	for (int k = 0; k < verdict->nphases; k++) {
		int64_t more = verdict->phases[k].samples - verdict->phases[i].samples;

		before += more > 0 || (!more && k < i);
	}
	return before < room;
}

void text_phases(struct lines *lines, const struct verdict *verdict, size_t room)
{
	int left_out = 0;
	bool first = true;

	if ((size_t)verdict->nphases > room)
		room = room > 3 ? room - 2 : 1; /* for the steady one and those left out */
	for (int i = 0; i < verdict->nphases; i++) {
		bool steady = !strcmp(verdict->phases[i].name, "steady");

		if (!steady && !is_shown(verdict, i, room)) {
			left_out++;
			continue;
		}
		phase_line(lines, &verdict->phases[i], first);
		first = false;
	}
	if (left_out)
		lines_addf(lines, "            and %d more (-v)", left_out);
}

void text_checklist(struct lines *lines, const struct verdict *verdict)
{
	static const char *const results[] = {
		[CHECK_PASS] = "pass",
		[CHECK_FAIL] = "FAIL",
		[CHECK_UNKNOWN] = "?",
	};
	char text[TEXT];

	for (int i = 0; i < verdict->nchecks && i < VERDICT_CHECKS; i++) {
		const struct check *check = &verdict->checks[i];

		snprintf(text, sizeof(text), "%-4s  %s: %s", results[check->result], check->name,
			 check->text);
		lines_label(lines, i ? "" : "checklist", text, 2);
	}
}

void text_log(struct lines *lines, const struct verdict *verdict, size_t max_lines)
{
	struct lines checks = {0};

	text_checklist(&checks, verdict);
	text_phases(lines, verdict, max_lines > checks.n ? max_lines - checks.n : 1);
	lines_move(lines, &checks);
}
