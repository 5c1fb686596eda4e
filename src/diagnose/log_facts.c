/* SPDX-License-Identifier: GPL-2.0-only */
/* The same facts from the samples of a log: no threads, and no clock of ours. */
#include "diagnose/facts.h"

#include <string.h>

#include "tegra/guess.h"
#include "tegra/lag.h"
#include "tegra/modules.h"

/* A GPU this busy would be clocked up if it could. */
#define LOADED 0.9
/* The governor acts a little before the trip point is read. */
#define TRIP_MARGIN_C 0.5

struct mean {
	double sum;
	size_t n;
};

static void add(struct mean *mean, double value)
{
	if (isnan(value))
		return;
	mean->sum += value;
	mean->n++;
}

static double value_of(const struct mean *mean)
{
	return mean->n ? mean->sum / (double)mean->n : NAN;
}

struct sums {
	struct mean gpu, gpu_squares, work, emc, core_max, cores, clock, loaded_clock, hot_clock;
	struct mean power, emc_clock;
	double best_loaded_mhz, worst_loaded_mhz;
	double hottest_c;
};

/*
 * A point has the hottest zone of any kind, which may be the one with the highest trip point: a
 * missed margin is better than a false alarm.
 */
static double trip_of(const struct board_info *board)
{
	return fmax(board->trips.sw_gpu_c, fmax(board->trips.sw_cpu_c, board->trips.sw_other_c));
}

static double lowest_trip_of(const struct board_info *board)
{
	return fmin(board->trips.sw_gpu_c, fmin(board->trips.sw_cpu_c, board->trips.sw_other_c));
}

static void add_point(struct sums *sums, const struct tegra_point *p, double full_mhz,
		      double trip_c)
{
	double scale = isnan(full_mhz) || isnan(p->gpu_mhz) ? 1 : fmin(p->gpu_mhz / full_mhz, 1);

	add(&sums->gpu, p->gpu_busy);
	add(&sums->gpu_squares, p->gpu_busy * p->gpu_busy);
	add(&sums->work, p->gpu_busy * scale);
	add(&sums->emc, p->emc_busy);
	add(&sums->core_max, p->core_max);
	add(&sums->cores, p->cores_used);
	add(&sums->power, p->power_mw);
	add(&sums->emc_clock, p->emc_mhz);
	sums->hottest_c = fmax(sums->hottest_c, p->hottest_c);
	if (p->gpu_busy > 0.05)
		add(&sums->clock, p->gpu_mhz);
	if (!(p->gpu_busy >= LOADED) || isnan(p->gpu_mhz))
		return;
	add(&sums->loaded_clock, p->gpu_mhz);
	sums->best_loaded_mhz = fmax(sums->best_loaded_mhz, p->gpu_mhz);
	sums->worst_loaded_mhz = fmin(sums->worst_loaded_mhz, p->gpu_mhz);
	if (p->hottest_c >= trip_c - TRIP_MARGIN_C)
		add(&sums->hot_clock, p->gpu_mhz);
}

/* Of a run the board tells; of a log, the power mode that its clocks and cores fit. */
static double sm_share(const struct session *session, const struct sums *sums)
{
	const struct board_gpu *gpu = &session->board.gpu;
	const struct tegra_summary *tegra = &session->tegra;
	const struct module *module;
	const struct mean *clock = sums->loaded_clock.n ? &sums->loaded_clock : &sums->clock;
	int sm = gpu->sm_active;

	if (session->board_guessed) {
		module = module_by_name(session->board.module, NULL);
		if (!module)
			return NAN;
		sm = tegra_guess_sm(module, value_of(clock),
				    tegra->cpus_off < 0 ? -1 : module->cpus - tegra->cpus_off,
				    tegra->emc_clock_mhz.n ? tegra->emc_clock_mhz.max : NAN);
	}
	return sm > 0 && gpu->sm_total >= sm ? (double)sm / gpu->sm_total : NAN;
}

