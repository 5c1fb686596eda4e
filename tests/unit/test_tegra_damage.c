/* SPDX-License-Identifier: GPL-2.0-only */
/* Damaged logs of the corpus: what must come out, and that no value is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"

/* The undamaged records that a damaged file was made from. */
static json_t *load_sources(const char *made_from)
{
	char names[512], path[600], *name, *save, *text;
	json_t *rows = json_array();
	size_t len;

	snprintf(names, sizeof(names), "%s", made_from);
	for (name = strtok_r(names, " +", &save); name; name = strtok_r(NULL, " +", &save)) {
		snprintf(path, sizeof(path), "logs/%s.log", name);
		text = load(path, &len);
		if (text)
			read_all(text, len, len, keep_json, rows);
		free(text);
	}
	return rows;
}

/* Records that lack values; all others must be equal to an undamaged one. */
static const struct {
	const char *file;
	unsigned int records;
} damaged[] = {
	{"glued_midcut.log", 1},
	{"cut_last_line.log", 1},
	{"invalid_utf8.log", 1},
	{"overflow.log", 2},
};

/* No value may differ from what some undamaged record holds; it may only be unknown. */
static void check_values(const char *file, json_t *have, json_t *sources)
{
	unsigned int lacking = 0, allowed = 0;
	json_t *sample, *source;
	size_t i, k;

	for (i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++)
		allowed += strcmp(damaged[i].file, file) ? 0 : damaged[i].records;
	json_array_foreach(have, i, sample)
	{
		bool found = false, equal = false;

		json_object_del(sample, "unknown");
		/* One byte of this zone name was damaged. */
		json_object_del(json_object_get(sample, "temps"), "so\\xE90");
		json_array_foreach(sources, k, source)
		{
			if (differ(file, "", source, sample, true, true))
				continue;
			found = true;
			equal |= !differ(file, "", source, sample, false, true);
		}
		if (!found)
			FAIL("%s: record %zu holds a value that no source row has\n", file, i + 1);
		lacking += !equal;
	}
	if (lacking != allowed)
		FAIL("%s: %u records lack values\n", file, lacking);
}

static bool matches(const char *want, uint64_t have)
{
	return strcmp(want, "any") == 0 ||
	       (*want >= '0' && *want <= '9' && atoll(want) == (long long)have);
}

static void check_corrupt_row(const struct table *t, const char *bytes, size_t len)
{
	static const size_t steps[] = {1, 7, 4096, SIZE_MAX};
	const char *file = cell(t, "file");
	json_t *sources = load_sources(cell(t, "made_from"));

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		json_t *have = json_array();
		const struct tegra_reader_stats *st =
			&read_all(bytes, len, steps[i] < len ? steps[i] : len + 1, keep_json, have)
				 ->stats;
		uint64_t sum = 0;

		for (size_t k = 0; k < TEGRA_LINE_REASONS; k++)
			sum += st->rejected_by[k];
		if (sum != st->rejected || st->records != json_array_size(have) || st->bytes != len)
			FAIL("%s: counters disagree\n", file);
		if (!(matches(cell(t, "records"), st->records) &&
		      matches(cell(t, "rejected"), st->rejected)) &&
		    !(matches(cell(t, "also_records"), st->records) &&
		      matches(cell(t, "also_rejected"), st->rejected)))
			FAIL("%s (pieces of %zu): %llu records, %llu rejected\n", file, steps[i],
			     (unsigned long long)st->records, (unsigned long long)st->rejected);
		/* Its averages were recomputed, or its dates changed. */
		if (i == 0 && json_array_size(sources) && strcmp(file, "two_writers.log") != 0 &&
		    strcmp(file, "restart.log") != 0 && strcmp(file, "date_backwards.log") != 0)
			check_values(file, have, sources);
		json_decref(have);
	}
	json_decref(sources);
}

static void test_corrupt(void **state)
{
	char *text = load_or_skip("corrupt/corrupt.tsv"), path[256], *bytes;
	unsigned int files = 0;
	struct table t;
	size_t len;

	(void)state;
	open_table(&t, text);
	while (next_row(&t)) {
		snprintf(path, sizeof(path), "corrupt/%s", cell(&t, "file"));
		bytes = load(path, &len);
		assert_non_null(bytes);
		check_corrupt_row(&t, bytes, len);
		free(bytes);
		files++;
	}
	print_message("%u damaged files checked, %u differences\n", files, failures);
	assert_int_equal(failures, 0);
	assert_true(files >= 39);
	free(text);
}

/* Rows of 80 columns, as a terminal shows them; a copy may lose the blank at the end of a row. */
static size_t wrap(char *out, const char *text, bool strip)
{
	size_t n = 0, column = 0;

	for (; *text; text++) {
		if (*text != '\n' && column == 80) {
			if (strip && out[n - 1] == ' ')
				n--;
			out[n++] = '\n';
			column = 0;
		}
		column = *text == '\n' ? 0 : column + 1;
		out[n++] = *text;
	}
	return n;
}

