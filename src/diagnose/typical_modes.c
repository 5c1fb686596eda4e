/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/typical_modes.h"

#include <stdio.h>

#include "diagnose/rules.h"

#define PCT(share) (100 * (share))

static double threshold(const struct verdict *v, enum rule rule)
{
	return PCT(v->rules[rule].threshold);
}

static int compute(const struct facts *facts, const struct verdict *v, char *text, size_t size)
{
	if (isnan(facts->emc_busy)) {
		snprintf(text, size, "1 or 2 of 4: GPU %.0f %% (from %.0f), DRAM not printed",
			 PCT(facts->gpu_busy), threshold(v, RULE_GPU_SATURATED));
		return 0;
	}
	snprintf(text, size,
		 "1 of 4, compute: GPU %.0f %% (from %.0f), DRAM %.0f %% (below %.0f, not 70-85)",
		 PCT(facts->gpu_busy), threshold(v, RULE_GPU_SATURATED), PCT(facts->emc_busy),
		 threshold(v, RULE_EMC_SATURATED));
	return 1;
}

static int memory(const struct facts *facts, const struct verdict *v, char *text, size_t size)
{
	snprintf(text, size,
		 "2 of 4, memory: DRAM %.0f %% (from %.0f, not 95), GPU %.0f %% (not 60-75)",
		 PCT(facts->emc_busy), threshold(v, RULE_EMC_SATURATED), PCT(facts->gpu_busy));
	return 2;
}

static int throttled(const struct facts *facts, const struct verdict *v, char *text, size_t size)
{
	snprintf(text, size,
		 "3 of 4, throttled: %.1f C (trip %.0f, not 85), GPU clock -%.0f %% (from %.0f)",
		 facts->hottest_c, facts->trip_c, PCT(facts->hot_clock_loss),
		 threshold(v, RULE_HOT_CLOCK));
	return 3;
}

static int cpu(const struct facts *facts, const struct verdict *v, char *text, size_t size)
{
	snprintf(text, size,
		 "4 of 4, CPU: GPU %.0f %%, busiest %.0f %% (from %.0f), %.1f cores (from "
		 "%.0f)",
		 PCT(facts->gpu_busy), PCT(facts->core_max), threshold(v, RULE_CORE_FILLED),
		 facts->cores_used, v->rules[RULE_CORES_WORK].threshold);
	return 4;
}

/* What the four patterns have no place for. */
static int none(const struct session *session, const struct facts *facts, const struct verdict *v,
		char *text, size_t size)
{
	switch (v->class) {
	case VERDICT_CLOCK_CAPPED:
		snprintf(text, size, "none: GPU at %.0f of %.0f MHz without heat: mode or no lock",
			 facts->gpu_mhz, session->board.gpu.hw_max_mhz);
		break;
	case VERDICT_INPUT_LIMITED:
		snprintf(text, size,
			 "none: GPU %.0f %% but busiest core %.0f %% (4 has %.0f): input or I/O",
			 PCT(facts->gpu_busy), PCT(facts->core_max),
			 threshold(v, RULE_CORE_FILLED));
		break;
	case VERDICT_NO_GPU_USE:
		snprintf(text, size, "none: nobody computes on the GPU (%.0f %%)",
			 PCT(facts->gpu_busy));
		break;
	case VERDICT_BALANCED:
		snprintf(text, size, "none: GPU %.0f %%, nearly filled (1 has %.0f)",
			 PCT(facts->gpu_busy), threshold(v, RULE_GPU_SATURATED));
		break;
	case VERDICT_INSUFFICIENT_DATA:
		snprintf(text, size, "none: too little %s",
			 session->tegra.state == TEGRA_LOG ? "runs in this log"
							   : "was done in this run");
		break;
	default:
		snprintf(text, size, "none: the four have no place for %s",
			 verdict_class_name(v->class));
	}
	return 0;
}

int typical_mode(const struct session *session, const struct facts *facts,
		 const struct verdict *verdict, char *text, size_t size)
{
	switch (verdict->class) {
	case VERDICT_COMPUTE_BOUND:
		return compute(facts, verdict, text, size);
	case VERDICT_MEMORY_BANDWIDTH_BOUND:
		return memory(facts, verdict, text, size);
	case VERDICT_THERMAL_THROTTLED:
		return throttled(facts, verdict, text, size);
	case VERDICT_CPU_BOUND:
		return cpu(facts, verdict, text, size);
	default:
		return none(session, facts, verdict, text, size);
	}
}
