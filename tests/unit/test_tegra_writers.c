/* SPDX-License-Identifier: GPL-2.0-only */
/* Logs of several tegrastats: written by hand, and corpus logs shuffled into each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/phases.h"
#include "tegra/reader.h"
#include "tegra/writers.h"

/* One tegrastats: what it has printed so far. */
struct program {
	int gpu;
	double sum, n;
};

static struct tegra_writers writers;

static int begin(void **state)
{
	(void)state;
	tegra_writers_init(&writers);
	return 0;
}

static int end(void **state)
{
	(void)state;
	tegra_writers_free(&writers);
	return 0;
}

/* The next line of a program: its average is the mean of all that it has printed. */
static void print(struct program *program, int power_mw, int second)
{
	struct tegra_sample sample;
	char text[160];

	program->sum += power_mw;
	program->n++;
	snprintf(text, sizeof(text),
		 "07-26-2026 21:18:%02d RAM 1/2MB (lfb 1x4MB) CPU [1%%@100] GR3D_FREQ %d%% "
		 "VDD_IN %dmW/%dmW",
		 second, program->gpu, power_mw, (int)(program->sum / program->n));
	assert_int_equal(tegra_line_parse(text, strlen(text), true, &sample), TEGRA_LINE_OK);
	assert_int_equal(tegra_writers_add(&writers, &sample), 0);
}

/* Power that no other program's mean predicts. */
static int power(int program, int i)
{
	return 3000 + 2000 * program + 137 * ((i * 7) % 11);
}

static void check_series(int number, size_t n, double gpu)
{
	const struct tegra_series *series = &writers.writer[number].series;

	assert_int_equal(series->n, n);
	for (size_t i = 0; i < n; i++)
		assert_float_equal(series->points[i].gpu_busy, gpu, 1e-6);
}

static void one_writer(void **state)
{
	struct program a = {.gpu = 30};
	int number;

	(void)state;
	for (int i = 0; i < 40; i++)
		print(&a, power(0, i), i / 2);
	assert_int_equal(tegra_writers_count(&writers), 1);
	assert_ptr_equal(tegra_writers_main(&writers, &number), &writers.writer[0]);
	assert_int_equal(number, 1);
	check_series(0, 40, 0.30);
	/* 40 lines from second 0 to second 19: 39 steps */
	assert_float_equal(tegra_writer_period_ns(&writers.writer[0]), 19e9 / 39, 1);
}

static void a_second_joins_in(void **state)
{
	struct program a = {.gpu = 30}, b = {.gpu = 70};
	int number;

	(void)state;
	for (int i = 0; i < 20; i++)
		print(&a, power(0, i), i);
	for (int i = 20; i < 50; i++) {
		print(&b, power(1, i), i);
		print(&a, power(0, i), i);
	}
	assert_int_equal(tegra_writers_count(&writers), 2);
	check_series(0, 50, 0.30);
	check_series(1, 30, 0.70);
	assert_ptr_equal(tegra_writers_main(&writers, &number), &writers.writer[0]);
	/* Each prints once a second, although the log has two lines a second from the 20th on. */
	assert_float_equal(tegra_writer_period_ns(&writers.writer[0]), 1e9, 1);
	assert_float_equal(tegra_writer_period_ns(&writers.writer[1]), 1e9, 1);
	assert_int_equal(writers.runs.restarts, 0);
}

static void the_second_may_be_the_longer_one(void **state)
{
	struct program a = {.gpu = 30}, b = {.gpu = 70};
	int number;

	(void)state;
	for (int i = 0; i < 10; i++)
		print(&a, power(0, i), i);
	for (int i = 10; i < 15; i++) {
		print(&b, power(1, i), i);
		print(&a, power(0, i), i);
	}
	for (int i = 15; i < 55; i++)
		print(&b, power(1, i), i);
	check_series(0, 15, 0.30);
	check_series(1, 45, 0.70);
	assert_ptr_equal(tegra_writers_main(&writers, &number), &writers.writer[1]);
	assert_int_equal(number, 2);
}

