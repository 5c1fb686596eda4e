/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/path_verdict.h"

#include "diagnose/rules.h"

/* What each end of the path makes the verdict, when its rule fires and it is the largest. */
static const struct {
	enum rule rule;
	enum verdict_class class;
} by_end[PATH_ENDS] = {
	[PATH_CPU] = {RULE_PATH_CPU, VERDICT_CPU_BOUND},
	[PATH_RUNQ] = {RULE_PATH_RUNQ, VERDICT_CPU_STARVED},
	[PATH_GPU] = {RULES, VERDICT_BALANCED},
	[PATH_DISK] = {RULE_PATH_DISK, VERDICT_IO_BOUND},
	[PATH_FAULT] = {RULE_PATH_FAULT, VERDICT_IO_BOUND},
	[PATH_LOCK] = {RULE_PATH_LOCK, VERDICT_LOCK_BOUND},
	[PATH_INPUT] = {RULE_PATH_INPUT, VERDICT_INPUT_LIMITED},
	[PATH_UNKNOWN] = {RULES, VERDICT_INSUFFICIENT_DATA},
};

const char *path_end_name(enum path_end end)
{
	static const char *const names[PATH_ENDS] = {
		[PATH_CPU] = "computing",
		[PATH_RUNQ] = "waiting for a CPU",
		[PATH_GPU] = "the GPU",
		[PATH_DISK] = "disk",
		[PATH_FAULT] = "page faults that read",
		[PATH_LOCK] = "locks",
		[PATH_INPUT] = "input",
		[PATH_UNKNOWN] = "not told apart",
	};

	return names[end];
}

static bool counts(const struct verdict *v, enum path_end end)
{
	if (by_end[end].rule == RULES || !v->rules[by_end[end].rule].fired)
		return false;
	/* Computing beside a GPU that works is no limit before it takes clearly more. */
	return end != PATH_CPU || v->rules[RULE_PATH_CPU_DOMINATES].fired;
}

enum verdict_class path_class(const struct verdict *v, const struct facts *facts)
{
	const struct path_part *parts = facts->path.parts;
	enum path_end best = PATH_ENDS;

	/* Its load tells better; without one, a feeder that only waits for the GPU says the same. */
	if (!v->rules[RULE_GPU_SAMPLES].fired && v->rules[RULE_PATH_GPU].fired)
		return VERDICT_COMPUTE_BOUND;
	for (int end = 0; end < PATH_ENDS; end++) {
		if (counts(v, end) && (best == PATH_ENDS || parts[end].share > parts[best].share))
			best = end;
	}
	if (best == PATH_ENDS)
		return parts[PATH_UNKNOWN].share >= 0.5 ? VERDICT_INSUFFICIENT_DATA
							: VERDICT_BALANCED;
	if (best == PATH_FAULT && v->rules[RULE_REFAULTS].fired)
		return VERDICT_MEMORY_PRESSURE;
	if (best == PATH_CPU && parts[PATH_CPU].top == facts->path.feeder &&
	    v->rules[RULE_LAUNCH].fired)
		return VERDICT_LAUNCH_BOUND;
	return by_end[best].class;
}

const struct path_part *path_part_of(enum verdict_class class, const struct facts *facts)
{
	const struct path_part *parts = facts->path.parts;

	if (!facts->path.feeder)
		return NULL;
	switch (class) {
	case VERDICT_CPU_BOUND:
	case VERDICT_LAUNCH_BOUND:
		return &parts[PATH_CPU];
	case VERDICT_CPU_STARVED:
		return &parts[PATH_RUNQ];
	case VERDICT_IO_BOUND:
		return parts[PATH_DISK].share >= parts[PATH_FAULT].share ? &parts[PATH_DISK]
									 : &parts[PATH_FAULT];
	case VERDICT_MEMORY_PRESSURE:
		return &parts[PATH_FAULT];
	case VERDICT_LOCK_BOUND:
		return &parts[PATH_LOCK];
	case VERDICT_INPUT_LIMITED:
		return &parts[PATH_INPUT];
	default:
		return NULL;
	}
}