static void fill(const struct sums *sums, double full_mhz, struct facts *facts)
{
	double variance;

	facts->gpu_samples = (double)sums->gpu.n;
	facts->gpu_busy = value_of(&sums->gpu);
	facts->gpu_idle = 1 - facts->gpu_busy;
	/* No thread is seen in a log; a little work at a low clock is work all the same. */
	facts->gpu_unused = facts->gpu_idle;
	variance = value_of(&sums->gpu_squares) - facts->gpu_busy * facts->gpu_busy;
	if (sums->gpu.n > 1)
		facts->gpu_busy_error = 1.96 * sqrt(fmax(variance, 0) / (double)sums->gpu.n);
	facts->gpu_work = value_of(&sums->work);
	facts->emc_busy = value_of(&sums->emc);
	facts->core_max = value_of(&sums->core_max);
	facts->cores_used = value_of(&sums->cores);
	facts->gpu_mhz = value_of(&sums->clock);
	facts->power_raw_mw = value_of(&sums->power);
	facts->hottest_c = sums->hottest_c;
	/* Only a loaded GPU shows what it may run at: an idle one is clocked down on purpose. */
	facts->clock_headroom = full_mhz / value_of(&sums->loaded_clock);
	if (sums->loaded_clock.n)
		facts->clock_spread = 1 - sums->worst_loaded_mhz / sums->best_loaded_mhz;
	if (sums->hot_clock.n)
		facts->hot_clock_loss = 1 - value_of(&sums->hot_clock) / sums->best_loaded_mhz;
	facts->activity = fmax(facts->gpu_work, facts->cores_used);
	facts->turns = facts->core_max + facts->gpu_busy;
	if (facts->gpu_busy > 0)
		facts->cpu_over_gpu = facts->core_max / facts->gpu_busy;
}

static double emc_of(const struct tegra_point *point)
{
	return point->emc_busy;
}

static double power_of(const struct tegra_point *point)
{
	return point->power_mw;
}

/*
 * The mean of a lagging quantity over the points [from, to), each dt_s: over a short phase the mean
 * of what was printed still holds what was before.
 */
static double corrected(const struct tegra_series *series, size_t from, size_t to, double dt_s,
			double mean, double (*value)(const struct tegra_point *), double tau_s)
{
	const struct tegra_point *points = series->points;
	size_t first = from, last = to - 1;
	double before = NAN;

	while (first < last && isnan(value(&points[first])))
		first++;
	while (last > first && isnan(value(&points[last])))
		last--;
	if (from && points[from - 1].run == points[from].run)
		before = value(&points[from - 1]);
	if (isnan(before))
		before = value(&points[first]);
	return lag_sampled_mean(mean, before, value(&points[last]), tau_s, dt_s,
				(double)(to - from));
}

/* The INA238 behind Thor's VIN averages over a time that is not known. */
static double power_tau_s(const struct tegra_summary *tegra)
{
	for (int i = 0; i < tegra->rails; i++) {
		if (!strcmp(tegra->power_mw[i].name, "VIN"))
			return NAN;
	}
	return LAG_VDD_IN_TAU_S;
}

void facts_gather_log(const struct session *session, size_t from, size_t to, struct facts *facts)
{
	const struct tegra_series *series = &session->series;
	struct sums sums = {.hottest_c = NAN, .worst_loaded_mhz = NAN};
	double full_mhz = session->board.gpu.hw_max_mhz, trip_c = trip_of(&session->board);
	int64_t duration_ns = session_duration_ns(session);
	double dt_s, emc;

	facts_init(facts);
	for (size_t i = from; i < to; i++)
		add_point(&sums, &series->points[i], full_mhz, isnan(trip_c) ? INFINITY : trip_c);
	facts->trip_c = trip_c;
	facts->lowest_trip_c = lowest_trip_of(&session->board);
	fill(&sums, full_mhz, facts);
	facts->sm_share = sm_share(session, &sums);
	if (!isnan(facts->sm_share))
		facts->clock_headroom /= facts->sm_share;
	/* What the power mode allows is not in a log, so this is against the clock that was used. */
	facts->emc_headroom = session->board.emc.hw_max_mhz / value_of(&sums.emc_clock);
	if (duration_ns == UNKNOWN_NS || to == from)
		return;
	dt_s = (double)duration_ns / 1e9 / (double)series->n;
	facts->window_s = dt_s * (double)(to - from);
	facts->power_mw = corrected(series, from, to, dt_s, facts->power_raw_mw, power_of,
				    power_tau_s(&session->tegra));
	emc = corrected(series, from, to, dt_s, facts->emc_busy, emc_of, LAG_EMC_TAU_S);
	if (!isnan(emc))
		facts->emc_busy = fmin(fmax(emc, 0), 1);
}
