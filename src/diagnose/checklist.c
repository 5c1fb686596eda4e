/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/checklist.h"

#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/phases.h"
#include "diagnose/rules.h"
#include "diagnose/typical_modes.h"

#define PCT(share) (100 * (share))

/* The usual advice is a minute at 500 ms; ten readings are the least for a mean. */
#define CAPTURED_SAMPLES 10
/* Public logs of locked clocks read 1005-1019 for 1020 MHz. */
#define CLOCK_JITTER 0.03

static void add(struct verdict *v, const char *name, enum check_result result, const char *format,
		...) __attribute__((format(printf, 4, 5)));

static void add(struct verdict *v, const char *name, enum check_result result, const char *format,
		...)
{
	struct check *check;
	va_list args;

	if (v->nchecks == VERDICT_CHECKS)
		return;
	check = &v->checks[v->nchecks++];
	check->name = name;
	check->result = result;
	va_start(args, format);
	vsnprintf(check->text, sizeof(check->text), format, args);
	va_end(args);
}

static const char *origin(const struct session *session)
{
	return session->tegra.state == TEGRA_LOG ? "log" : "samples";
}

static void check_captured(const struct session *session, const struct facts *facts,
			   struct verdict *v)
{
	add(v, "data captured", facts->gpu_samples >= CAPTURED_SAMPLES ? CHECK_PASS : CHECK_FAIL,
	    "%lld lines, %.0f of them in the steady phase, %lld not understood",
	    (long long)session->tegra.samples, facts->gpu_samples,
	    (long long)session->tegra.rejected);
}

/* Orin Nanos differ in bandwidth by mode and size, and one figure is copied for all of them. */
#define COPIED_GB_S 102.4

/* " of 68.3 GB/s (not 102.4)": what the DRAM share is of; nothing when that is not known. */
static void bandwidth_words(const struct session *session, char *dst, size_t size)
{
	const struct board_info *board = &session->board;
	double gb_s = session->tegra.emc_clock_mhz.mean * 2 * board->emc.bus_bits / 8 / 1000;

	*dst = '\0';
	if (!session->tegra.emc_clock_mhz.n || board->emc.bus_bits <= 0)
		return;
	snprintf(dst, size, " of %.1f GB/s%s", gb_s,
		 strstr(board->module, "Orin Nano") && fabs(gb_s / COPIED_GB_S - 1) > CLOCK_JITTER
			 ? " (not 102.4)"
			 : "");
}

static void check_saturation(const struct session *session, const struct facts *facts,
			     struct verdict *v)
{
	char bandwidth[48];
	bool gpu = v->rules[RULE_GPU_SATURATED].fired, emc = v->rules[RULE_EMC_SATURATED].fired;

	bandwidth_words(session, bandwidth, sizeof(bandwidth));
	if (isnan(facts->gpu_busy))
		add(v, "what saturates first", CHECK_UNKNOWN, "the GPU load is not in the %s",
		    origin(session));
	else if (isnan(facts->emc_busy))
		add(v, "what saturates first", gpu ? CHECK_UNKNOWN : CHECK_PASS,
		    "GPU %.0f %%, DRAM not printed: run tegrastats with sudo",
		    PCT(facts->gpu_busy));
	else
		add(v, "what saturates first", CHECK_PASS, "%s: GPU %.0f %%, DRAM %.0f %%%s",
		    emc	  ? "DRAM"
		    : gpu ? "the GPU"
			  : "neither",
		    PCT(facts->gpu_busy), PCT(facts->emc_busy), bandwidth);
}

/* Only while the GPU is loaded: an idle one is clocked down on purpose. */
static void check_clock(const struct session *session, const struct facts *facts, struct verdict *v)
{
	double headroom = facts->clock_headroom;

	if (isnan(facts->gpu_mhz) || !v->rules[RULE_GPU_SATURATED].fired) {
		add(v, "clocks steady", CHECK_UNKNOWN, "%s",
		    isnan(facts->gpu_mhz) ? "no GPU clock under load"
					  : "the GPU is not loaded enough to tell");
		return;
	}
	add(v, "clocks steady", facts->clock_spread <= CLOCK_JITTER ? CHECK_PASS : CHECK_FAIL,
	    "GPU %.0f MHz, within %.0f %% under load%s", facts->gpu_mhz, PCT(facts->clock_spread),
	    headroom >= 1 + CLOCK_JITTER && session->board_guessed ? ", below the module's largest"
								   : "");
}

