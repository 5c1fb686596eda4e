/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/facts.h"

#include <string.h>

#include "diagnose/phase_verdicts.h"

static double share_of(int64_t ns, double window_s)
{
	return window_s > 0 ? (double)ns / 1e9 / window_s : NAN;
}

static int64_t runq_ns(const struct thread_account *thread)
{
	return thread->runq_wake_ns + thread->runq_preempt_ns;
}

static void gather_threads(const struct session *session, struct facts *facts)
{
	int64_t total_ns = 0, best_ns = -1;

	for (size_t i = 0; i < session->nthreads; i++) {
		const struct thread_account *thread = &session->threads[i];
		int64_t wanted_ns = thread->oncpu_ns + runq_ns(thread);

		total_ns += thread->oncpu_ns;
		if (thread->folded == 1 && wanted_ns > best_ns) {
			best_ns = wanted_ns;
			facts->critical = thread;
		}
	}
	facts->target_cpu =
		share_of(total_ns, facts->window_s) / (facts->cpus > 0 ? facts->cpus : 1);
	facts->second_oncpu = 0;
	for (size_t i = 0; i < session->nthreads; i++) {
		const struct thread_account *thread = &session->threads[i];
		double share = share_of(thread->oncpu_ns, facts->window_s);

		if (thread != facts->critical && thread->folded == 1 && share > facts->second_oncpu)
			facts->second_oncpu = share;
	}
	if (!facts->critical)
		return;
	facts->critical_oncpu = share_of(facts->critical->oncpu_ns, facts->window_s);
	facts->critical_work = facts->critical_oncpu;
	if (facts->critical->gpu_spin_ns > 0)
		facts->critical_work -= share_of(facts->critical->gpu_spin_ns, facts->window_s);
	facts->critical_runq = share_of(runq_ns(facts->critical), facts->window_s);
	facts->critical_unknown = share_of(facts->critical->unknown_ns, facts->window_s);
}

static void gather_gpu(const struct session *session, struct facts *facts)
{
	const struct tegra_summary *tegra = &session->tegra;
	double spread;

	facts->gpu_samples = 0;
	if (tegra->state == TEGRA_NONE || tegra->state == TEGRA_RECORDED ||
	    tegra->state == TEGRA_GARBAGE)
		return;
	facts->gpu_samples = (double)tegra->gpu_busy.n;
	if (tegra->gpu_busy.n < GPU_SAMPLES_MIN)
		return;
	facts->gpu_busy = tegra->gpu_busy.mean;
	facts->gpu_idle = 1 - facts->gpu_busy;
	/*
	 * One reading is a 16.7 ms sample, so the mean of few is poor. The variance of values in
	 * [min, max] with this mean is at most (max - mean)(mean - min): an upper bound of the error.
	 */
	spread = (tegra->gpu_busy.max - tegra->gpu_busy.mean) *
		 (tegra->gpu_busy.mean - tegra->gpu_busy.min);
	facts->gpu_busy_error = 1.96 * sqrt(fmax(spread, 0) / (double)tegra->gpu_busy.n);
	if (tegra->emc_busy.n)
		facts->emc_busy = tegra->emc_busy.mean;
}

static double events(int64_t count)
{
	return count == UNKNOWN_COUNT ? NAN : (double)count;
}

/* Each OC3 event halves the clocks for about 1.07 ms (facts on hardware, cost of OC3). */
#define OC3_EVENT_S   1.07e-3
#define OC3_CLOCK_CUT 0.5
/* The governor acts a little before the trip point is read. */
#define TRIP_MARGIN_C 0.5
/* A GPU this busy would be clocked up if it could. */
#define LOADED 0.9
/* One CPU is measured each 0.5 s, for half a millisecond. */
#define CPU_MEASUREMENTS_MIN 4

