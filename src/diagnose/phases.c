/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/phases.h"

#include <stdlib.h>
#include <string.h>

/* A GPU reading is one 16.7 ms sample, so single lines flicker: levels are means over this many. */
#define SMOOTH_POINTS 5
#define SHORTEST      5 /* points; a shorter run belongs to its neighbour in a long series */
#define LONG_SERIES   40

#define GPU_FILLED   0.85
#define GPU_WORKS    0.10
#define CORES_WORK   0.5
#define CLOCK_IS_UP  0.8  /* of the phase's usual clock */
#define STEADY_SHARE 0.05 /* of the points with work, for a filled GPU to be what it is about */

static double or_zero(double value)
{
	return isnan(value) ? 0 : value;
}

static enum phase_kind level_of(const struct tegra_series *series, size_t i, size_t half,
				double gpu_full_mhz)
{
	size_t from = i > half ? i - half : 0;
	size_t to = i + half + 1 < series->n ? i + half + 1 : series->n;
	double gpu = 0, work = 0, cores = 0, n = 0;

	for (size_t k = from; k < to; k++) {
		const struct tegra_point *p = &series->points[k];
		double scale =
			isnan(gpu_full_mhz) || isnan(p->gpu_mhz) ? 1 : p->gpu_mhz / gpu_full_mhz;

		if (p->run != series->points[i].run)
			continue;
		n++;
		gpu += or_zero(p->gpu_busy);
		work += or_zero(p->gpu_busy) * fmin(scale, 1);
		cores += or_zero(p->cores_used);
	}
	if (gpu / n >= GPU_FILLED)
		return PHASE_GPU;
	return work / n >= GPU_WORKS || cores / n >= CORES_WORK ? PHASE_WORK : PHASE_IDLE;
}

/* `joined`: no restart of tegrastats lies before it, so it may belong to the phase before. */
static void add_run(struct phases *phases, enum phase_kind kind, size_t from, size_t to,
		    size_t shortest, bool joined)
{
	struct phase *last = phases->n ? &phases->phase[phases->n - 1] : NULL;

	if (last && (phases->n == PHASES_MAX - 1 ||
		     (joined && (last->kind == kind || to - from < shortest)))) {
		last->to = to;
		return;
	}
	/* A short run at the very start takes on the kind of what follows it. */
	if (last && joined && last->to - last->from < shortest) {
		last->kind = kind;
		last->to = to;
		return;
	}
	phases->phase[phases->n++] = (struct phase){kind, from, to};
}

static void find_runs(const struct tegra_series *series, double gpu_full_mhz, struct phases *phases)
{
	size_t half = series->n >= 4 * SMOOTH_POINTS ? SMOOTH_POINTS / 2 : 0;
	size_t shortest = series->n >= LONG_SERIES ? SHORTEST : 1;
	size_t from = 0;
	enum phase_kind kind = level_of(series, 0, half, gpu_full_mhz);
	bool joined = true;

	for (size_t i = 1; i < series->n; i++) {
		enum phase_kind next = level_of(series, i, half, gpu_full_mhz);
		bool same_run = series->points[i].run == series->points[i - 1].run;

		if (next == kind && same_run)
			continue;
		add_run(phases, kind, from, i, shortest, joined);
		from = i;
		kind = next;
		joined = same_run;
	}
	add_run(phases, kind, from, series->n, shortest, joined);
}

static size_t length(const struct phase *phase)
{
	return phase->to - phase->from;
}

/* The longest filled phase if filling the GPU is a fair part of the run, else the longest work. */
static int choose_steady(const struct phases *phases)
{
	int longest[3] = {-1, -1, -1};
	size_t total[3] = {0};

	for (int i = 0; i < phases->n; i++) {
		enum phase_kind kind = phases->phase[i].kind;

		total[kind] += length(&phases->phase[i]);
		if (longest[kind] < 0 ||
		    length(&phases->phase[i]) > length(&phases->phase[longest[kind]]))
			longest[kind] = i;
	}
	if (longest[PHASE_GPU] >= 0 &&
	    (double)total[PHASE_GPU] >=
		    STEADY_SHARE * (double)(total[PHASE_GPU] + total[PHASE_WORK]))
		return longest[PHASE_GPU];
	return longest[PHASE_WORK];
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static double median_clock(const struct tegra_series *series, const struct phase *phase)
{
	float *clocks = malloc(length(phase) * sizeof(*clocks));
	size_t n = 0;
	double median = NAN;

	if (!clocks)
		return NAN;
	for (size_t i = phase->from; i < phase->to; i++) {
		if (!isnan(series->points[i].gpu_mhz))
			clocks[n++] = series->points[i].gpu_mhz;
	}
	qsort(clocks, n, sizeof(*clocks), compare_floats);
	if (n)
		median = clocks[n / 2];
	free(clocks);
	return median;
}

/* The governor needs a moment at the beginning of load; that is not how the clock is in the run. */
static void split_warm_up(const struct tegra_series *series, struct phases *phases)
{
	struct phase *steady = &phases->phase[phases->steady];
	double usual_mhz = median_clock(series, steady);
	size_t up = steady->from;

	while (up < steady->to && series->points[up].gpu_mhz < CLOCK_IS_UP * usual_mhz)
		up++;
	if (up == steady->from || up == steady->to || phases->n == PHASES_MAX)
		return;
	memmove(steady + 1, steady, (size_t)(phases->n - phases->steady) * sizeof(*steady));
	steady[0] = (struct phase){PHASE_WARM_UP, steady[0].from, up};
	steady[1].from = up;
	phases->steady++;
	phases->n++;
}

void phases_find(const struct tegra_series *series, double gpu_full_mhz, struct phases *phases)
{
	*phases = (struct phases){.steady = -1};
	if (!series->n)
		return;
	find_runs(series, gpu_full_mhz, phases);
	phases->steady = choose_steady(phases);
	if (phases->steady >= 0)
		split_warm_up(series, phases);
}
