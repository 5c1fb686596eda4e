/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/line.h"

#include <math.h>
#include <string.h>

/* R32 to early R36 cut the average to whole mW, later releases round it. */
#define FIT_MW 1.5

/* Two runs can fit by chance: an older one must fit better by this much than the latest. */
#define LATEST_BONUS_MW 0.5

void tegra_runs_init(struct tegra_runs *runs)
{
	memset(runs, 0, sizeof(*runs));
}

/*
 * Thor's VIN is left out: its first average is half of the current value, as if a zero had been
 * counted first (R38, R39).
 */
static bool has_average(const struct tegra_rail *r)
{
	return r->cur_mw != TEGRA_UNKNOWN && r->avg_mw != TEGRA_UNKNOWN &&
	       strcmp(r->name, "VIN") != 0;
}

/* Rails of one sample by position: NC comes twice on AGX Orin. */
static struct tegra_run_rail *find_rail(struct tegra_run *run, uint32_t hint, const char *name)
{
	if (hint < run->rail_count && strcmp(run->rail[hint].name, name) == 0)
		return &run->rail[hint];
	for (uint32_t i = 0; i < run->rail_count; i++) {
		if (strcmp(run->rail[i].name, name) == 0)
			return &run->rail[i];
	}
	return NULL;
}

/*
 * How far the average is from what the run's mean predicts. With an unknown number of samples in
 * the mean (n >= 1) the new mean lies between the old one and the middle to the current value.
 */
static double misfit(const struct tegra_run_rail *rail, const struct tegra_rail *r)
{
	double next = (rail->mean_mw + r->cur_mw) / 2, low, high;

	if (rail->count > 0) {
		next = (rail->mean_mw * rail->count + r->cur_mw) / (rail->count + 1);
		return fabs(next - r->avg_mw);
	}
	low = fmin(rail->mean_mw, next);
	high = fmax(rail->mean_mw, next);
	return fmax(0, fmax(low - r->avg_mw, r->avg_mw - high));
}

/* The worst rail; INFINITY when the run has none of the sample's rails. */
static double run_misfit(struct tegra_run *run, const struct tegra_sample *s)
{
	double worst = 0;
	bool any = false;

	for (uint32_t i = 0; i < s->rail_count; i++) {
		struct tegra_run_rail *rail;

		if (!has_average(&s->rail[i]))
			continue;
		rail = find_rail(run, i, s->rail[i].name);
		if (!rail)
			continue;
		any = true;
		worst = fmax(worst, misfit(rail, &s->rail[i]));
	}
	return any ? worst : INFINITY;
}

static bool is_fresh(const struct tegra_sample *s)
{
	for (uint32_t i = 0; i < s->rail_count; i++) {
		if (has_average(&s->rail[i]) && s->rail[i].cur_mw != s->rail[i].avg_mw)
			return false;
	}
	return true;
}

static void advance(struct tegra_run *run, const struct tegra_sample *s, uint64_t now)
{
	run->last_sample = now;
	for (uint32_t i = 0; i < s->rail_count; i++) {
		struct tegra_run_rail *rail;

		if (!has_average(&s->rail[i]))
			continue;
		rail = find_rail(run, i, s->rail[i].name);
		if (!rail)
			continue;
		if (rail->count > 0) {
			rail->mean_mw = (rail->mean_mw * rail->count + s->rail[i].cur_mw) /
					(rail->count + 1);
			rail->count++;
		} else {
			rail->mean_mw = s->rail[i].avg_mw;
		}
	}
}

/* A new run takes the place of the one that was silent longest. */
static struct tegra_run *start_run(struct tegra_runs *runs, const struct tegra_sample *s,
				   bool fresh)
{
	struct tegra_run *run = &runs->run[0];

	if (runs->run_count < TEGRA_RUNS_MAX) {
		run = &runs->run[runs->run_count++];
	} else {
		for (uint32_t i = 1; i < TEGRA_RUNS_MAX; i++) {
			if (runs->run[i].last_sample < run->last_sample)
				run = &runs->run[i];
		}
	}
	memset(run, 0, offsetof(struct tegra_run, rail));
	run->id = ++runs->next_id;
	run->midstream = !fresh;
	run->last_sample = runs->samples;
	run->rail_count = s->rail_count;
	for (uint32_t i = 0; i < s->rail_count; i++) {
		struct tegra_run_rail *rail = &run->rail[i];

		memcpy(rail->name, s->rail[i].name, sizeof(rail->name));
		rail->mean_mw = s->rail[i].avg_mw;
		rail->count = fresh ? 1 : 0;
	}
	return run;
}

static struct tegra_run *best_run(struct tegra_runs *runs, const struct tegra_sample *s)
{
	struct tegra_run *best = NULL;
	double best_score = INFINITY;
	uint64_t latest = 0;

	for (uint32_t i = 0; i < runs->run_count; i++) {
		if (runs->run[i].last_sample > latest)
			latest = runs->run[i].last_sample;
	}
	for (uint32_t i = 0; i < runs->run_count; i++) {
		struct tegra_run *run = &runs->run[i];
		double score = run_misfit(run, s);

		if (score > FIT_MW)
			continue;
		if (run->last_sample == latest)
			score -= LATEST_BONUS_MW;
		if (score < best_score) {
			best = run;
			best_score = score;
		}
	}
	return best;
}

/* A run that began after this one and was taken for a restart writes at the same time. */
static void note_interleaved(struct tegra_runs *runs, const struct tegra_run *older)
{
	for (uint32_t i = 0; i < runs->run_count; i++) {
		struct tegra_run *run = &runs->run[i];

		if (run->id <= older->id || !run->counted_restart)
			continue;
		run->counted_restart = false;
		runs->restarts--;
		runs->interleaved++;
	}
}

enum tegra_run_event tegra_runs_add(struct tegra_runs *runs, const struct tegra_sample *sample,
				    uint32_t *run_id)
{
	bool first = runs->next_id == 0, fresh = is_fresh(sample), any = false;
	struct tegra_run *run;

	for (uint32_t i = 0; i < sample->rail_count; i++)
		any |= has_average(&sample->rail[i]);
	if (run_id)
		*run_id = 0;
	if (!any)
		return TEGRA_RUN_NO_RAILS;
	runs->samples++;
	run = best_run(runs, sample);
	if (run) {
		note_interleaved(runs, run);
		advance(run, sample, runs->samples);
		if (run_id)
			*run_id = run->id;
		return TEGRA_RUN_CONTINUES;
	}
	run = start_run(runs, sample, fresh);
	if (run_id)
		*run_id = run->id;
	if (first)
		return TEGRA_RUN_FIRST;
	if (!fresh) {
		runs->odd++;
		return TEGRA_RUN_ODD;
	}
	run->counted_restart = true;
	runs->restarts++;
	return TEGRA_RUN_RESTART;
}
