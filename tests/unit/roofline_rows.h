/* SPDX-License-Identifier: GPL-2.0-only */
/* The published timings of corpus/verdict/roofline.tsv. */
#ifndef TEGRATRACE_TEST_ROOFLINE_ROWS_H
#define TEGRATRACE_TEST_ROOFLINE_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/roofline.h"

#define COLUMNS 16

static inline void assert_near(double value, double expected, double relative)
{
	if (!(fabs(value - expected) <= relative * fabs(expected)))
		fail_msg("%.9g is not %.9g", value, expected);
}

struct row {
	char *id, *module, *mode, *model, *precision, *batch, *roof, *verdict;
	double gflop, latency_ms, traffic_mb, roof_gflops, dram_gb_s, roof_pct, dram_pct;
};

static inline double decimal(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	assert_true(end != text && !*end);
	return value;
}

static inline bool parse_row(struct row *row, char *line)
{
	char *cells[COLUMNS] = {NULL};
	int n = 0;

	while (line && n < COLUMNS)
		cells[n++] = strsep(&line, "\t");
	if (n != COLUMNS || !strcmp(cells[0], "id"))
		return false;
	*row = (struct row){
		.id = cells[0],
		.module = cells[1],
		.mode = cells[2],
		.model = cells[3],
		.gflop = decimal(cells[4]),
		.precision = cells[5],
		.batch = cells[6],
		.latency_ms = decimal(cells[7]),
		.traffic_mb = decimal(cells[8]),
		.roof = cells[9],
		.roof_gflops = decimal(cells[10]),
		.dram_gb_s = decimal(cells[11]),
		.roof_pct = decimal(cells[12]),
		.dram_pct = decimal(cells[13]),
		.verdict = cells[14],
	};
	return true;
}

/* The corpus is not shipped with the sources. */
static inline FILE *corpus_or_skip(void)
{
	const char *dir = getenv("TEGRATRACE_CORPUS");
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/verdict/roofline.tsv", dir ? dir : "../shared/corpus");
	f = fopen(path, "r");
	if (!f) {
		print_message("no corpus: verdict/roofline.tsv not found, see TEGRATRACE_CORPUS\n");
		skip();
	}
	return f;
}

static inline enum precision row_precision(const struct row *row)
{
	static const struct {
		const char *roof;
		enum precision precision;
	} roofs[] = {
		{"FP32", PREC_FP32},	   {"TF32", PREC_TF32_TC}, {"FP16 CUDA", PREC_FP16},
		{"FP16 TC", PREC_FP16_TC}, {"INT8", PREC_INT8_TC}, {"blog", PREC_FP32},
	};

	for (size_t i = 0; i < sizeof(roofs) / sizeof(roofs[0]); i++)
		if (!strncmp(row->roof, roofs[i].roof, strlen(roofs[i].roof)))
			return roofs[i].precision;
	fail_msg("%s: no precision for '%s'", row->id, row->roof);
	return PRECISIONS;
}

static inline void check_percent(const struct row *row, const char *what, double value,
				 double expected)
{
	double off = fabs(value - expected);

	/* 0.06: the table is rounded to one decimal */
	if (!(off <= 0.02 * expected || off <= 0.06))
		fail_msg("%s: %s is %.3f %%, the table has %.1f", row->id, what, value, expected);
}

/* The file is closed before the rows are used: a child's exit would move its offset. */
static inline int each_row(void (*check)(const struct row *))
{
	FILE *f = corpus_or_skip();
	char text[16384], *next = text;
	struct row row;
	int n = 0;

	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	assert_true(feof(f));
	fclose(f);
	while (next) {
		if (!parse_row(&row, strsep(&next, "\n")))
			continue;
		check(&row);
		n++;
	}
	return n;
}

#endif
