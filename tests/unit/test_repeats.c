/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs side by side: medians, spread and agreement against values worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/repeats.h"
#include "report/text/text_repeats.h"

static struct repeat_run whole(double time_s, enum verdict_class class, double confidence)
{
	return (struct repeat_run){
		.end = REPEAT_WHOLE,
		.value = {time_s, NAN, NAN, 0.5, NAN},
		.class = class,
		.confidence = confidence,
	};
}

static void odd_and_even(void **state)
{
	struct repeat_run runs[] = {
		whole(3, VERDICT_CPU_BOUND, 0.8),
		whole(1, VERDICT_CPU_BOUND, 0.9),
		whole(8, VERDICT_CPU_BOUND, 0.7),
		whole(4, VERDICT_CPU_BOUND, 0.8),
	};
	struct repeats repeats;

	(void)state;
	repeats_summarise(runs, 3, &repeats);
	assert_int_equal(repeats.stat[REPEAT_TIME].n, 3);
	assert_true(repeats.stat[REPEAT_TIME].median == 3);
	assert_true(repeats.stat[REPEAT_TIME].min == 1);
	assert_true(repeats.stat[REPEAT_TIME].max == 8);
	assert_int_equal(repeats.middle, 0);
	assert_true(repeats.same);
	assert_true(repeats.confidence_min == 0.7 && repeats.confidence_max == 0.9);
	repeats_summarise(runs, 4, &repeats);
	assert_true(repeats.stat[REPEAT_TIME].median == 3.5);
	assert_int_equal(repeats.middle, 0);
	assert_int_equal(repeats.stat[REPEAT_ITERATIONS].n, 0);
	assert_true(isnan(repeats.stat[REPEAT_ITERATIONS].median));
}

/* A run that failed, was interrupted or is not known moves no median and no verdict. */
static void only_whole_runs_count(void **state)
{
	struct repeat_run runs[] = {
		whole(100, VERDICT_IO_BOUND, 0.1),
		whole(2, VERDICT_BALANCED, 0.5),
		whole(200, VERDICT_IO_BOUND, 0.1),
		whole(NAN, VERDICT_IO_BOUND, 0.1),
	};
	struct repeats repeats;

	(void)state;
	runs[0].end = REPEAT_FAILED;
	runs[2].end = REPEAT_INTERRUPTED;
	runs[3].end = REPEAT_UNREAD;
	repeats_summarise(runs, 4, &repeats);
	assert_int_equal(repeats.counted, 1);
	assert_true(repeats.stat[REPEAT_TIME].median == 2);
	assert_true(repeats.same);
	assert_int_equal(repeats.most, VERDICT_BALANCED);
	assert_int_equal(repeats.middle, 1);
	repeats_summarise(runs, 1, &repeats);
	assert_int_equal(repeats.counted, 0);
	assert_false(repeats.same);
	assert_int_equal(repeats.middle, -1);
}

static char *written(const struct repeats_report *report)
{
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_repeats_write(out, report, false), 0);
	fclose(out);
	return text;
}

static void differing_verdicts_are_said(void **state)
{
	struct repeat_run runs[] = {
		whole(1, VERDICT_CPU_BOUND, 0.8),
		whole(1.1, VERDICT_BALANCED, 0.5),
		whole(1.2, VERDICT_CPU_BOUND, 0.8),
	};
	const struct repeat_files files[] = {
		{"a-1.ttr", NULL}, {"a-2.ttr", "a-2.html"}, {"\033[31ma-3.ttr", NULL}};
	struct repeats_report report = {
		.runs = runs, .n = 3, .asked = 4, .files = files, .more = ""};
	struct repeats repeats;
	char *text;

	(void)state;
	repeats_summarise(runs, 3, &repeats);
	assert_false(repeats.same);
	assert_int_equal(repeats.most, VERDICT_CPU_BOUND);
	text = written(&report);
	assert_non_null(strstr(text, "the runs differ"));
	assert_non_null(strstr(text, "cpu-bound in 2 (run 1, 3)"));
	assert_non_null(strstr(text, "balanced in 1 (run 2)"));
	/* No median over shares of different limits. */
	assert_null(strstr(text, "share of the limit"));
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "a-2.ttr  a-2.html"));
	free(text);
	runs[1].class = VERDICT_CPU_BOUND;
	text = written(&report);
	assert_non_null(strstr(text, "cpu-bound in all runs"));
	assert_non_null(strstr(text, "share of the limit"));
	assert_non_null(strstr(text, "1.100 s"));
	assert_non_null(strstr(text, "18.2 %")); /* (1.2 - 1.0) / 1.1 */
	assert_non_null(strstr(text, "1 of 4 runs were not made"));
	free(text);
}

static void of_a_session(void **state)
{
	struct session session;
	struct verdict verdict = {.class = VERDICT_LOCK_BOUND, .confidence = 0.75, .share = 0.4};
	struct repeat_run run;

	(void)state;
	session_init(&session);
	session.start_ns = 1000;
	session.end_ns = 1000 + 4000000000LL;
	session.ended_by = END_TARGET_EXIT;
	session.command_status = 3 << 8;
	session.cuda.iterations.count = 100;
	session.cuda.iterations.mean_ns = 39000000;
	repeat_run_of(&session, &verdict, &run);
	assert_int_equal(run.end, REPEAT_FAILED);
	assert_int_equal(run.exit_status, 3);
	assert_true(run.value[REPEAT_TIME] == 4);
	assert_true(run.value[REPEAT_ITERATIONS] == 25);
	assert_true(run.value[REPEAT_ITERATION] == 0.039);
	/* Counted since it was probed. */
	session.cuda.iterations.attached_ns = 1500000000LL;
	repeat_run_of(&session, &verdict, &run);
	assert_true(run.value[REPEAT_ITERATIONS] == 40);
	assert_true(run.value[REPEAT_TIME] == 4);
	assert_true(isnan(run.value[REPEAT_GPU]));
	session.command_status = 9;
	repeat_run_of(&session, &verdict, &run);
	assert_int_equal(run.exit_status, 137);
	/* What we ended ourselves did not fail. */
	session.ended_by = END_DURATION;
	repeat_run_of(&session, &verdict, &run);
	assert_int_equal(run.end, REPEAT_WHOLE);
	session.ended_by = END_INTERRUPT;
	repeat_run_of(&session, &verdict, &run);
	assert_int_equal(run.end, REPEAT_INTERRUPTED);
	session_free(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(odd_and_even),
		cmocka_unit_test(only_whole_runs_count),
		cmocka_unit_test(differing_verdicts_are_said),
		cmocka_unit_test(of_a_session),
	};

	return cmocka_run_group_tests_name("repeats", tests, NULL, NULL);
}
