/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/checklist.h"
#include "diagnose/clocks.h"
#include "diagnose/diagnose_log.h"
#include "diagnose/facts.h"
#include "diagnose/path_verdict.h"
#include "diagnose/phase_verdicts.h"
#include "diagnose/rules.h"
#include "diagnose/session_roofline.h"
#include "diagnose/wording.h"

const char *verdict_class_name(enum verdict_class class)
{
	static const char *const names[VERDICT_CLASSES] = {
		[VERDICT_INSUFFICIENT_DATA] = "insufficient-data",
		[VERDICT_COMPUTE_BOUND] = "compute-bound",
		[VERDICT_THERMAL_THROTTLED] = "thermal-throttled",
		[VERDICT_POWER_THROTTLED] = "power-throttled",
		[VERDICT_CLOCK_CAPPED] = "clock-capped",
		[VERDICT_MEMORY_BANDWIDTH_BOUND] = "memory-bandwidth-bound",
		[VERDICT_CPU_BOUND] = "cpu-bound",
		[VERDICT_CPU_STARVED] = "cpu-starved",
		[VERDICT_IO_BOUND] = "io-bound",
		[VERDICT_MEMORY_PRESSURE] = "memory-pressure",
		[VERDICT_LOCK_BOUND] = "lock-bound",
		[VERDICT_LAUNCH_BOUND] = "launch-bound",
		[VERDICT_INPUT_LIMITED] = "input-limited",
		[VERDICT_NO_GPU_USE] = "no-gpu-use",
		[VERDICT_BALANCED] = "balanced",
	};

	return names[class];
}

static bool fired(const struct verdict *verdict, enum rule rule)
{
	return verdict->rules[rule].fired;
}

/*
 * GPU first: where it is saturated, what the CPU does is not the limit (a thread that spins for it
 * looks busy). Then waiting for a CPU, since that time is lost whatever the thread computes.
 */
static enum verdict_class choose(const struct verdict *v, const struct facts *facts)
{
	if (!fired(v, RULE_WINDOW) || !fired(v, RULE_ACTIVE))
		return VERDICT_INSUFFICIENT_DATA;
	/* Clocks that are held back make every other limit look worse than it is. */
	if (fired(v, RULE_UNDER_VOLTAGE) || fired(v, RULE_POWER_LIMIT) ||
	    fired(v, RULE_EVENT_CLOCK) || fired(v, RULE_OVER_CURRENT))
		return VERDICT_POWER_THROTTLED;
	if (fired(v, RULE_COOLING) || fired(v, RULE_HOT_CLOCK))
		return VERDICT_THERMAL_THROTTLED;
	if (fired(v, RULE_CPU_HELD_BACK))
		return VERDICT_POWER_THROTTLED;
	if (fired(v, RULE_GPU_SAMPLES) && fired(v, RULE_GPU_SATURATED))
		return fired(v, RULE_EMC_SATURATED)    ? VERDICT_MEMORY_BANDWIDTH_BOUND
		       : fired(v, RULE_CLOCK_HEADROOM) ? VERDICT_CLOCK_CAPPED
						       : VERDICT_COMPUTE_BOUND;
	if (facts->path.feeder)
		return path_class(v, facts);
	if (fired(v, RULE_GPU_SAMPLES) && fired(v, RULE_GPU_UNUSED) && fired(v, RULE_COMPUTES))
		return VERDICT_NO_GPU_USE;
	if (fired(v, RULE_RUNQ))
		return VERDICT_CPU_STARVED;
	if (fired(v, RULE_CPU_LIMIT) || fired(v, RULE_ALL_CPUS))
		return VERDICT_CPU_BOUND;
	if (!fired(v, RULE_GPU_SAMPLES))
		return VERDICT_INSUFFICIENT_DATA;
	if (fired(v, RULE_TURNS))
		return fired(v, RULE_CPU_DOMINATES) ? VERDICT_CPU_BOUND : VERDICT_BALANCED;
	if (!facts->critical)
		return VERDICT_INSUFFICIENT_DATA;
	/* Both used, neither filled: nothing stands out. Else something is waited for. */
	if (facts->critical_oncpu < 0.2 || fmax(facts->critical_oncpu, facts->gpu_busy) < 0.4)
		return VERDICT_INSUFFICIENT_DATA;
	return VERDICT_BALANCED;
}

static void add_contributing(struct verdict *v, enum verdict_class class, bool applies)
{
	if (applies && class != v->class)
		v->contributing[v->ncontributing++] = class;
}