static void three_in_turns(void **state)
{
	struct program p[3] = {{.gpu = 10}, {.gpu = 50}, {.gpu = 90}};

	(void)state;
	for (int i = 0; i < 30; i++) {
		for (int k = 0; k < 3; k++)
			print(&p[k], power(k, i + k), i);
	}
	assert_int_equal(tegra_writers_count(&writers), 3);
	check_series(0, 30, 0.10);
	check_series(1, 30, 0.50);
	check_series(2, 30, 0.90);
}

static void a_restart_goes_on_in_the_series(void **state)
{
	struct program a = {.gpu = 95}, b = {.gpu = 95};
	struct phases phases;

	(void)state;
	for (int i = 0; i < 25; i++)
		print(&a, power(0, i), i);
	for (int i = 0; i < 30; i++)
		print(&b, power(1, i), i + 27);
	assert_int_equal(tegra_writers_count(&writers), 1);
	assert_int_equal(writers.runs.restarts, 1);
	check_series(0, 55, 0.95);
	/* 24 + 29 steps of 1 s: the pause between the runs is none of them */
	assert_float_equal(tegra_writer_period_ns(&writers.writer[0]), 1e9, 1);
	/* The load is the same before and after, yet they are two phases. */
	phases_find(&writers.writer[0].series, NAN, &phases);
	assert_int_equal(phases.n, 2);
	assert_int_equal(phases.phase[0].to, 25);
	assert_int_equal(phases.phase[1].from, 25);
	assert_int_equal(phases.steady, 1);
}

/* B starts when A has ended, C beside B; then B ends and D follows in its place. */
static void restarts_beside_another_writer(void **state)
{
	struct program a = {.gpu = 30}, b = {.gpu = 30}, c = {.gpu = 70}, d = {.gpu = 30};

	(void)state;
	for (int i = 0; i < 10; i++)
		print(&a, power(0, i), i);
	for (int i = 10; i < 20; i++) {
		print(&b, power(1, i), i);
		print(&c, power(2, i), i);
	}
	for (int i = 20; i < 30; i++) {
		print(&d, power(3, i), i);
		print(&c, power(2, i), i);
	}
	assert_int_equal(tegra_writers_count(&writers), 2);
	check_series(0, 30, 0.30);
	check_series(1, 20, 0.70);
}

static void a_pause_is_no_long_step(void **state)
{
	struct program a = {.gpu = 30};

	(void)state;
	for (int i = 0; i < 20; i++)
		print(&a, power(0, i), i);
	for (int i = 20; i < 30; i++)
		print(&a, power(0, i), i + 25);
	/* 19 + 9 steps */
	assert_float_equal(tegra_writer_period_ns(&writers.writer[0]), 1e9, 1);
}

static void lines_without_rails_follow_the_one_before(void **state)
{
	struct tegra_sample sample;

	(void)state;
	assert_int_equal(tegra_line_parse("RAM 1/2MB", 9, true, &sample), TEGRA_LINE_OK);
	for (int i = 0; i < 5; i++)
		assert_int_equal(tegra_writers_add(&writers, &sample), 0);
	assert_int_equal(tegra_writers_count(&writers), 1);
	assert_int_equal(writers.writer[0].series.n, 5);
	assert_true(isnan(tegra_writer_period_ns(&writers.writer[0])));
}

/* Bounded and sound whatever the averages say. */
static void more_runs_than_can_be_told_apart(void **state)
{
	int64_t lines = 0;

	(void)state;
	srand(3);
	for (int i = 0; i < 100000; i++) {
		struct program any = {.gpu = rand() % 100, .sum = rand() % 20000, .n = rand() % 3};

		print(&any, rand() % 10000, i % 60);
	}
	for (int i = 0; i < TEGRA_WRITERS_MAX; i++) {
		assert_true(writers.writer[i].series.n <= SERIES_LIMIT);
		lines += writers.writer[i].lines;
	}
	/* Merged points are counted as if they were full. */
	assert_true(lines >= 100000 && lines < 110000);
}