static void check_temperature(const struct session *session, const struct facts *facts,
			      struct verdict *v)
{
	double trip_c = facts->trip_c;

	if (isnan(facts->hottest_c))
		add(v, "temperature safe", CHECK_UNKNOWN, "no temperature in the %s",
		    origin(session));
	else if (isnan(trip_c))
		add(v, "temperature safe", CHECK_UNKNOWN,
		    "%.1f C; the trip point of this module is not known", facts->hottest_c);
	else if (facts->hottest_c >= facts->lowest_trip_c && facts->hottest_c < trip_c)
		add(v, "temperature safe", CHECK_UNKNOWN,
		    "%.1f C; the zones of a %s throttle at %.1f to %.1f C", facts->hottest_c,
		    session->board.module, facts->lowest_trip_c, trip_c);
	else
		add(v, "temperature safe", facts->hottest_c < trip_c ? CHECK_PASS : CHECK_FAIL,
		    "%.1f C, %s throttles at %.4g C, not at 85", facts->hottest_c,
		    session->board.module, trip_c);
}

/* " (FP32 1.25 TFLOP/s, not 40 GFLOP/s)": of an Orin Nano, whose 40 are sparse TOPS. */
static void roof_words(const struct session *session, const struct facts *facts, char *dst,
		       size_t size)
{
	const struct board_info *board = &session->board;
	double flops = board->largest.ceilings.flops[PREC_FP32] * facts->gpu_mhz /
		       board->gpu.hw_max_mhz * facts->sm_share;
	char roof[32];

	*dst = '\0';
	if (!strstr(board->module, "Orin Nano") || isnan(flops))
		return;
	roofline_format_si(roof, sizeof(roof), flops, "FLOP/s");
	snprintf(dst, size, " (FP32 %s, not 40 GFLOP/s)", roof);
}

static void check_roofline(const struct session *session, const struct facts *facts,
			   struct verdict *v)
{
	char roof[80];
	const struct roofline_point *point = &v->roofline_point;
	const char *bound = roofline_bound_name(point->bound);
	enum precision precision = v->roofline_input.precision;

	roof_words(session, facts, roof, sizeof(roof));
	if (!v->has_roofline)
		add(v, "point on the roofline", CHECK_UNKNOWN, "give --model, --latency%s", roof);
	else if (isnan(facts->sm_share) && !v->roofline_input.peak_given)
		add(v, "point on the roofline", CHECK_UNKNOWN,
		    "how many SMs the power mode leaves on is not known: give --peak-flops");
	else if (!bound || precision >= PRECISIONS)
		add(v, "point on the roofline", CHECK_UNKNOWN,
		    "the ceilings of this board are not known: tegratrace roofline --peak-flops "
		    "...");
	else
		add(v, "point on the roofline",
		    point->bound == ROOFLINE_IMPOSSIBLE ? CHECK_FAIL : CHECK_PASS,
		    "%.0f GFLOP/s, %.0f %% of the %s roof: %s", point->flops / 1e9,
		    PCT(point->roof_share[precision]), roofline_precision_label(precision), bound);
}

static void check_typical_mode(const struct session *session, const struct facts *facts,
			       struct verdict *v)
{
	char text[sizeof(v->checks[0].text)];
	int mode = typical_mode(session, facts, v, text, sizeof(text));

	add(v, "typical mode", mode ? CHECK_PASS : CHECK_UNKNOWN, "%s", text);
}

void checklist_fill(const struct session *session, const struct facts *facts,
		    struct verdict *verdict)
{
	check_captured(session, facts, verdict);
	check_saturation(session, facts, verdict);
	check_clock(session, facts, verdict);
	check_temperature(session, facts, verdict);
	check_roofline(session, facts, verdict);
	check_typical_mode(session, facts, verdict);
}

void checklist_of_run(const struct session *session, struct verdict *verdict)
{
	struct phase steady = {PHASE_IDLE, 0, session->series.n};
	struct verdict as_log = *verdict;
	struct phases phases;
	struct facts facts;

	phases_find(&session->series, session->board.gpu.hw_max_mhz, &phases);
	if (phases.steady >= 0)
		steady = phases.phase[phases.steady];
	facts_gather_log(session, steady.from, steady.to, &facts);
	rules_evaluate(&facts, as_log.rules);
	as_log.nchecks = 0;
	checklist_fill(session, &facts, &as_log);
	memcpy(verdict->checks, as_log.checks, sizeof(verdict->checks));
	verdict->nchecks = as_log.nchecks;
}
