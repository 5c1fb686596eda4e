/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines and logs of the corpus against the values that they hold. */
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

static bool take_marker(json_t *want, const char *key)
{
	bool set = json_is_true(json_object_get(want, key));

	json_object_del(want, key);
	return set;
}

/* The line as it is fed: `\t` is a TAB in synthetic lines. */
static size_t make_line(char *out, size_t size, const char *head, const char *line, bool synthetic)
{
	size_t n = (size_t)snprintf(out, size, "%s", head);

	for (; *line && n + 2 < size; n++) {
		if (synthetic && line[0] == '\\' && line[1] == 't') {
			out[n] = '\t';
			line += 2;
		} else {
			out[n] = *line++;
		}
	}
	out[n] = '\0';
	return n;
}

static void check_absent(const char *id, json_t *paths, json_t *have)
{
	char path[128], *part, *save;
	json_t *p;
	size_t i;

	json_array_foreach(paths, i, p)
	{
		json_t *at = have;

		snprintf(path, sizeof(path), "%s", json_string_value(p));
		for (part = strtok_r(path, ".", &save); part; part = strtok_r(NULL, ".", &save))
			at = json_object_get(at, part);
		if (at)
			FAIL("%s: %s must not exist\n", id, json_string_value(p));
	}
}

static void check_fields(const char *id, json_t *want, json_t *have, bool partial)
{
	const char *key;
	char path[64];
	json_t *v;

	if (!partial) {
		failures += differ(id, "", want, have, false, false);
		return;
	}
	json_object_foreach(want, key, v)
	{
		snprintf(path, sizeof(path), ".%s", key);
		failures += differ(id, path, v, json_object_get(have, key), false, false);
	}
}

static void check_line(json_t *want, const char *line, bool synthetic)
{
	static char text[65536];
	char *id = strdup(json_string_value(json_object_get(want, "id")));
	json_t *absent = json_incref(json_object_get(want, "absent")), *have = json_array();
	bool partial = take_marker(want, "partial"), cut = take_marker(want, "no_newline");
	bool fragment = take_marker(want, "fragment"), reject = take_marker(want, "reject");
	size_t n;

	json_object_del(want, "id");
	json_object_del(want, "absent");
	if (fragment) {
		n = make_line(text, sizeof(text), "", line, synthetic);
		read_all(text, n, n, keep_json, have);
		if (json_array_size(have))
			FAIL("%s: a fragment is no record\n", id);
		json_array_clear(have);
	}
	n = make_line(text, sizeof(text), fragment ? "RAM 1/2MB (lfb 1x1MB) " : "", line,
		      synthetic);
	if (!cut)
		text[n++] = '\n';
	read_all(text, n, n, keep_json, have);
	if (json_array_size(have) != (reject ? 0 : 1))
		FAIL("%s: %zu records\n", id, json_array_size(have));
	else if (!reject)
		check_fields(id, want, json_array_get(have, 0), partial);
	if (absent)
		check_absent(id, absent, json_array_get(have, 0));
	json_decref(absent);
	json_decref(have);
	free(id);
}

static json_t *load_lines(struct table *t)
{
	json_t *lines = json_object();

	while (next_row(t))
		json_object_set_new(lines, cell(t, "id"),
				    json_pack("{s:s, s:b}", "line", cell(t, "line"), "synthetic",
					      strcmp(cell(t, "kind"), "synthetic") == 0));
	return lines;
}

