/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tegra/reader.h"
#include "tegra/sample_json.h"

#define COLUMNS_MAX 40

static unsigned int failures;

#define FAIL(...) (failures++, print_error(__VA_ARGS__))

/* A whole file with a NUL behind it; NULL when it cannot be read. */
static char *load(const char *name, size_t *len)
{
	const char *dir = getenv("TEGRATRACE_CORPUS");
	char path[4096], *text = NULL;
	FILE *f;
	long n;

	snprintf(path, sizeof(path), "%s/tegrastats/%s", dir ? dir : "../shared/corpus", name);
	f = fopen(path, "rb");
	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (n = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET)) {
		text = malloc((size_t)n + 1);
		*len = text ? fread(text, 1, (size_t)n, f) : 0;
		if (text)
			text[*len] = '\0';
	}
	fclose(f);
	return text;
}

/* The corpus is not shipped with the sources. */
static char *load_or_skip(const char *name)
{
	size_t len;
	char *text = load(name, &len);

	failures = 0;
	if (!text) {
		print_message("no corpus: tegrastats/%s not found, see TEGRATRACE_CORPUS\n", name);
		skip();
	}
	return text;
}

/* A table with a header line; rows are split in place. */
struct table {
	char *next;
	unsigned int count;
	char *names[COLUMNS_MAX], *cells[COLUMNS_MAX];
};

static bool split_row(struct table *t, char **cells, unsigned int *count)
{
	char *line = t->next, *eol, *tab;

	if (!*line)
		return false;
	eol = strchr(line, '\n');
	t->next = eol ? eol + 1 : line + strlen(line);
	if (eol)
		*eol = '\0';
	for (*count = 0; line && *count < COLUMNS_MAX; line = tab) {
		cells[(*count)++] = line;
		tab = strchr(line, '\t');
		if (tab)
			*tab++ = '\0';
	}
	return true;
}

static void open_table(struct table *t, char *text)
{
	t->next = text;
	assert_true(split_row(t, t->names, &t->count));
}

static bool next_row(struct table *t)
{
	unsigned int n;

	return split_row(t, t->cells, &n) && n == t->count;
}

static char *cell(const struct table *t, const char *name)
{
	for (unsigned int i = 0; i < t->count; i++) {
		if (strcmp(t->names[i], name) == 0)
			return t->cells[i];
	}
	fail_msg("no column %s", name);
	return NULL;
}

static bool keep_json(const struct tegra_record *r, void *ctx)
{
	json_t *sample = tegra_sample_json(r->sample);

	assert_non_null(sample);
	assert_int_equal(json_array_append_new(ctx, sample), 0);
	return true;
}

static struct tegra_reader *read_all(const char *bytes, size_t len, size_t step, tegra_record_fn fn,
				     void *ctx)
{
	static struct tegra_reader reader;

	tegra_reader_init(&reader);
	for (size_t i = 0; i < len; i += step)
		tegra_reader_push(&reader, bytes + i, len - i < step ? len - i : step, fn, ctx);
	tegra_reader_finish(&reader, fn, ctx);
	return &reader;
}

static bool is_nothing(const json_t *v)
{
	return !v || json_is_null(v) || (json_is_array(v) && !json_array_size(v)) ||
	       (json_is_object(v) && !json_object_size(v));
}

/*
 * Counts differences. `covers`: what is unknown or missing in `have` is no difference, so that a
 * damaged record can be held against the undamaged one.
 */
static unsigned int differ(const char *id, const char *path, json_t *want, json_t *have,
			   bool covers, bool quiet)
{
	unsigned int n = 0;
	char sub[256], *a, *b;
	const char *key;
	json_t *v;
	size_t i;

	if ((covers && is_nothing(have)) || (is_nothing(want) && is_nothing(have)))
		return 0;
	if (json_is_object(want) && json_is_object(have)) {
		json_object_foreach(have, key, v)
		{
			snprintf(sub, sizeof(sub), "%s.%s", path, key);
			n += differ(id, sub, json_object_get(want, key), v, covers, quiet);
		}
		json_object_foreach(want, key, v)
		{
			snprintf(sub, sizeof(sub), "%s.%s", path, key);
			if (!covers && !json_object_get(have, key))
				n += differ(id, sub, v, NULL, covers, quiet);
		}
		/* A name without a reading (null) is not the same as no such name. */
		if (covers || n || !*path || json_object_size(want) == json_object_size(have))
			return n;
		if (!quiet)
			print_error("%s%s: want %zu names, have %zu\n", id, path,
				    json_object_size(want), json_object_size(have));
		return 1;
	}
	if (json_is_array(want) && json_is_array(have) &&
	    (covers ? json_array_size(have) <= json_array_size(want)
		    : json_array_size(have) == json_array_size(want))) {
		json_array_foreach(have, i, v)
		{
			snprintf(sub, sizeof(sub), "%s[%zu]", path, i);
			n += differ(id, sub, json_array_get(want, i), v, covers, quiet);
		}
		return n;
	}
	if (json_is_number(want) && json_is_number(have)) {
		if (fabs(json_number_value(want) - json_number_value(have)) < 1e-9)
			return 0;
	} else if (json_equal(want, have)) {
		return 0;
	}
	if (!quiet) {
		a = json_dumps(want, JSON_ENCODE_ANY);
		b = json_dumps(have, JSON_ENCODE_ANY);
		print_error("%s%s: want %s, have %s\n", id, path, a ? a : "-", b ? b : "-");
		free(a);
		free(b);
	}
	return 1;
}

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
		cmocka_unit_test(test_expected), cmocka_unit_test(test_all_lines),
		cmocka_unit_test(test_corrupt),	 cmocka_unit_test(test_must_hold),
		cmocka_unit_test(test_wrapped),	 cmocka_unit_test(test_logs),
		cmocka_unit_test(test_restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
