/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The samples of a log by the tegrastats that wrote them. One that starts after another has ended
 * goes on with its series, as a new run in it; one that writes while another goes on has a series
 * of its own, since neighbours in a series must be neighbours in time.
 */
#ifndef TEGRATRACE_TEGRA_WRITERS_H
#define TEGRATRACE_TEGRA_WRITERS_H

#include "session/session.h"
#include "tegra/line.h"

#define TEGRA_WRITERS_MAX 4

/* The time between lines from dates, which have a resolution of 1 s and repeat. */
struct tegra_period_fit {
	int64_t first_s, last_s; /* of the stretch that is going on; TEGRA_DATE_UNKNOWN none */
	int64_t first_line, last_line;
	int64_t span_s, lines; /* of all stretches before */
};

struct tegra_writer {
	struct tegra_series series; /* t_ns: the number of the record in the log */
	struct tegra_period_fit fit;
	int64_t lines; /* taken so far */
	uint32_t last_run;
	int64_t last_record; /* of the log; -1 none */
};

struct tegra_writers {
	struct tegra_runs runs;
	struct tegra_writer writer[TEGRA_WRITERS_MAX];
	uint32_t latest; /* whose sample came last */
	int64_t records;
};

void tegra_writers_init(struct tegra_writers *writers);
void tegra_writers_free(struct tegra_writers *writers);

/* Returns 0 or -ENOMEM. */
int tegra_writers_add(struct tegra_writers *writers, const struct tegra_sample *sample);

/* How many there are, the one with most samples, and its number in order of appearance, from 1. */
int tegra_writers_count(const struct tegra_writers *writers);
struct tegra_writer *tegra_writers_main(struct tegra_writers *writers, int *number);

/* Samples in a series, those that its points were merged from. */
int64_t tegra_series_samples(const struct tegra_series *series);

/* ns between lines, over stretches without a restart, a pause or a step back; NAN unknown. */
double tegra_writer_period_ns(const struct tegra_writer *writer);

#endif
