/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/text_repeats.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/text/text_parts.h"

#define TEXT 512

/* Four digits: runs that are compared differ in the third. */
static void four_digits(char *dst, size_t size, double value, const char *unit)
{
	snprintf(dst, size, value >= 1000 ? "%.0f%s" : "%#.4g%s", value, unit);
}

static void value_text(char *dst, size_t size, enum repeat_quantity quantity, double value)
{
	if (isnan(value))
		snprintf(dst, size, "?");
	else if (quantity == REPEAT_ITERATIONS)
		four_digits(dst, size, value, "");
	else if (quantity == REPEAT_SHARE || quantity == REPEAT_GPU)
		snprintf(dst, size, "%.1f %%", 100 * value);
	else if (value >= 1)
		four_digits(dst, size, value, " s");
	else if (value >= 1e-3)
		four_digits(dst, size, 1e3 * value, " ms");
	else
		four_digits(dst, size, 1e6 * value, " us");
}

static void quantity_line(struct lines *lines, const struct repeats *repeats,
			  enum repeat_quantity quantity)
{
	static const char *const names[REPEAT_QUANTITIES] = {
		[REPEAT_TIME] = "time",
		[REPEAT_ITERATIONS] = "iterations a second",
		[REPEAT_ITERATION] = "iteration, mean",
		[REPEAT_SHARE] = "share of the limit",
		[REPEAT_GPU] = "GPU busy",
	};
	const struct repeat_stat *stat = &repeats->stat[quantity];
	char median[32], min[32], max[32], spread[32] = "?", known[48] = "";

	/* Shares of different limits are no two values of one thing. */
	if (!stat->n || (quantity == REPEAT_SHARE && !repeats->same))
		return;
	value_text(median, sizeof(median), quantity, stat->median);
	value_text(min, sizeof(min), quantity, stat->min);
	value_text(max, sizeof(max), quantity, stat->max);
	if (stat->median > 0)
		snprintf(spread, sizeof(spread), "%.1f %%",
			 100 * (stat->max - stat->min) / stat->median);
	else if (stat->max == stat->min)
		snprintf(spread, sizeof(spread), "0.0 %%");
	if (stat->n != repeats->counted)
		snprintf(known, sizeof(known), "  known in %d", stat->n);
	lines_addf(lines, "  %-22s %12s %12s %12s %8s%s", names[quantity], median, min, max, spread,
		   known);
}

/* " in 2 (1, 3)" */
static void append_class(char *text, const struct repeats_report *report,
			 const struct repeats *repeats, enum verdict_class class)
{
	bool first = true;

	text_appendf(text, TEXT, "%s in %d (", verdict_class_name(class), repeats->classes[class]);
	for (int i = 0; i < report->n; i++) {
		if (report->runs[i].end != REPEAT_WHOLE || report->runs[i].class != class)
			continue;
		text_appendf(text, TEXT, "%s%d", first ? "run " : ", ", i + 1);
		first = false;
	}
	text_appendf(text, TEXT, ")");
}

static void agreement(struct lines *lines, const struct repeats_report *report,
		      const struct repeats *repeats)
{
	char text[TEXT] = "", which[64];
	bool first = true;

	if (repeats->counted == report->n)
		snprintf(which, sizeof(which), "%s", report->n > 1 ? "all runs" : "the one run");
	else
		snprintf(which, sizeof(which), "%s that counts",
			 repeats->counted > 1 ? "each run" : "the one run");
	if (!repeats->counted) {
		snprintf(text, sizeof(text), "no run counts");
	} else if (repeats->same) {
		snprintf(text, sizeof(text), "%s in %s, confidence %.2f",
			 verdict_class_name(repeats->most), which, repeats->confidence_min);
		if (repeats->confidence_max - repeats->confidence_min >= 0.005)
			text_appendf(text, sizeof(text), " to %.2f", repeats->confidence_max);
	} else {
		snprintf(text, sizeof(text), "the runs differ, so none of these is sure: ");
		for (int class = 0; class < VERDICT_CLASSES; class ++) {
			if (!repeats->classes[class])
				continue;
			text_appendf(text, sizeof(text), "%s", first ? "" : ", ");
			append_class(text, report, repeats, (enum verdict_class) class);
			first = false;
		}
	}
	lines_label(lines, "verdicts", text, NO_LIMIT);
}

static void run_line(struct lines *lines, const struct repeats_report *report, int i)
{
	const struct repeat_run *run = &report->runs[i];
	char text[TEXT], time[32];

	value_text(time, sizeof(time), REPEAT_TIME, run->value[REPEAT_TIME]);
	snprintf(text, sizeof(text), "%3d  %8s  ", i + 1, time);
	if (run->end == REPEAT_UNREAD)
		text_appendf(text, sizeof(text), "not known: it could not be recorded");
	else
		text_appendf(text, sizeof(text), "%s (%.2f)", verdict_class_name(run->class),
			     run->confidence);
	if (run->end == REPEAT_FAILED)
		text_appendf(text, sizeof(text), ", does not count: exit status %d",
			     run->exit_status);
	else if (run->end == REPEAT_INTERRUPTED)
		text_appendf(text, sizeof(text), ", does not count: it was interrupted");
	lines_label(lines, i ? "" : "runs", text, 2);
}

static void compare(struct lines *lines, const struct repeats_report *report)
{
	struct repeats repeats;

	repeats_summarise(report->runs, report->n, &repeats);
	agreement(lines, report, &repeats);
	if (repeats.counted) {
		lines_addf(lines, "  %-22s %12s %12s %12s %8s", "", "median", "least", "most",
			   "spread");
		for (int i = 0; i < REPEAT_QUANTITIES; i++)
			quantity_line(lines, &repeats, (enum repeat_quantity)i);
	}
	for (int i = 0; i < report->n; i++)
		run_line(lines, report, i);
	if (report->n < report->asked)
		lines_addf(lines, "            %d of %d runs were not made",
			   report->asked - report->n, report->asked);
}

static void file_line(struct lines *lines, const struct repeat_files *files, bool first)
{
	char text[2 * PATH_MAX];

	snprintf(text, sizeof(text), "%s%s%s", files->recording, files->page ? "  " : "",
		 files->page ? files->page : "");
	lines_label(lines, first ? "files" : "", text, NO_LIMIT);
}

int report_repeats_write(FILE *out, const struct repeats_report *report, bool color)
{
	struct lines lines = {0};
	int error;

	lines_addf(&lines, "%s", "");
	if (report->asked > 1) {
		compare(&lines, report);
		if (report->shown)
			lines_addf(&lines,
				   "            the report above and the checklist are of run %d",
				   report->shown_number);
	}
	if (report->shown)
		text_checklist(&lines, report->shown);
	for (int i = 0; i < report->n; i++)
		file_line(&lines, &report->files[i], !i);
	if (*report->more)
		lines_label(&lines, report->n ? "" : "files", report->more, 2);
	error = lines_write(out, &lines, color);
	lines_free(&lines);
	return error;
}