static void gather_throttle(const struct session *session, struct facts *facts)
{
	const struct throttle_summary *throttle = &session->throttle;

	facts->under_voltage = events(throttle->oc_events[0]);
	facts->power_limit = events(throttle->oc_events[1]);
	facts->under_voltage_10s = facts->under_voltage / fmax(facts->window_s / 10, 1);
	facts->power_limit_10s = facts->power_limit / fmax(facts->window_s / 10, 1);
	facts->oc3_loss =
		events(throttle->oc_events[2]) * OC3_EVENT_S * OC3_CLOCK_CUT / facts->window_s;
	if (throttle->cooling_active >= 0)
		facts->cooling = throttle->margin_c <= TRIP_MARGIN_C ? throttle->cooling_active : 0;
	facts->hottest_c = throttle->trip_c - throttle->margin_c;
	facts->trip_c = throttle->trip_c;
	/* Elsewhere the two files may mean something else. */
	if (*session->board.soc && throttle->cpu_measurements >= CPU_MEASUREMENTS_MIN)
		facts->cpu_clock_loss = 1 - throttle->cpu_clock_share;
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static void gather_clocks(const struct session *session, struct facts *facts)
{
	const struct board_info *board = &session->board;
	double full_mhz = fmax(board->gpu.hw_max_mhz, board->largest.gpu_mhz);
	double sm = 1;

	if (board->gpu.sm_active > 0 && board->gpu.sm_total >= board->gpu.sm_active)
		sm = (double)board->gpu.sm_total / board->gpu.sm_active;
	facts->mode_headroom = ratio(full_mhz, board->gpu.cap_mhz) * sm;
	facts->emc_headroom = ratio(board->emc.hw_max_mhz, board->emc.cap_mhz);
	if (session->tegra.emc_clock_mhz.n)
		facts->emc_clock_share =
			ratio(session->tegra.emc_clock_mhz.mean, board->emc.cap_mhz);
	if (isnan(facts->gpu_busy) || !session->tegra.gpu_clock_mhz.n)
		return;
	facts->gpu_clock_share = ratio(session->tegra.gpu_clock_mhz.mean, board->gpu.cap_mhz);
	if (facts->gpu_busy >= LOADED && session->throttle.margin_c <= TRIP_MARGIN_C)
		facts->hot_clock_loss = fmax(1 - facts->gpu_clock_share, 0);
	if (facts->gpu_busy >= LOADED && (facts->under_voltage >= 1 || facts->power_limit >= 1))
		facts->event_clock_loss = fmax(1 - facts->gpu_clock_share, 0);
	if (facts->gpu_busy < 0.5)
		return;
	facts->gpu_mhz = session->tegra.gpu_clock_mhz.mean;
	facts->clock_headroom = ratio(full_mhz, facts->gpu_mhz) * sm;
}

static void gather_system(const struct session *session, struct facts *facts)
{
	double busy = 0;

	if (!session->ncpus)
		return;
	for (size_t i = 0; i < session->ncpus; i++)
		busy += session->cpus[i].busy;
	facts->system_cpu = busy / (double)session->ncpus;
}

/* Of what was read in, the part that had been evicted not long before: memory is short. */
static double refault_share(const struct session *session)
{
	const struct pressure *pressure = &session->pressure;
	double back = 0, in = events(pressure->vm[VM_PAGED_IN_BYTES]);
	double pages =
		events(pressure->vm[VM_REFAULTS_FILE]) + events(pressure->vm[VM_REFAULTS_ANON]);

	if (!pressure->measured || session->host.page_bytes <= 0)
		return NAN;
	back = pages * (double)session->host.page_bytes;
	if (!(in > 0))
		return isnan(in) || isnan(back) ? NAN : 0;
	return fmin(back / in, 1);
}

/* Samples fewer than this say nothing about a share. */
#define SAMPLES_MIN 30

static bool is_gpu_library(const char *library)
{
	static const char *const names[] = {"libcuda", "libcudart", "libnvrm", "libnvos"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(library, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

/* Of all samples of a thread, those in the GPU's library. */
static double inside_library(const struct session *session, const struct thread_account *thread)
{
	int64_t inside = 0, all = 0;

	for (size_t i = 0; i < session->noncpu; i++) {
		const struct oncpu_site *site = &session->oncpu[i];

		if (site->pid != thread->pid || site->tid != thread->tid)
			continue;
		all += site->samples;
		if (is_gpu_library(site->library))
			inside += site->samples;
	}
	return all >= SAMPLES_MIN ? (double)inside / (double)all : NAN;
}

/*
 * Of a thread's computing: the part inside the GPU's library that is not waiting. Counted where the
 * launches are; else what samples find in the library beyond the waits, whose time is known.
 */
static double launch_share(const struct session *session, const struct thread_account *thread)
{
	double spin_ns = thread->gpu_spin_ns > 0 ? (double)thread->gpu_spin_ns : 0;
	double work_ns = (double)thread->oncpu_ns - spin_ns, launch_ns;

	if (!(work_ns > 0))
		return NAN;
	if (thread->cuda.launches != UNKNOWN_COUNT)
		launch_ns = (double)thread->cuda.launch_ns;
	else
		launch_ns = inside_library(session, thread) * (double)thread->oncpu_ns - spin_ns;
	return isnan(launch_ns) ? NAN : fmin(fmax(launch_ns, 0) / work_ns, 1);
}

/* The feeder's time that something of the machine takes: one that waits for requests is idle. */
static double limited_share(const struct wait_path *path)
{
	static const enum path_end ends[] = {PATH_CPU,	PATH_RUNQ,  PATH_GPU,
					     PATH_DISK, PATH_FAULT, PATH_LOCK};
	double share = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		share += path->parts[ends[i]].share;
	return share;
}

static void gather_path(const struct session *session, struct facts *facts)
{
	const struct path_part *parts = facts->path.parts;

	wait_path_find(session, &facts->path);
	facts->refault_share = refault_share(session);
	if (!facts->path.feeder) {
		facts->gpu_unused = 1 - facts->gpu_busy;
		return;
	}
	facts->activity = fmax(facts->activity, limited_share(&facts->path));
	facts->launch_share = launch_share(session, facts->path.feeder);
	facts->path_cpu_over_gpu = parts[PATH_GPU].share > 0
					   ? parts[PATH_CPU].share / parts[PATH_GPU].share
					   : INFINITY;
}

void facts_init(struct facts *facts)
{
	*facts = (struct facts){
		.window_s = NAN,
		.critical_oncpu = NAN,
		.critical_work = NAN,
		.critical_runq = NAN,
		.critical_unknown = NAN,
		.system_cpu = NAN,
		.gpu_busy = NAN,
		.gpu_idle = NAN,
		.gpu_busy_error = NAN,
		.emc_busy = NAN,
		.core_max = NAN,
		.cores_used = NAN,
		.gpu_work = NAN,
		.gpu_mhz = NAN,
		.clock_headroom = NAN,
		.sm_share = NAN,
		.hot_clock_loss = NAN,
		.hottest_c = NAN,
		.trip_c = NAN,
		.lowest_trip_c = NAN,
		.clock_spread = NAN,
		.steady_differs = NAN,
		.gpu_clock_share = NAN,
		.mode_headroom = NAN,
		.emc_clock_share = NAN,
		.emc_headroom = NAN,
		.cpu_clock_loss = NAN,
		.power_mw = NAN,
		.power_raw_mw = NAN,
		.turns = NAN,
		.under_voltage = NAN,
		.power_limit = NAN,
		.under_voltage_10s = NAN,
		.power_limit_10s = NAN,
		.event_clock_loss = NAN,
		.oc3_loss = NAN,
		.cooling = NAN,
		.cpu_over_gpu = NAN,
		.path_cpu_over_gpu = NAN,
		.launch_share = NAN,
		.gpu_unused = NAN,
		.refault_share = NAN,
	};
	for (int end = 0; end < PATH_ENDS; end++)
		facts->path.parts[end].share = NAN;
}

void facts_gather(const struct session *session, struct facts *facts)
{
	facts_init(facts);
	facts->window_s = (double)(session->end_ns - session->start_ns) / 1e9;
	facts->cpus = session->host.cpus;
	gather_threads(session, facts);
	gather_gpu(session, facts);
	gather_system(session, facts);
	gather_throttle(session, facts);
	gather_clocks(session, facts);
	facts->activity = fmax(facts->critical_oncpu + facts->critical_runq, facts->gpu_busy);
	facts->turns = facts->critical_work + facts->gpu_busy;
	gather_path(session, facts);
	phases_gather_live(session, facts);
	if (!isnan(facts->gpu_busy))
		facts->cpu_over_gpu =
			facts->gpu_busy > 0 ? facts->critical_oncpu / facts->gpu_busy : INFINITY;
}
