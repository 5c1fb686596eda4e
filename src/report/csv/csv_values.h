/* SPDX-License-Identifier: GPL-2.0-only */
/* Cells of a CSV file; only for this folder. */
#ifndef TEGRATRACE_REPORT_CSV_VALUES_H
#define TEGRATRACE_REPORT_CSV_VALUES_H

#include <stdbool.h>
#include <stdio.h>

/* A spreadsheet would take it for a formula. */
bool csv_is_formula(const char *safe);

/* In quotes, with an apostrophe before a formula. Of text that text_sanitize() made. */
void csv_put_quoted(FILE *out, const char *safe);

#endif
