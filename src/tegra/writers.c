/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/writers.h"

#include <string.h>

#include "tegra/summary.h"

static void fit_init(struct tegra_period_fit *fit)
{
	*fit = (struct tegra_period_fit){.first_s = TEGRA_DATE_UNKNOWN};
}

static void fit_end_stretch(struct tegra_period_fit *fit)
{
	if (fit->first_s == TEGRA_DATE_UNKNOWN)
		return;
	fit->span_s += fit->last_s - fit->first_s;
	fit->lines += fit->last_line - fit->first_line;
	fit->first_s = TEGRA_DATE_UNKNOWN;
}

/* A clock that was set, or a pause: a step far above the usual one, which 1 s cannot hide. */
#define GAP_S	  10
#define GAP_STEPS 5

static bool is_gap(const struct tegra_period_fit *fit, int64_t date_s)
{
	int64_t step_s = date_s - fit->last_s, lines = fit->last_line - fit->first_line;

	if (step_s < 0)
		return true;
	return step_s > GAP_S && lines >= GAP_STEPS &&
	       step_s * lines > GAP_STEPS * (fit->last_s - fit->first_s);
}

static void fit_add(struct tegra_period_fit *fit, int64_t date_s, int64_t line)
{
	if (date_s == TEGRA_DATE_UNKNOWN)
		return;
	if (fit->first_s != TEGRA_DATE_UNKNOWN && is_gap(fit, date_s))
		fit_end_stretch(fit);
	if (fit->first_s == TEGRA_DATE_UNKNOWN) {
		fit->first_s = date_s;
		fit->first_line = line;
	}
	fit->last_s = date_s;
	fit->last_line = line;
}

double tegra_writer_period_ns(const struct tegra_writer *writer)
{
	struct tegra_period_fit fit = writer->fit;

	fit_end_stretch(&fit);
	if (fit.span_s <= 0 || fit.lines < 2)
		return NAN;
	return (double)fit.span_s * 1e9 / (double)fit.lines;
}

void tegra_writers_init(struct tegra_writers *writers)
{
	memset(writers, 0, sizeof(*writers));
	tegra_runs_init(&writers->runs);
	for (int i = 0; i < TEGRA_WRITERS_MAX; i++) {
		fit_init(&writers->writer[i].fit);
		writers->writer[i].last_record = -1;
	}
}

void tegra_writers_free(struct tegra_writers *writers)
{
	for (int i = 0; i < TEGRA_WRITERS_MAX; i++)
		series_free(&writers->writer[i].series);
}

int64_t tegra_series_samples(const struct tegra_series *series)
{
	return (int64_t)series->n * series->merged + series->pending_n;
}

int tegra_writers_count(const struct tegra_writers *writers)
{
	int n = 0;

	for (int i = 0; i < TEGRA_WRITERS_MAX; i++)
		n += writers->writer[i].lines > 0;
	return n;
}

struct tegra_writer *tegra_writers_main(struct tegra_writers *writers, int *number)
{
	struct tegra_writer *main = &writers->writer[0];

	*number = 1;
	for (int i = 1; i < TEGRA_WRITERS_MAX; i++) {
		if (writers->writer[i].lines <= main->lines)
			continue;
		main = &writers->writer[i];
		*number = i + 1;
	}
	return main;
}

static struct tegra_run *run_of(struct tegra_runs *runs, uint32_t id)
{
	for (uint32_t i = 0; id && i < runs->run_count; i++) {
		if (runs->run[i].id == id)
			return &runs->run[i];
	}
	return NULL;
}

/* Where the runs begin that are newer than `run`; ids grow along a series. */
static size_t tail_start(const struct tegra_series *series, uint32_t run)
{
	size_t start = series->n;

	while (start && (!series->points[start - 1].run || series->points[start - 1].run > run))
		start--;
	return start;
}

/* One that was silent since that record, else one not used yet; -1 when all go on. */
static int idle_writer(const struct tegra_writers *writers, int64_t record)
{
	int idle = -1;

	for (int i = 0; i < TEGRA_WRITERS_MAX; i++) {
		int64_t last = writers->writer[i].last_record;

		if (last < record && (idle < 0 || last > writers->writer[idle].last_record))
			idle = i;
	}
	return idle;
}

static int move_points(struct tegra_series *from, size_t start, struct tegra_series *to)
{
	int err = 0;

	if (!to->n)
		to->merged = from->merged;
	for (size_t i = start; i < from->n && !err; i++)
		err = series_add(to, &from->points[i]);
	from->n = start;
	return err;
}

/*
 * A run goes on behind newer ones that were taken for restarts: they write at the same time. They
 * stay where they are when there are more writers than can be told apart.
 */
static int move_newer_runs(struct tegra_writers *writers, struct tegra_run *run)
{
	struct tegra_writer *from = &writers->writer[run->writer], *to;
	size_t start;
	int number, err;

	err = series_flush(&from->series);
	start = tail_start(&from->series, run->id);
	if (err || start == from->series.n)
		return err;
	number = idle_writer(writers, from->series.points[start].t_ns);
	if (number < 0)
		return 0;
	to = &writers->writer[number];
	for (uint32_t i = 0; i < writers->runs.run_count; i++) {
		struct tegra_run *newer = &writers->runs.run[i];

		if (newer->writer == run->writer && newer->id > run->id)
			newer->writer = (uint32_t)number;
	}
	to->last_run = from->last_run;
	to->last_record = from->last_record;
	to->lines += (int64_t)(from->series.n - start) * from->series.merged;
	fit_end_stretch(&to->fit);
	err = move_points(&from->series, start, &to->series);
	from->lines = tegra_series_samples(&from->series);
	from->last_run = run->id;
	fit_end_stretch(&from->fit);
	return err;
}

/* The writer of a sample; of one without rails to tell by, that of the sample before. */
static int find_writer(struct tegra_writers *writers, uint32_t id, enum tegra_run_event event)
{
	struct tegra_run *run = run_of(&writers->runs, id);

	if (!run)
		return 0;
	if (event == TEGRA_RUN_CONTINUES) {
		writers->latest = run->writer;
		return writers->writer[run->writer].last_run == id ? 0
								   : move_newer_runs(writers, run);
	}
	run->writer = writers->latest;
	writers->writer[run->writer].last_run = id;
	fit_end_stretch(&writers->writer[run->writer].fit);
	return 0;
}

int tegra_writers_add(struct tegra_writers *writers, const struct tegra_sample *sample)
{
	struct tegra_writer *writer;
	enum tegra_run_event event;
	struct tegra_point point;
	uint32_t run;
	int err;

	event = tegra_runs_add(&writers->runs, sample, &run);
	err = find_writer(writers, run, event);
	writer = &writers->writer[writers->latest];
	tegra_point_of(sample, writers->records, &point);
	point.run = run ? run : writer->last_run;
	if (!err)
		err = series_add(&writer->series, &point);
	fit_add(&writer->fit, sample->date_s, writer->lines++);
	writer->last_record = writers->records++;
	return err;
}
