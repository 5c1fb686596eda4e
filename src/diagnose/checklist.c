/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/checklist.h"

#include <stdarg.h>
#include <stdio.h>

#include "diagnose/rules.h"

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

static void check_captured(const struct session *session, const struct facts *facts,
			   struct verdict *v)
{
	add(v, "data captured", facts->gpu_samples >= CAPTURED_SAMPLES ? CHECK_PASS : CHECK_FAIL,
	    "%lld lines, %.0f of them in the steady phase, %lld not understood",
	    (long long)session->tegra.samples, facts->gpu_samples,
	    (long long)session->tegra.rejected);
}

static void check_saturation(const struct facts *facts, struct verdict *v)
{
	bool gpu = v->rules[RULE_GPU_SATURATED].fired, emc = v->rules[RULE_EMC_SATURATED].fired;

	if (isnan(facts->gpu_busy))
		add(v, "what saturates first", CHECK_UNKNOWN, "the GPU load is not in the log");
	else if (isnan(facts->emc_busy))
		add(v, "what saturates first", gpu ? CHECK_UNKNOWN : CHECK_PASS,
		    "GPU %.0f %%, DRAM not printed: run tegrastats with sudo",
		    PCT(facts->gpu_busy));
	else
		add(v, "what saturates first", CHECK_PASS, "%s (GPU %.0f %%, DRAM %.0f %%)",
		    emc	  ? "DRAM"
		    : gpu ? "the GPU"
			  : "neither",
		    PCT(facts->gpu_busy), PCT(facts->emc_busy));
}

/* Only while the GPU is loaded: an idle one is clocked down on purpose. */
static void check_clock(const struct session *session, const struct facts *facts, struct verdict *v)
{
	double headroom = facts->clock_headroom;

	if (isnan(facts->gpu_mhz) || !v->rules[RULE_GPU_SATURATED].fired) {
		add(v, "clocks steady", CHECK_UNKNOWN, "%s",
		    isnan(facts->gpu_mhz) ? "no GPU clock in the log"
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
		add(v, "temperature safe", CHECK_UNKNOWN, "no temperature in the log");
	else if (isnan(trip_c))
		add(v, "temperature safe", CHECK_UNKNOWN,
		    "%.1f C; the trip point of this module is not known", facts->hottest_c);
	else
		add(v, "temperature safe", facts->hottest_c < trip_c ? CHECK_PASS : CHECK_FAIL,
		    "%.1f C, %s throttles at %.0f C (not at 85 C)", facts->hottest_c,
		    session->board.module, trip_c);
}

static void check_roofline(struct verdict *v)
{
	const struct roofline_point *point = &v->roofline_point;
	const char *bound = roofline_bound_name(point->bound);
	enum precision precision = v->roofline_input.precision;

	if (!v->has_roofline)
		add(v, "point on the roofline", CHECK_UNKNOWN,
		    "say what runs and how fast: --model NAME --latency MS");
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

void checklist_fill(const struct session *session, const struct facts *facts,
		    struct verdict *verdict)
{
	check_captured(session, facts, verdict);
	check_saturation(facts, verdict);
	check_clock(session, facts, verdict);
	check_temperature(session, facts, verdict);
	check_roofline(verdict);
}
