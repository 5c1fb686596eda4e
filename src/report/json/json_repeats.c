/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json/json_repeats.h"

#include <string.h>

#include "report/json/json_values.h"

static const char *const quantities[REPEAT_QUANTITIES] = {
	[REPEAT_TIME] = "time_s",	    [REPEAT_ITERATIONS] = "iterations_per_s",
	[REPEAT_ITERATION] = "iteration_s", [REPEAT_SHARE] = "share",
	[REPEAT_GPU] = "gpu_busy",
};

static const char *const ends[] = {
	[REPEAT_WHOLE] = "whole",
	[REPEAT_FAILED] = "failed",
	[REPEAT_INTERRUPTED] = "interrupted",
	[REPEAT_UNREAD] = "unread",
};

static json_t *run_json(const struct repeats_report *report, int i)
{
	const struct repeat_run *run = &report->runs[i];
	bool known = run->end != REPEAT_UNREAD;
	json_t *object = json_object();

	json_put(&object, "number", json_integer(i + 1));
	json_put(&object, "end", json_string(ends[run->end]));
	json_put(&object, "exit_status",
		 known && run->exit_status >= 0 ? json_integer(run->exit_status) : json_null());
	json_put(&object, "class",
		 known ? json_string(verdict_class_name(run->class)) : json_null());
	json_put(&object, "confidence", known ? json_number(run->confidence) : json_null());
	for (int q = 0; q < REPEAT_QUANTITIES; q++)
		json_put(&object, quantities[q], known ? json_number(run->value[q]) : json_null());
	json_put(&object, "recording", json_text(report->files[i].recording));
	json_put(&object, "page",
		 report->files[i].page ? json_text(report->files[i].page) : json_null());
	return object;
}

static json_t *stat_json(const struct repeat_stat *stat)
{
	json_t *object = json_object();

	json_put(&object, "runs", json_integer(stat->n));
	json_put(&object, "median", json_number(stat->median));
	json_put(&object, "min", json_number(stat->min));
	json_put(&object, "max", json_number(stat->max));
	return object;
}

/* Of the runs that count. Shares of different limits are no two values of one thing. */
static json_t *compared_json(const struct repeats *repeats)
{
	json_t *object = json_object(), *classes = json_object();

	json_put(&object, "runs", json_integer(repeats->counted));
	json_put(&object, "same_class", json_boolean(repeats->same));
	for (int class = 0; class < VERDICT_CLASSES; class ++) {
		if (repeats->classes[class])
			json_put(&classes, verdict_class_name((enum verdict_class) class),
				 json_integer(repeats->classes[class]));
	}
	json_put(&object, "classes", classes);
	json_put(&object, "confidence_min", json_number(repeats->confidence_min));
	json_put(&object, "confidence_max", json_number(repeats->confidence_max));
	json_put(&object, "middle_run",
		 repeats->middle >= 0 ? json_integer(repeats->middle + 1) : json_null());
	for (int q = 0; q < REPEAT_QUANTITIES; q++) {
		bool alike = q != REPEAT_SHARE || repeats->same;

		json_put(&object, quantities[q],
			 alike ? stat_json(&repeats->stat[q]) : json_null());
	}
	return object;
}

static json_t *repeats_json(const struct repeats_report *report)
{
	json_t *object = json_object(), *command = json_array(), *runs = json_array();
	struct repeats repeats;

	repeats_summarise(report->runs, report->n, &repeats);
	for (char *const *word = report->command; *word; word++)
		json_push(&command, json_bytes(*word, strlen(*word)));
	for (int i = 0; i < report->n; i++)
		json_push(&runs, run_json(report, i));
	json_put(&object, "schema", json_string("tegratrace-summary/1"));
	json_put(&object, "command", command);
	json_put(&object, "asked", json_integer(report->asked));
	json_put(&object, "runs", runs);
	json_put(&object, "compared", compared_json(&repeats));
	return object;
}

int report_repeats_json_write(FILE *out, const struct repeats_report *report)
{
	return json_write_line(out, repeats_json(report));
}