static FILE *open_corpus(const char *name)
{
	const char *dir = getenv("TEGRATRACE_CORPUS");
	char path[4096];

	snprintf(path, sizeof(path), "%s/tegrastats/%s", dir ? dir : "../shared/corpus", name);
	return fopen(path, "r");
}

static bool add_line(FILE *log)
{
	struct tegra_sample sample;
	char text[4096];

	if (!fgets(text, sizeof(text), log))
		return false;
	if (tegra_line_parse(text, strcspn(text, "\n"), true, &sample) == TEGRA_LINE_OK)
		assert_int_equal(tegra_writers_add(&writers, &sample), 0);
	return true;
}

static void check_file(const char *name, int count, int64_t first, int64_t second)
{
	FILE *log = open_corpus(name);

	if (!log) {
		print_message("no corpus: %s\n", name);
		skip();
	}
	while (add_line(log))
		;
	fclose(log);
	assert_int_equal(tegra_writers_count(&writers), count);
	assert_int_equal(writers.writer[0].series.n, first);
	assert_int_equal(writers.writer[1].series.n, second);
}

static void the_corpus_log_of_two(void **state)
{
	(void)state;
	check_file("corrupt/two_writers.log", 2, 40, 20);
}

static void the_corpus_log_of_a_restart(void **state)
{
	(void)state;
	check_file("corrupt/restart.log", 1, 24, 0);
	assert_int_equal(writers.writer[0].series.points[11].run, 1);
	assert_int_equal(writers.writer[0].series.points[12].run, 2);
}

/* Two public logs, 2 lines of one after 3 of the other: each series is one of the logs. */
static void two_corpus_logs_shuffled(void **state)
{
	FILE *a = open_corpus("logs/orin-nano-super_r36_root_resnet50-int8-maxn.log");
	FILE *b = open_corpus("logs/orin-nano-super_r36_root_yolov8s-fp16-7w.log");
	struct tegra_writers apart[2];
	bool more_a = true, more_b = true;

	(void)state;
	if (!a || !b) {
		print_message("no corpus\n");
		skip();
	}
	for (int k = 0; k < 2; k++) {
		while (add_line(k ? b : a))
			;
		rewind(k ? b : a);
		apart[k] = writers;
		tegra_writers_init(&writers);
	}
	for (int i = 0; more_a || more_b; i++) {
		if (i % 5 < 3)
			more_a = more_a && add_line(a);
		else
			more_b = more_b && add_line(b);
	}
	assert_int_equal(tegra_writers_count(&writers), 2);
	for (int k = 0; k < 2; k++) {
		const struct tegra_series *want = &apart[k].writer[0].series;
		const struct tegra_series *have = &writers.writer[k].series;

		assert_int_equal(have->n, want->n);
		for (size_t i = 0; i < want->n; i++)
			assert_memory_equal(&have->points[i].gpu_busy, &want->points[i].gpu_busy,
					    sizeof(float) * 10);
		assert_float_equal(tegra_writer_period_ns(&writers.writer[k]) /
					   tegra_writer_period_ns(&apart[k].writer[0]),
				   1, 0.02);
		tegra_writers_free(&apart[k]);
	}
	fclose(a);
	fclose(b);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_writer),
		TEST(a_second_joins_in),
		TEST(the_second_may_be_the_longer_one),
		TEST(three_in_turns),
		TEST(a_restart_goes_on_in_the_series),
		TEST(restarts_beside_another_writer),
		TEST(a_pause_is_no_long_step),
		TEST(lines_without_rails_follow_the_one_before),
		TEST(more_runs_than_can_be_told_apart),
		TEST(the_corpus_log_of_two),
		TEST(the_corpus_log_of_a_restart),
		TEST(two_corpus_logs_shuffled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
