/* SPDX-License-Identifier: GPL-2.0-only */
/* Streams of lines: pieces, forms, rows of a terminal; and runs of tegrastats in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tegra/line.h"
#include "tegra/reader.h"

#define HEAD "RAM 1/2MB (lfb 1x1MB) "

static struct tegra_sample sample;

static void parse(const char *text)
{
	assert_int_equal(tegra_line_parse(text, strlen(text), true, &sample), TEGRA_LINE_OK);
}

struct seen {
	unsigned int records, stop_at;
	int32_t used[8];
	uint64_t line_no[8];
	char raw[64];
};

static bool see(const struct tegra_record *r, void *ctx)
{
	struct seen *s = ctx;

	if (s->records < 8) {
		s->used[s->records] = r->sample->ram_used_mb;
		s->line_no[s->records] = r->line_no;
	}
	if (r->raw_len < sizeof(s->raw)) {
		memcpy(s->raw, r->raw, r->raw_len);
		s->raw[r->raw_len] = '\0';
	}
	return ++s->records != s->stop_at;
}

static void test_reader(void **state)
{
	static const char text[] = "x\r\nts RAM 1/2MB\r\rRAM 3/4MB a\nRAM 5/6MB b";
	struct tegra_reader *r = malloc(sizeof(*r));
	struct seen s = {0};

	(void)state;
	assert_non_null(r);
	tegra_reader_init(r);
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		assert_true(tegra_reader_push(r, text + i, 1, see, &s));
	assert_int_equal(s.records, 2);
	assert_int_equal(s.used[1], 3);
	assert_string_equal(s.raw, "RAM 3/4MB a");
	assert_true(tegra_reader_finish(r, see, &s));
	assert_int_equal(s.records, 3);
	assert_int_equal(s.line_no[0], 2);
	assert_int_equal(s.line_no[2], 5);
	assert_int_equal(r->stats.lines, 5);
	assert_int_equal(r->stats.bytes, sizeof(text) - 1);
	assert_int_equal(r->stats.rejected, 1);
	assert_int_equal(r->stats.rejected_by[TEGRA_LINE_NO_RAM], 1);
	assert_string_equal(r->stats.example, "x");
	assert_int_equal(r->stats.example_line_no, 1);

	tegra_reader_init(r);
	s = (struct seen){.stop_at = 1};
	assert_false(tegra_reader_push(r, text, sizeof(text) - 1, see, &s));
	assert_false(tegra_reader_push(r, text, sizeof(text) - 1, see, &s));
	assert_false(tegra_reader_finish(r, see, &s));
	assert_int_equal(s.records, 1);
	free(r);
}

static void push(struct tegra_reader *r, const char *bytes, size_t n, struct seen *s)
{
	tegra_reader_init(r);
	*s = (struct seen){0};
	for (size_t i = 0; i < n; i += 1000)
		tegra_reader_push(r, bytes + i, n - i < 1000 ? n - i : 1000, see, s);
	tegra_reader_finish(r, see, s);
}

static void test_reader_forms(void **state)
{
	static const char wide[] = "\xfe\xff\0R\0A\0M\0 \0001\0/\0002\0M\0B\0\n";
	struct tegra_reader *r = malloc(sizeof(*r));
	size_t n = 200000;
	char *bytes = calloc(1, n);
	struct seen s;

	(void)state;
	assert_non_null(r);
	assert_non_null(bytes);
	push(r, wide, sizeof(wide) - 1, &s);
	assert_int_equal(s.records, 1);
	assert_string_equal(s.raw, "RAM 1/2MB");
	push(r, "\x1f\x8b\nRAM 1/2MB\n", 13, &s);
	assert_int_equal(s.records, 0);
	assert_int_equal(r->stats.rejected_by[TEGRA_LINE_COMPRESSED], 1);
	push(r, "B", 1, &s);
	assert_int_equal(r->stats.rejected_by[TEGRA_LINE_NO_RAM], 1);
	/* A hole of NUL bytes behind a cut line, longer than the reader's buffer. */
	memcpy(bytes, HEAD "VDD_IN 12", 31);
	memcpy(bytes + n - 23, HEAD "\n", 23);
	push(r, bytes, n, &s);
	assert_int_equal(s.records, 2);
	assert_int_equal(r->stats.lines, 1);
	memset(bytes, 'x', n - 23);
	push(r, bytes, n, &s);
	assert_int_equal(s.records, 0);
	assert_int_equal(r->stats.rejected_by[TEGRA_LINE_TOO_LONG], 1);
	assert_int_equal(strlen(r->stats.example), TEGRA_READER_EXAMPLE_SIZE - 1);
	free(bytes);
	free(r);
}

