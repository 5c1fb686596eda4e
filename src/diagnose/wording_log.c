/* SPDX-License-Identifier: GPL-2.0-only */
/* The sentences of a verdict on a log. */
#include "diagnose/wording.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/clocks.h"
#include "diagnose/rules.h"

#define PCT(share) (100 * (share))

static void gpu_words(const struct facts *facts, char *dst, size_t size)
{
	if (isnan(facts->gpu_busy))
		snprintf(dst, size, "GPU load unknown");
	else
		snprintf(dst, size, "the GPU is busy %.0f %%", PCT(facts->gpu_busy));
}

/* " and 4 of 8 SMs", where the power mode is known to have turned some off. */
static void sm_words(const struct session *session, const struct facts *facts, char *dst,
		     size_t size)
{
	int total = session->board.gpu.sm_total;

	*dst = '\0';
	if (facts->sm_share < 1)
		snprintf(dst, size, " and %.0f of %d SMs", facts->sm_share * total, total);
}

static void headline(const struct session *session, const struct facts *facts, struct verdict *v)
{
	char *line = v->headline, gpu[48], sm[32];
	size_t size = sizeof(v->headline);

	gpu_words(facts, gpu, sizeof(gpu));
	switch (v->class) {
	case VERDICT_COMPUTE_BOUND:
		snprintf(line, size, "%s: it is the limit%s", gpu, wording_dram_unknown(facts));
		break;
	case VERDICT_MEMORY_BANDWIDTH_BOUND:
		snprintf(line, size, "%s and DRAM %.0f %%: bandwidth is the limit", gpu,
			 PCT(facts->emc_busy));
		break;
	case VERDICT_CLOCK_CAPPED:
		sm_words(session, facts, sm, sizeof(sm));
		snprintf(line, size, "%s at %.0f MHz%s, %.1fx below the %.0f MHz of %s%s", gpu,
			 facts->gpu_mhz, sm, facts->clock_headroom, session->board.gpu.hw_max_mhz,
			 session->board.module, wording_dram_unknown(facts));
		break;
	case VERDICT_THERMAL_THROTTLED:
		snprintf(line, size, "at %.0f C the GPU clock falls by %.0f %% under load",
			 facts->hottest_c, PCT(facts->hot_clock_loss));
		break;
	case VERDICT_CPU_BOUND:
		snprintf(line, size, "the CPUs do %.1f cores' worth of work (busiest %.0f %%), %s",
			 facts->cores_used, PCT(facts->core_max), gpu);
		break;
	case VERDICT_NO_GPU_USE:
		snprintf(line, size, "the CPUs work (busiest core %.0f %%) and the GPU does not",
			 PCT(facts->core_max));
		break;
	case VERDICT_INPUT_LIMITED:
		snprintf(line, size,
			 "neither the GPU (%.0f %%) nor a core (%.0f %%) is filled: "
			 "something is waited for",
			 PCT(facts->gpu_busy), PCT(facts->core_max));
		break;
	case VERDICT_BALANCED:
		snprintf(line, size, "%s, the busiest core %.0f %%: no single limit", gpu,
			 PCT(facts->core_max));
		break;
	default:
		snprintf(line, size, "nothing runs in this log that could be judged (%s)", gpu);
	}
}

static const char *trip_words(const struct facts *facts)
{
	if (isnan(facts->trip_c))
		return "";
	if (facts->hottest_c >= facts->trip_c)
		return ", at its trip point";
	return facts->hottest_c < facts->lowest_trip_c ? ", below its trip point"
						       : ", between the trip points of its zones";
}

