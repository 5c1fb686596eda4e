/* SPDX-License-Identifier: GPL-2.0-only */
/* Every rule of diagnosis: its name, its threshold and why that threshold. */
#ifndef TEGRATRACE_RULES_H
#define TEGRATRACE_RULES_H

#include "diagnose/facts.h"
#include "diagnose/verdict.h"

enum rule {
	RULE_WINDOW,
	RULE_ACTIVE,
	RULE_GPU_SAMPLES,
	RULE_GPU_SATURATED,
	RULE_EMC_SATURATED,
	RULE_RUNQ,
	RULE_CPU_LIMIT,
	RULE_ALL_CPUS,
	RULE_TURNS,
	RULE_CPU_DOMINATES,
	RULE_UNDER_VOLTAGE,
	RULE_POWER_LIMIT,
	RULE_EVENT_CLOCK,
	RULE_OVER_CURRENT,
	RULE_COOLING,
	RULE_HOT_CLOCK,
	RULE_CPU_HELD_BACK,
	RULE_GPU_AT_CAP,
	RULE_MODE_BELOW_HARDWARE,
	RULE_GPU_LOAD_LOW,
	RULE_EMC_AT_CAP,
	RULE_EMC_BELOW_HARDWARE,
	RULE_CLOCK_HEADROOM,
	RULE_CORE_FILLED,
	RULE_CORES_WORK,
	RULE_PATH_CPU,
	RULE_PATH_CPU_DOMINATES,
	RULE_PATH_RUNQ,
	RULE_PATH_GPU,
	RULE_PATH_DISK,
	RULE_PATH_FAULT,
	RULE_PATH_LOCK,
	RULE_PATH_INPUT,
	RULE_REFAULTS,
	RULE_LAUNCH,
	RULE_GPU_UNUSED,
	RULE_COMPUTES,
	RULE_NOT_STEADY,
	RULES,
};

/* Evaluate the whole table in order; a rule whose input is unknown does not fire. */
void rules_evaluate(const struct facts *facts, struct rule_outcome outcomes[RULES]);

#endif
