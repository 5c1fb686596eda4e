/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/rows.h"

#include <string.h>

/* A copy may have lost the blank at the end of a row. */
static bool is_full(size_t len)
{
	return len == TEGRA_ROW_COLUMNS || len == TEGRA_ROW_COLUMNS - 1;
}

static bool has_head(const char *text, size_t len)
{
	return memmem(text, len, "RAM ", 4) != NULL;
}

static bool is_blank(const char *text, size_t len)
{
	while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	return !len;
}

bool tegra_rows_take(struct tegra_rows *rows, const char *text, size_t len)
{
	if (len > TEGRA_ROW_COLUMNS || rows->n == TEGRA_ROWS_MAX)
		return false;
	if (rows->n ? !is_full(rows->len[rows->n - 1]) || has_head(text, len) || is_blank(text, len)
		    : !is_full(len) || !has_head(text, len))
		return false;
	memcpy(rows->text[rows->n], text, len);
	rows->len[rows->n++] = len;
	return true;
}

size_t tegra_rows_join(const struct tegra_rows *rows, bool whole,
		       char joined[TEGRA_ROWS_JOINED_SIZE], struct tegra_sample *out,
		       struct tegra_span *span)
{
	size_t len = 0, pos = 0;

	if (rows->n < 2)
		return 0;
	for (uint32_t i = 0; i < rows->n; i++) {
		memcpy(joined + len, rows->text[i], rows->len[i]);
		len += rows->len[i];
		if (i + 1 < rows->n && rows->len[i] < TEGRA_ROW_COLUMNS)
			joined[len++] = ' ';
	}
	if (tegra_line_next(joined, len, &pos, whole, out, span) != TEGRA_LINE_OK || pos != len)
		return 0;
	return out->unknown_total || out->dropped || out->cpu_partial ? 0 : len;
}
