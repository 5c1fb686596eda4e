/* SPDX-License-Identifier: GPL-2.0-only */
/* The corpus of tegrastats text (TEGRATRACE_CORPUS), and samples held against it. */
#ifndef TEGRATRACE_TEST_CORPUS_H
#define TEGRATRACE_TEST_CORPUS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tegra/reader.h"
#include "tegra/sample_json.h"

#define COLUMNS_MAX 40

static unsigned int failures;

#define FAIL(...) (failures++, print_error(__VA_ARGS__))

/* A whole file with a NUL behind it; NULL when it cannot be read. */
static inline char *load(const char *name, size_t *len)
{
	const char *dir = getenv("TEGRATRACE_CORPUS");
	char path[4096], *text = NULL;
	FILE *f;
	long n;

	*len = 0;
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
static inline char *load_or_skip(const char *name)
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

static inline bool split_row(struct table *t, char **cells, unsigned int *count)
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

static inline void open_table(struct table *t, char *text)
{
	t->next = text;
	assert_true(split_row(t, t->names, &t->count));
}

static inline bool next_row(struct table *t)
{
	unsigned int n;

	return split_row(t, t->cells, &n) && n == t->count;
}

static inline char *cell(const struct table *t, const char *name)
{
	for (unsigned int i = 0; i < t->count; i++) {
		if (strcmp(t->names[i], name) == 0)
			return t->cells[i];
	}
	fail_msg("no column %s", name);
	return t->cells[0];
}

static inline bool keep_json(const struct tegra_record *r, void *ctx)
{
	json_t *sample = tegra_sample_json(r->sample);

	assert_non_null(sample);
	assert_int_equal(json_array_append_new(ctx, sample), 0);
	return true;
}

static inline struct tegra_reader *read_all(const char *bytes, size_t len, size_t step,
					    tegra_record_fn fn, void *ctx)
{
	static struct tegra_reader reader;

	tegra_reader_init(&reader);
	for (size_t i = 0; i < len; i += step)
		tegra_reader_push(&reader, bytes + i, len - i < step ? len - i : step, fn, ctx);
	tegra_reader_finish(&reader, fn, ctx);
	return &reader;
}

static inline bool is_nothing(const json_t *v)
{
	return !v || json_is_null(v) || (json_is_array(v) && !json_array_size(v)) ||
	       (json_is_object(v) && !json_object_size(v));
}

/*
 * Counts differences. `covers`: what is unknown or missing in `have` is no difference, so that a
 * damaged record can be held against the undamaged one.
 */
static inline unsigned int differ(const char *id, const char *path, json_t *want, json_t *have,
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

#endif