static void evidence(const struct session *session, const struct facts *facts, struct verdict *v)
{
	const struct board_info *board = &session->board;
	bool low_load = v->rules[RULE_GPU_LOAD_LOW].fired && facts->clock_headroom > 1;

	if (!isnan(facts->gpu_busy))
		verdict_evidence(v, "tegrastats", "GPU busy %.0f +- %.0f %%, mean of %.0f lines%s",
				 PCT(facts->gpu_busy),
				 isnan(facts->gpu_busy_error) ? 0 : PCT(facts->gpu_busy_error),
				 facts->gpu_samples, v->nphases > 1 ? " of the steady phase" : "");
	if (!isnan(facts->gpu_mhz))
		verdict_evidence(v, "tegrastats", "GPU clock under load %.0f MHz", facts->gpu_mhz);
	if (session->board_guessed)
		verdict_evidence(v, "inferred", "by rails, cores and memory the board is a %s",
				 board->module);
	if (session->board_guessed && !isnan(facts->clock_headroom))
		verdict_evidence(
			v, "module table", "largest GPU clock %.0f MHz: %.2fx the one seen%s",
			board->gpu.hw_max_mhz,
			facts->clock_headroom * (isnan(facts->sm_share) ? 1 : facts->sm_share),
			low_load ? ", no fault at this load" : "");
	if (v->rules[RULE_GPU_SATURATED].fired && session->board_guessed && isnan(facts->sm_share))
		verdict_evidence(
			v, "module table",
			"no power mode of it fits these clocks and cores: how many SMs are "
			"on is not known");
	if (clocks_emc(v->rules) == CLOCK_CAPPED)
		verdict_evidence(v, "module table",
				 "largest DRAM clock %.0f MHz: %.2fx the one seen",
				 board->emc.hw_max_mhz, facts->emc_headroom);
	if (isnan(facts->emc_busy))
		verdict_evidence(v, "tegrastats",
				 "DRAM load not printed (tegrastats not run as root)");
	else
		verdict_evidence(v, "tegrastats",
				 "DRAM (EMC) %.0f %%, %s the 75 %% where it saturates",
				 PCT(facts->emc_busy),
				 v->rules[RULE_EMC_SATURATED].fired ? "above" : "below");
	if (!isnan(facts->core_max))
		verdict_evidence(v, "tegrastats", "busiest core %.0f %%, all cores together %.1f",
				 PCT(facts->core_max), facts->cores_used);
	if (!isnan(facts->hottest_c))
		verdict_evidence(v, "tegrastats", "hottest zone %.1f C%s", facts->hottest_c,
				 trip_words(facts));
	if (!isnan(facts->power_mw))
		verdict_evidence(v, "tegrastats",
				 "input power %.2f W (%.2f as printed: the sensor lags by 0.42 s)",
				 facts->power_mw / 1000, facts->power_raw_mw / 1000);
}

static void steps(const struct facts *facts, struct verdict *v)
{
	char gain[32] = "";

	if (!isnan(v->gain_bound))
		snprintf(gain, sizeof(gain), ": up to %.1fx", v->gain_bound);
	switch (v->class) {
	case VERDICT_COMPUTE_BOUND:
		verdict_step(v,
			     "shorten the GPU's work: FP16 or INT8, a smaller model; give --model "
			     "to see how far from the roof it is (tegratrace roofline)");
		break;
	case VERDICT_MEMORY_BANDWIDTH_BOUND:
		if (clocks_emc(v->rules) == CLOCK_CAPPED)
			verdict_step(v,
				     "a power mode with a higher EMC clock (sudo nvpmodel -q shows "
				     "it, -m ID sets it), then sudo jetson_clocks: up to %.1fx",
				     facts->emc_headroom);
		verdict_step(v,
			     "move fewer bytes: quantise the weights, fuse layers, larger batch");
		break;
	case VERDICT_CLOCK_CAPPED:
		verdict_step(
			v,
			"choose a larger power mode (sudo nvpmodel -q shows it, -m ID sets it), "
			"then sudo jetson_clocks%s",
			gain);
		break;
	case VERDICT_THERMAL_THROTTLED:
		verdict_step(
			v, "cool the module: fan profile, heat sink, air; or a smaller power mode "
			   "that holds its clock");
		break;
	case VERDICT_CPU_BOUND:
	case VERDICT_INPUT_LIMITED:
	case VERDICT_BALANCED:
		verdict_step(v,
			     "see which thread it is and what it waits for: sudo tegratrace -p PID "
			     "-d 30 on the board");
		break;
	case VERDICT_NO_GPU_USE:
		verdict_step(
			v,
			"check that the framework was built for CUDA and that the model is on the "
			"GPU");
		break;
	default:
		verdict_step(v,
			     "take a log while the inference runs: sudo tegrastats --interval 100 "
			     "--logfile run.log");
	}
	if (isnan(facts->emc_busy) && v->class != VERDICT_INSUFFICIENT_DATA)
		verdict_step(v, "run tegrastats with sudo: it hides the DRAM load from others");
}

void wording_log(const struct session *session, const struct facts *facts, struct verdict *verdict)
{
	headline(session, facts, verdict);
	evidence(session, facts, verdict);
	steps(facts, verdict);
}