static void check_wrapped(const char *file, const char *text, bool strip)
{
	json_t *plain = json_array(), *joined = json_array(), *sample;
	const struct tegra_reader_stats *st;
	char *rows = malloc(2 * strlen(text) + 1);
	size_t n, i, known = 0, differ_n = 0;
	uint64_t rejected;

	assert_non_null(rows);
	rejected = read_all(text, strlen(text), 4096, keep_json, plain)->stats.rejected;
	n = wrap(rows, text, strip);
	st = &read_all(rows, n, 4096, keep_json, joined)->stats;
	json_array_foreach(plain, i, sample)
	{
		/* Words that no version knows may be damage: such records stay in pieces. */
		if (json_object_get(sample, "unknown"))
			continue;
		known++;
		differ_n += !json_equal(sample, json_array_get(joined, i));
	}
	if (json_array_size(plain) != json_array_size(joined) || differ_n ||
	    (known == json_array_size(plain) && st->rejected != rejected))
		FAIL("%s: %zu of %zu records, %zu differ, %llu rejected\n", file,
		     json_array_size(joined), json_array_size(plain), differ_n,
		     (unsigned long long)st->rejected);
	json_decref(plain);
	json_decref(joined);
	free(rows);
}

/* Every release and board of the corpus, wrapped, gives the records of the unwrapped log. */
static void test_wrapped(void **state)
{
	char *text = load_or_skip("logs/logs.tsv"), path[256], *log, *end;
	unsigned int logs = 0;
	struct table t;
	size_t len;

	(void)state;
	open_table(&t, text);
	while (next_row(&t)) {
		snprintf(path, sizeof(path), "logs/%s", cell(&t, "file"));
		log = load(path, &len);
		assert_non_null(log);
		end = log;
		for (int lines = 0; lines < 40 && strchr(end, '\n'); lines++)
			end = strchr(end, '\n') + 1;
		*end = '\0';
		check_wrapped(cell(&t, "file"), log, false);
		check_wrapped(cell(&t, "file"), log, true);
		free(log);
		logs++;
	}
	assert_int_equal(failures, 0);
	assert_true(logs >= 32);
	free(text);
}

static json_t *records_of(const char *name)
{
	json_t *rows = json_array();
	size_t len;
	char *text = load(name, &len);

	assert_non_null(text);
	read_all(text, len, len, keep_json, rows);
	free(text);
	return rows;
}

/* What corrupt.tsv says in words: file, record from 1, path, JSON value. */
static const struct {
	const char *file;
	size_t record;
	const char *path, *value;
} must_hold[] = {
	{"glued.log", 6, "rails.VDD_SOC.avg_mw", "1406"},
	{"glued.log", 8, "rails.VDD_DDR.cur_mw", "881"},
	{"glued.log", 8, "rails.VDD_DDR.avg_mw", "882"},
	{"glued_midcut.log", 1, "gr3d_pct", "null"},
	{"glued_midcut.log", 1, "emc_pct", "3"},
	{"cut_last_line.log", 11, "engines.NVJPG", "null"},
	{"cut_last_line.log", 11, "engines.NVDEC", "\"off\""},
	{"cut_last_line.log", 11, "gr3d_pct", "79"},
	{"invalid_utf8.log", 4, "temps.gpu", "48.781"},
	{"journald.log", 1, "date", "\"2026-07-26T21:16:29\""},
	{"iso_prefix.log", 1, "date", "\"2026-08-01T18:21:50\""},
	{"wrapped80.log", 1, "cpu",
	 "[{\"load\":16,\"freq_mhz\":1997},{\"load\":0,\"freq_mhz\":2035},"
	 "{\"load\":8,\"freq_mhz\":2035},{\"load\":7,\"freq_mhz\":1995},"
	 "{\"load\":32,\"freq_mhz\":1998},{\"load\":10,\"freq_mhz\":1996}]"},
	{"wrapped80.log", 1, "rails.VDD_IN.cur_mw", "3629"},
	{"wrapped80.log", 4, "rails.VDD_DDR.avg_mw", "882"},
	{"overflow.log", 2, "ram_used_mb", "null"},
	{"overflow.log", 2, "ram_total_mb", "7620"},
	{"overflow.log", 3, "gr3d_pct", "null"},
	{"overflow.log", 3, "rails.VDD_IN.cur_mw", "null"},
	{"overflow.log", 3, "rails.VDD_IN.avg_mw", "4222"},
};

static void test_must_hold(void **state)
{
	char path[128], *part, *save;

	(void)state;
	free(load_or_skip("corrupt/corrupt.tsv"));
	for (size_t i = 0; i < sizeof(must_hold) / sizeof(must_hold[0]); i++) {
		json_t *rows, *at, *want = json_loads(must_hold[i].value, JSON_DECODE_ANY, NULL);

		snprintf(path, sizeof(path), "corrupt/%s", must_hold[i].file);
		rows = records_of(path);
		assert_true(must_hold[i].record <= json_array_size(rows));
		at = json_array_get(rows, must_hold[i].record - 1);
		snprintf(path, sizeof(path), "%s", must_hold[i].path);
		for (part = strtok_r(path, ".", &save); part; part = strtok_r(NULL, ".", &save))
			at = json_object_get(at, part);
		snprintf(path, sizeof(path), ":%zu %s", must_hold[i].record, must_hold[i].path);
		failures += differ(must_hold[i].file, path, want, at, false, false);
		json_decref(rows);
		json_decref(want);
	}
	assert_int_equal(failures, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_must_hold),
		cmocka_unit_test(test_wrapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