/* 80 columns: the first row ends inside of a number. */
#define ROW "RAM 2632/7850MB (lfb 3x4MB) CPU [16%@1997,0%@2035,8%@2035,7%@1995,32%@1998,10%@1"

#define PUSH(text) push(r, text, sizeof(text) - 1, &s)

static void test_wrapped_rows(void **state)
{
	struct tegra_reader *r = malloc(sizeof(*r));
	struct seen s;

	(void)state;
	assert_non_null(r);
	assert_int_equal(strlen(ROW), 80);
	PUSH(ROW "\n996] VDD_IN 5/6\nRAM 1/2MB\n");
	assert_int_equal(s.records, 2);
	assert_int_equal(s.line_no[0], 1);
	assert_int_equal(s.line_no[1], 3);
	assert_int_equal(r->stats.rejoined, 1);
	assert_int_equal(r->stats.lines, 3);
	/* What another program wrote, or a line that has lost its head, is not taken in. */
	PUSH(ROW "\nlogin: root\nRAM 1/2MB\n");
	assert_int_equal(s.records, 2);
	assert_int_equal(r->stats.rejoined, 0);
	assert_int_equal(r->stats.rejected, 1);
	/* At the end of the log the last word may be cut. */
	PUSH(ROW "\r\n996] VDD_IN 5/6 VDD_CP");
	assert_int_equal(s.records, 1);
	assert_int_equal(r->stats.rejoined, 1);
	/* A live line is not held back. */
	tegra_reader_init(r);
	r->live = true;
	s = (struct seen){0};
	tegra_reader_push(r, ROW "\n", 81, see, &s);
	assert_int_equal(s.records, 1);
	free(r);
}

static void add_run_line(struct tegra_runs *runs, int cur, int avg, enum tegra_run_event want,
			 uint32_t want_id)
{
	char text[96];
	uint32_t id;

	snprintf(text, sizeof(text), HEAD "VDD_IN %d/%d VIN %d/%d", cur, avg, cur, avg / 2);
	parse(text);
	assert_int_equal(tegra_runs_add(runs, &sample, &id), want);
	assert_int_equal(id, want_id);
}

static void test_runs(void **state)
{
	struct tegra_runs runs;

	(void)state;
	tegra_runs_init(&runs);
	add_run_line(&runs, 100, 100, TEGRA_RUN_FIRST, 1);
	add_run_line(&runs, 200, 150, TEGRA_RUN_CONTINUES, 1);
	/* Current equal to average, but the mean of 100, 200, 150 is 150: no restart. */
	add_run_line(&runs, 150, 150, TEGRA_RUN_CONTINUES, 1);
	add_run_line(&runs, 300, 300, TEGRA_RUN_RESTART, 2);
	add_run_line(&runs, 500, 400, TEGRA_RUN_CONTINUES, 2);
	assert_int_equal(runs.restarts, 1);
	/* The first goes on: (450 + 550) / 4 = 250, so the second was no restart. */
	add_run_line(&runs, 550, 250, TEGRA_RUN_CONTINUES, 1);
	assert_int_equal(runs.restarts, 0);
	assert_int_equal(runs.interleaved, 1);
	add_run_line(&runs, 700, 900, TEGRA_RUN_ODD, 3);
	assert_int_equal(runs.odd, 1);
	/* Joined in mid-stream with 900: the next average is between 900 and 500. */
	add_run_line(&runs, 100, 880, TEGRA_RUN_CONTINUES, 3);
	parse(HEAD);
	assert_int_equal(tegra_runs_add(&runs, &sample, NULL), TEGRA_RUN_NO_RAILS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_reader_forms),
		cmocka_unit_test(test_wrapped_rows),
		cmocka_unit_test(test_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
