/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A text report as a list of lines. Everything added is sanitised here, so no caller can forget
 * it. Columns are characters, not bytes.
 */
#ifndef TEGRATRACE_REPORT_LINES_H
#define TEGRATRACE_REPORT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define REPORT_COLUMNS 100
#define LABEL_COLUMNS  12 /* of which 8 for the label */

/* Zero-initialise. An error makes further additions do nothing; lines_write() returns it. */
struct lines {
	char **text;
	size_t n;
	bool wide;   /* a table for the verbose report: lines are not cut */
	size_t bold; /* bytes of the first line to write in bold, with colour */
	int error;   /* 0 or -ENOMEM */
};

void lines_free(struct lines *lines);

/* One line, cut to REPORT_COLUMNS with "..." unless wide. */
void lines_addf(struct lines *lines, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Text broken at spaces: `first` begins its first line, `next` the others. With more than max
 * lines (at least 1) the last one is cut.
 */
void lines_wrap(struct lines *lines, const char *first, const char *next, const char *text,
		size_t max);

/* The same behind a label in the column that all labels share. */
void lines_label(struct lines *lines, const char *label, const char *text, size_t max);

/* Move all lines of `from`, and its error, to the end of `to`. */
void lines_move(struct lines *to, struct lines *from);

/* 0, -ENOMEM of an addition, or -errno of a failed write. */
int lines_write(FILE *out, const struct lines *lines, bool color);

/*
 * Cell of a table: src sanitised, cut with "..." to `width` columns and padded to it with spaces,
 * on the right, or on the left when width is negative.
 */
void text_cell(char *dst, size_t size, const char *src, int width);

#endif
