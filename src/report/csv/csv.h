/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples as CSV: ours with units in the names, and the columns that other programs made usual. */
#ifndef TEGRATRACE_REPORT_CSV_H
#define TEGRATRACE_REPORT_CSV_H

#include <stdint.h>
#include <stdio.h>

#include "tegra/line.h"

enum csv_form {
	CSV_OWN,
	CSV_SEED, /* the capture script that people start from: its header to the letter */
	CSV_JTOP, /* jetson_stats */
};

/* Returns 0, or -EINVAL for an unknown name; NULL is CSV_OWN. */
int csv_form_from_name(const char *name, enum csv_form *form);

/*
 * The header. jtop's columns follow the board's cores, engines, zones and rails, which the first
 * sample shows; later ones that it lacks are left out. Unknown values are empty cells.
 */
void csv_header(FILE *out, enum csv_form form, const struct tegra_sample *first);

/* `index` counts samples from 0; it stands for the time where the line has no date. */
void csv_row(FILE *out, enum csv_form form, const struct tegra_sample *first,
	     const struct tegra_sample *sample, int64_t index);

#endif