static void test_expected(void **state)
{
	char *text = load_or_skip("lines.tsv"), *exp = load_or_skip("expected.jsonl"), *row, *save;
	unsigned int checked = 0;
	json_t *lines, *want, *line;
	struct table t;

	(void)state;
	open_table(&t, text);
	lines = load_lines(&t);
	for (row = strtok_r(exp, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
		want = json_loads(row, 0, NULL);
		assert_non_null(want);
		line = json_object_get(lines, json_string_value(json_object_get(want, "id")));
		assert_non_null(line);
		check_line(want, json_string_value(json_object_get(line, "line")),
			   json_is_true(json_object_get(line, "synthetic")));
		json_decref(want);
		checked++;
	}
	print_message("%u lines checked, %u differences\n", checked, failures);
	assert_int_equal(failures, 0);
	assert_true(checked > 100);
	json_decref(lines);
	free(text);
	free(exp);
}

/* Every line of the table is one record, but for the fragments among the synthetic ones. */
static void test_all_lines(void **state)
{
	char *text = load_or_skip("lines.tsv"), line[65536];
	json_t *have = json_array();
	struct table t;

	(void)state;
	open_table(&t, text);
	while (next_row(&t)) {
		size_t n = make_line(line, sizeof(line), "", cell(&t, "line"), false);

		line[n++] = '\n';
		json_array_clear(have);
		read_all(line, n, n, keep_json, have);
		if (json_array_size(have) != (strstr(line, "RAM ") ? 1 : 0))
			FAIL("%s: %zu records\n", cell(&t, "id"), json_array_size(have));
		if (strcmp(cell(&t, "kind"), "real") == 0 && strncmp(line, "E/", 2) != 0 &&
		    json_object_get(json_array_get(have, 0), "unknown") && !strstr(line, "CPV ["))
			FAIL("%s: unknown words\n", cell(&t, "id"));
	}
	assert_int_equal(failures, 0);
	json_decref(have);
	free(text);
}

/* The facts of one log, counted from the samples. */
struct range {
	unsigned int n;
	double min, max, sum;
};

struct facts {
	unsigned int rows, ge90, emc_zero_no_clock;
	struct range in, gr3d, gpu_mhz, emc, temp;
	char restart_rows[128];
	double last_avg;
	struct tegra_runs runs;
};

static void add(struct range *r, double v)
{
	if (!r->n || v < r->min)
		r->min = v;
	if (!r->n || v > r->max)
		r->max = v;
	r->sum += v;
	r->n++;
}

static void add_input(struct facts *f, const struct tegra_sample *s)
{
	static const char *const input[] = {"VDD_IN", "POM_5V_IN", "VIN"};
	static const char *const parts[] = {"VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"};
	const struct tegra_rail *r;
	double sum = 0;

	for (size_t i = 0; i < 3; i++) {
		r = tegra_sample_rail(s, input[i]);
		if (r) {
			add(&f->in, r->cur_mw);
			f->last_avg = r->avg_mw;
			return;
		}
	}
	for (size_t i = 0; i < 3; i++) {
		r = tegra_sample_rail(s, parts[i]);
		if (!r)
			return;
		sum += r->cur_mw;
	}
	add(&f->in, sum);
}

static bool count_facts(const struct tegra_record *r, void *ctx)
{
	const struct tegra_sample *s = r->sample;
	struct facts *f = ctx;
	size_t used = strlen(f->restart_rows);
	char raw[2048];

	f->rows++;
	if (s->gr3d_pct != TEGRA_UNKNOWN)
		add(&f->gr3d, s->gr3d_pct);
	f->ge90 += s->gr3d_pct >= 90;
	if (s->gr3d_mhz_count)
		add(&f->gpu_mhz, s->gr3d_mhz[0]);
	if (s->emc_pct != TEGRA_UNKNOWN && s->emc_mhz != TEGRA_UNKNOWN)
		add(&f->emc, s->emc_pct);
	snprintf(raw, sizeof(raw), "%.*s", (int)r->raw_len, r->raw);
	f->emc_zero_no_clock += strstr(raw, "EMC_FREQ 0% ") && s->emc_pct == TEGRA_UNKNOWN;
	for (uint32_t i = 0; i < s->temp_count; i++) {
		if (!isnan(s->temp[i].cur_c))
			add(&f->temp, s->temp[i].cur_c);
	}
	add_input(f, s);
	if (tegra_runs_add(&f->runs, s, NULL) == TEGRA_RUN_RESTART)
		snprintf(f->restart_rows + used, sizeof(f->restart_rows) - used, "%s%u",
			 used ? " " : "", f->rows);
	return true;
}

/* `digits`: those behind the point in the table. */
static void check_number(const struct table *t, const char *column, bool known, double have,
			 int digits)
{
	const char *want = cell(t, column);
	double tolerance = digits ? 0.5001 * pow(10, -digits) : 1e-9;

	if (strcmp(want, "-") == 0 ? known : !known || fabs(strtod(want, NULL) - have) > tolerance)
		FAIL("%s: %s: want %s, have %g\n", cell(t, "file"), column, want,
		     known ? have : NAN);
}

static void check_range(const struct table *t, const char *name, const struct range *r, int digits)
{
	char column[64];

	snprintf(column, sizeof(column), "%s_min", name);
	check_number(t, column, r->n, r->min, 0);
	snprintf(column, sizeof(column), "%s_max", name);
	check_number(t, column, r->n, r->max, 0);
	if (digits) {
		snprintf(column, sizeof(column), "%s_mean", name);
		check_number(t, column, r->n, r->n ? r->sum / r->n : 0, digits);
	}
}

static void check_log(const struct table *t, const struct facts *f)
{
	bool midstream = strcmp(cell(t, "restarts"), "mid-stream") == 0;

	check_number(t, "rows", true, f->rows, 0);
	check_range(t, "in", &f->in, 1);
	check_number(t, "in_last_avg", strcmp(cell(t, "in_last_avg"), "-") != 0, f->last_avg, 0);
	check_number(t, "gr3d_n", true, f->gr3d.n, 0);
	check_range(t, "gr3d", &f->gr3d, 2);
	check_number(t, "gr3d_ge90", true, f->ge90, 0);
	check_range(t, "gpu_mhz", &f->gpu_mhz, 0);
	check_number(t, "emc_n", true, f->emc.n, 0);
	check_range(t, "emc", &f->emc, 2);
	check_number(t, "emc_zero_no_clock", true, f->emc_zero_no_clock, 0);
	check_number(t, "temp_max", f->temp.n, f->temp.max, 0);
	check_number(t, "odd_avg", true, f->runs.odd, 0);
	if (!midstream)
		check_number(t, "restarts", true, f->runs.restarts, 0);
	else if (f->runs.restarts)
		FAIL("%s: a restart in a run joined in mid-stream\n", cell(t, "file"));
	if (f->runs.interleaved)
		FAIL("%s: interleaved runs\n", cell(t, "file"));
	if (strcmp(cell(t, "restart_rows"), *f->restart_rows ? f->restart_rows : "-") != 0)
		FAIL("%s: restart rows: want %s, have %s\n", cell(t, "file"),
		     cell(t, "restart_rows"), f->restart_rows);
}

static void count_file(const char *name, struct facts *f)
{
	size_t len;
	char *text = load(name, &len);

	assert_non_null(text);
	memset(f, 0, sizeof(*f));
	tegra_runs_init(&f->runs);
	read_all(text, len, 65536, count_facts, f);
	free(text);
}

static void test_logs(void **state)
{
	char *text = load_or_skip("logs/logs.tsv"), path[256];
	static struct facts f;
	unsigned int logs = 0;
	struct table t;

	(void)state;
	open_table(&t, text);
	while (next_row(&t)) {
		snprintf(path, sizeof(path), "logs/%s", cell(&t, "file"));
		count_file(path, &f);
		check_log(&t, &f);
		logs++;
	}
	print_message("%u logs checked, %u differences\n", logs, failures);
	assert_int_equal(failures, 0);
	assert_true(logs >= 32);
	free(text);
}

static void test_restarts(void **state)
{
	static struct facts f;

	(void)state;
	free(load_or_skip("corrupt/corrupt.tsv"));
	count_file("corrupt/restart.log", &f);
	assert_string_equal(f.restart_rows, "13");
	count_file("corrupt/two_writers.log", &f);
	assert_int_equal(f.rows, 60);
	assert_int_equal(f.runs.restarts, 0);
	assert_int_equal(f.runs.interleaved, 1);
	assert_int_equal(f.runs.odd, 0);
	count_file("corrupt/date_backwards.log", &f);
	assert_int_equal(f.runs.next_id, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expected),
		cmocka_unit_test(test_all_lines),
		cmocka_unit_test(test_logs),
		cmocka_unit_test(test_restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