static void path_contributing(struct verdict *v)
{
	static const struct {
		enum rule rule;
		enum verdict_class class;
	} classes[] = {
		{RULE_PATH_CPU, VERDICT_CPU_BOUND},
		{RULE_PATH_RUNQ, VERDICT_CPU_STARVED},
		{RULE_PATH_DISK, VERDICT_IO_BOUND},
		{RULE_PATH_FAULT, VERDICT_MEMORY_PRESSURE},
		{RULE_PATH_LOCK, VERDICT_LOCK_BOUND},
		{RULE_PATH_INPUT, VERDICT_INPUT_LIMITED},
		{RULE_GPU_SATURATED, VERDICT_COMPUTE_BOUND},
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		add_contributing(v, classes[i].class, fired(v, classes[i].rule));
}

static void gather_contributing(struct verdict *v, const struct facts *facts)
{
	if (v->class == VERDICT_INSUFFICIENT_DATA)
		return;
	clocks_contribute(v);
	add_contributing(v, VERDICT_POWER_THROTTLED,
			 facts->under_voltage >= 1 || facts->power_limit >= 1);
	if (facts->path.feeder) {
		path_contributing(v);
		return;
	}
	add_contributing(v, VERDICT_CPU_STARVED, facts->critical_runq >= 0.1);
	add_contributing(v, VERDICT_CPU_BOUND,
			 !fired(v, RULE_GPU_SATURATED) && facts->critical_oncpu >= 0.5);
	add_contributing(v, VERDICT_COMPUTE_BOUND,
			 !fired(v, RULE_GPU_SATURATED) && facts->gpu_busy >= 0.75);
}

/* The speed-up is bounded by what is left of the path and by the next resource to fill up. */
static void bound_gain(struct verdict *v, double share, double next, const char *next_name)
{
	double left = fmax(1 - share, next);

	v->share = share;
	if (!(left > 0))
		return;
	v->gain_bound = 1 / left;
	text_copy(v->gain_limit, sizeof(v->gain_limit),
		  next > 1 - share ? next_name : "the rest of its time");
}

static void weigh(struct verdict *v, const struct facts *facts)
{
	double gpu = isnan(facts->gpu_busy) ? 0 : facts->gpu_busy;
	const struct path_part *part = path_part_of(v->class, facts);

	v->share = v->gain_bound = NAN;
	if (part) {
		bound_gain(v, part->share, gpu, "the GPU");
		return;
	}
	switch (v->class) {
	case VERDICT_COMPUTE_BOUND:
	case VERDICT_MEMORY_BANDWIDTH_BOUND:
		if (isnan(facts->gpu_busy))
			gpu = facts->path.parts[PATH_GPU].share;
		v->share = gpu;
		/* A busy thread may only be spinning for the GPU: then the next limit is unknown. */
		if (facts->critical_oncpu < 0.8)
			bound_gain(v, gpu, facts->critical_oncpu, "the busiest thread");
		break;
	case VERDICT_CPU_BOUND:
		if (!fired(v, RULE_CPU_LIMIT) && fired(v, RULE_ALL_CPUS))
			bound_gain(v, facts->target_cpu, gpu, "the GPU");
		else if (gpu >= facts->second_oncpu)
			bound_gain(v, facts->critical_oncpu, gpu, "the GPU");
		else
			bound_gain(v, facts->critical_oncpu, facts->second_oncpu,
				   "the second busiest thread");
		break;
	case VERDICT_CLOCK_CAPPED:
		clocks_weigh(v, facts);
		break;
	case VERDICT_POWER_THROTTLED:
		if (fired(v, RULE_CPU_HELD_BACK))
			bound_gain(v, facts->cpu_clock_loss, 0, "");
		else if (facts->oc3_loss > 0)
			bound_gain(v, facts->oc3_loss, 0, "");
		break;
	case VERDICT_CPU_STARVED:
		bound_gain(v, facts->critical_runq, gpu, "the GPU");
		break;
	default:
		break;
	}
}

static double margin(const struct rule_outcome *rule)
{
	return fabs(rule->value - rule->threshold) / rule->threshold;
}

static void path_confidence(struct verdict *v, const struct facts *facts, bool gpu_known)
{
	const struct path_part *part = path_part_of(v->class, facts);

	/* What stands behind a waker is its whole window, not the moments it was waited for. */
	if (part->top != facts->path.feeder)
		verdict_doubt(v, 0.85,
			      "the moments themselves: --timeline --perfetto FILE shows them");
	if (facts->path.parts[PATH_UNKNOWN].share >= 0.2)
		verdict_doubt(v, 0.6, "the cause of every wait: see what is missing (-v)");
	if (!gpu_known)
		verdict_doubt(v, 0.7, "GPU samples (tegrastats)");
	if (v->class == VERDICT_IO_BOUND && part == &facts->path.parts[PATH_FAULT] &&
	    isnan(facts->refault_share))
		verdict_doubt(v, 0.6, "knowing whether the pages had been evicted before");
}

static void estimate_confidence(struct verdict *v, const struct facts *facts)
{
	bool gpu_known = fired(v, RULE_GPU_SAMPLES);

	v->confidence = 0.9;
	verdict_doubt(v, facts->window_s < 5 ? 0.7 : 1, "a longer window (-d 30)");
	verdict_doubt(v, facts->critical_unknown > 0.02 ? 0.6 : 1,
		      "a run with fewer missed events (see the losses)");
	if (v->class == VERDICT_INSUFFICIENT_DATA) {
		v->confidence = 0;
		text_copy(v->raise, sizeof(v->raise), wording_raise_insufficient(facts, gpu_known));
		return;
	}
	if (v->class == VERDICT_COMPUTE_BOUND && !gpu_known)
		verdict_doubt(v, 0.5,
			      "the GPU's and the DRAM's load (tegrastats as root, where it prints "
			      "them)");
	if ((v->class == VERDICT_COMPUTE_BOUND || v->class == VERDICT_CLOCK_CAPPED) &&
	    isnan(facts->emc_busy))
		verdict_doubt(v, 0.5,
			      "EMC load: run tegrastats as root; without it, compute and DRAM "
			      "bandwidth cannot be told apart");
	if (gpu_known && margin(&v->rules[RULE_GPU_SATURATED]) < 0.05)
		verdict_doubt(v, 0.6,
			      "a longer window: the GPU load is close to the saturation threshold");
	if (path_part_of(v->class, facts)) {
		path_confidence(v, facts, gpu_known);
		return;
	}
	if (v->class == VERDICT_CPU_BOUND && !gpu_known)
		verdict_doubt(v, 0.4,
			      "GPU samples (tegrastats): without them a thread that spins for the "
			      "GPU looks the same");
	else if (v->class == VERDICT_CPU_BOUND && facts->gpu_busy >= 0.5)
		verdict_doubt(v, 0.5,
			      "knowing whether the busy thread computes or spins for the GPU "
			      "(perf top -t TID shows which library it is in)");
	if (v->class == VERDICT_CPU_STARVED && !gpu_known)
		verdict_doubt(v, 0.6, "GPU samples (tegrastats)");
	if (v->class == VERDICT_POWER_THROTTLED && facts->window_s < 10)
		verdict_doubt(v, 0.6,
			      "a longer window: the firmware publishes these counters every 2 s");
	if (v->class == VERDICT_POWER_THROTTLED && !fired(v, RULE_EVENT_CLOCK) &&
	    !fired(v, RULE_OVER_CURRENT) && !fired(v, RULE_CPU_HELD_BACK))
		verdict_doubt(v, 0.6,
			      "a GPU clock under load that is seen to fall with the events");
	if (v->class == VERDICT_BALANCED)
		verdict_doubt(v, 0.5, "what the waiting threads wait for");
}

static void name_threads(struct verdict *v, const struct facts *facts)
{
	const struct path_part *part = path_part_of(v->class, facts);

	if (part && part->top)
		v->threads[v->nthreads++] = part->top->tid;
	else if (facts->critical &&
		 (v->class == VERDICT_CPU_BOUND || v->class == VERDICT_CPU_STARVED))
		v->threads[v->nthreads++] = facts->critical->tid;
}

void diagnose(const struct session *session, struct verdict *verdict)
{
	struct facts facts;

	memset(verdict, 0, sizeof(*verdict));
	if (session->tegra.state == TEGRA_LOG) {
		diagnose_log(session, verdict);
		return;
	}
	facts_gather(session, &facts);
	rules_evaluate(&facts, verdict->rules);
	verdict->nrules = RULES;
	verdict->class = choose(verdict, &facts);
	gather_contributing(verdict, &facts);
	weigh(verdict, &facts);
	estimate_confidence(verdict, &facts);
	if (!strcmp(session->capability.rung, "proc"))
		verdict_doubt(verdict, 0.6, "a run as root: this one only polled /proc");
	name_threads(verdict, &facts);
	roofline_of_session(session, &facts, verdict);
	phases_of_live(session, &facts, verdict);
	wording_fill(session, &facts, verdict);
	if (session->tegra.samples > 0 && session->tegra.state != TEGRA_RECORDED)
		checklist_of_run(session, verdict);
}
