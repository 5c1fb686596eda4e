/* SPDX-License-Identifier: GPL-2.0-only */
/* Spark lines, and the status line made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/spark.h"
#include "cli/status.h"

#define SECOND_NS 1000000000LL

static void put(struct spark *spark, double value)
{
	spark_add(spark, value);
	spark_close_cell(spark);
}

static void expect(const struct spark *spark, int width, const char *want)
{
	char drawn[256] = "";

	spark_append(drawn, sizeof(drawn), spark, width, 0, 1);
	assert_string_equal(drawn, want);
}

static void heights(void **state)
{
	struct spark spark = {0};

	(void)state;
	for (int i = 0; i < 8; i++)
		put(&spark, i / 8.0 + 0.01);
	expect(&spark, 8, "▁▂▃▄▅▆▇█");
	put(&spark, 1);
	put(&spark, 7);
	put(&spark, -3);
	expect(&spark, 4, "███▁");
}

/* Not measured is not 0. */
static void unknown_is_a_gap(void **state)
{
	struct spark spark = {0};

	(void)state;
	put(&spark, 0);
	spark_close_cell(&spark);
	put(&spark, NAN);
	put(&spark, 1);
	expect(&spark, 4, "▁  █");
	expect(&spark, 6, "  ▁  █");
}

static void cell_is_the_mean(void **state)
{
	struct spark spark = {0};

	(void)state;
	spark_add(&spark, 0.2);
	spark_add(&spark, NAN);
	spark_add(&spark, 0.9);
	spark_close_cell(&spark);
	expect(&spark, 1, "▅");
}

static void oldest_leave(void **state)
{
	struct spark spark = {0};
	double low, high;

	(void)state;
	assert_false(spark_range(&spark, &low, &high));
	put(&spark, 5);
	for (int i = 0; i < SPARK_CELLS; i++)
		put(&spark, i == 3 ? NAN : 0.25 + i);
	assert_true(spark_range(&spark, &low, &high));
	assert_true(low == 0.25 && high == 0.25 + SPARK_CELLS - 1);
}

/* Half a minute of a board: a sample and a point of the host each half second. */
static void run(struct status *status, bool board)
{
	struct tegra_summary tegra;
	struct host_point points[60];
	struct host_series host = {.points = points};

	*status = (struct status){0};
	tegra_summary_init(&tegra);
	for (int i = 1; i <= 60; i++) {
		int64_t t_ns = i * SECOND_NS / 2;

		sampled_add(&tegra.gpu_busy, i % 8 < 4 ? 0.1 : 0.99);
		sampled_add(&tegra.emc_busy, 0.5);
		tegra.temps = 1;
		strcpy(tegra.temps_c[0].name, "tj");
		if (i == 1)
			sampled_init(&tegra.temps_c[0].value);
		sampled_add(&tegra.temps_c[0].value, 50 + i % 2);
		tegra.samples++;
		host_point_init(&points[host.n]);
		points[host.n++].runq_threads = 0.25F;
		status_take(status, t_ns, 3, board ? &tegra : NULL, &host);
	}
}

static void as_wide_as_the_terminal(void **state)
{
	char line[512];
	struct status status;

	(void)state;
	run(&status, true);
	for (int columns = 0; columns < 200; columns++) {
		status_render(line, sizeof(line), &status, columns, true);
		assert_true(text_columns(line) <= (size_t)columns);
	}
	assert_non_null(strstr(line, "30.0 s  3 threads  GPU 99 % "));
	assert_non_null(strstr(line, "█"));
	assert_non_null(strstr(line, "  EMC 50 % ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅  runq 0.2 "));
	assert_non_null(strstr(line, "  tj 50 C "));
	assert_non_null(strstr(line, "Ctrl-C"));
	/* 80 columns, the last one free */
	status_render(line, sizeof(line), &status, 79, true);
	assert_non_null(strstr(line, "EMC 50 % ▅▅▅▅  runq"));
	assert_non_null(strstr(line, "tj 50 C"));
	status_render(line, sizeof(line), &status, 60, true);
	assert_non_null(strstr(line, "tj 50 C"));
	assert_null(strstr(line, "▅"));
}

static void plain_without_utf8(void **state)
{
	char line[512];
	struct status status;

	(void)state;
	run(&status, true);
	status_render(line, sizeof(line), &status, 300, false);
	assert_string_equal(line, "30.0 s  3 threads  GPU 99 %  EMC 50 %  runq 0.2  tj 50 C"
				  "  Ctrl-C ends it with the report");
}

static void no_board(void **state)
{
	char line[512];
	struct status status;

	(void)state;
	run(&status, false);
	status_render(line, sizeof(line), &status, 300, false);
	assert_string_equal(line, "30.0 s  3 threads  runq 0.2"
				  "  Ctrl-C ends it with the report");
}

/* A tegrastats that died is no board that stands still. */
static void silence_is_a_gap(void **state)
{
	char drawn[256] = "";
	struct status status = {0};
	struct tegra_summary tegra;
	struct host_series host = {0};

	(void)state;
	tegra_summary_init(&tegra);
	for (int i = 1; i <= 40; i++) {
		if (i <= 20) {
			sampled_add(&tegra.gpu_busy, 0.99);
			tegra.samples++;
		}
		status_take(&status, i * SECOND_NS / 4, 1, &tegra, &host);
	}
	spark_append(drawn, sizeof(drawn), &status.gpu, 6, 0, 1);
	assert_string_equal(drawn, "█     ");
	drawn[0] = 0;
	spark_append(drawn, sizeof(drawn), &status.runq, 6, 0, 1);
	assert_string_equal(drawn, "      ");
}

/* No holes in the line of a tegrastats that prints every three seconds. */
static void slow_samples_have_no_gaps(void **state)
{
	struct status status = {0};
	struct tegra_summary tegra;
	struct host_series host = {0};

	(void)state;
	tegra_summary_init(&tegra);
	for (int i = 1; i <= 400; i++) {
		if (i % 12 == 5) {
			sampled_add(&tegra.gpu_busy, 0.99);
			tegra.samples++;
		}
		status_take(&status, i * SECOND_NS / 4, 1, &tegra, &host);
	}
	for (unsigned int i = 0; i < SPARK_CELLS; i++)
		assert_false(isnan(status.gpu.cells[i]));
}

static void locale(void **state)
{
	(void)state;
	assert_true(status_is_utf8(NULL, NULL, "C.UTF-8"));
	assert_true(status_is_utf8("", "en_US.utf8", "C"));
	assert_false(status_is_utf8("C", "en_US.utf8", "C.UTF-8"));
	assert_false(status_is_utf8(NULL, NULL, "de_DE.ISO-8859-1"));
	assert_false(status_is_utf8(NULL, NULL, NULL));
	assert_false(status_is_utf8("", "", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heights),
		cmocka_unit_test(unknown_is_a_gap),
		cmocka_unit_test(cell_is_the_mean),
		cmocka_unit_test(oldest_leave),
		cmocka_unit_test(as_wide_as_the_terminal),
		cmocka_unit_test(plain_without_utf8),
		cmocka_unit_test(no_board),
		cmocka_unit_test(silence_is_a_gap),
		cmocka_unit_test(slow_samples_have_no_gaps),
		cmocka_unit_test(locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
