/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A record that a terminal of 80 columns broke into rows, in the middle of numbers too. Rows are
 * held until the next record shows where this one ends.
 */
#ifndef TEGRATRACE_TEGRA_ROWS_H
#define TEGRATRACE_TEGRA_ROWS_H

#include "tegra/line.h"

#define TEGRA_ROW_COLUMNS 80
#define TEGRA_ROWS_MAX	  32

struct tegra_rows {
	uint32_t n;
	size_t len[TEGRA_ROWS_MAX];
	char text[TEGRA_ROWS_MAX][TEGRA_ROW_COLUMNS];
};

#define TEGRA_ROWS_JOINED_SIZE (TEGRA_ROWS_MAX * TEGRA_ROW_COLUMNS)

/* Holds a line that may be a row of a wrapped record: its first, or one more of those held. */
bool tegra_rows_take(struct tegra_rows *rows, const char *text, size_t len);

/*
 * The rows held as one line; returns its length, or 0 when they are not exactly one record in
 * which every word is understood: then they are lines of their own. `whole` as in
 * tegra_line_next(), of the last row.
 */
size_t tegra_rows_join(const struct tegra_rows *rows, bool whole,
		       char joined[TEGRA_ROWS_JOINED_SIZE], struct tegra_sample *out,
		       struct tegra_span *span);

#endif
