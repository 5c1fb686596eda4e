/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/diagnose_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/checklist.h"
#include "diagnose/clocks.h"
#include "diagnose/facts.h"
#include "diagnose/phase_verdicts.h"
#include "diagnose/phases.h"
#include "diagnose/rules.h"
#include "diagnose/session_roofline.h"
#include "diagnose/wording.h"

/* Fewer lines than this say little about a mean (GR3D is one 16.7 ms reading a line). */
#define FEW_LINES 10

static bool fired(const struct rule_outcome *rules, enum rule rule)
{
	return rules[rule].fired;
}

static enum verdict_class choose(const struct rule_outcome *rules, const struct facts *facts)
{
	bool cpu = fired(rules, RULE_CORE_FILLED) || fired(rules, RULE_CORES_WORK);

	if (fired(rules, RULE_GPU_SATURATED))
		return phase_filled_class(rules);
	if ((cpu || facts->cores_used >= 0.5) && fired(rules, RULE_GPU_UNUSED))
		return VERDICT_NO_GPU_USE;
	if (cpu && facts->gpu_busy < 0.75)
		return VERDICT_CPU_BOUND;
	if (!fired(rules, RULE_ACTIVE) || isnan(facts->gpu_busy))
		return VERDICT_INSUFFICIENT_DATA;
	return facts->gpu_busy >= 0.75 ? VERDICT_BALANCED : VERDICT_INPUT_LIMITED;
}

static void weigh(struct verdict *v, const struct facts *facts)
{
	v->share = v->gain_bound = NAN;
	switch (v->class) {
	case VERDICT_COMPUTE_BOUND:
	case VERDICT_MEMORY_BANDWIDTH_BOUND:
		v->share = facts->gpu_busy;
		break;
	case VERDICT_CLOCK_CAPPED:
		clocks_weigh(v, facts);
		/* SMs that may be off, too, could gain more. */
		if (isnan(facts->sm_share)) {
			v->gain_bound = NAN;
			*v->gain_limit = '\0';
		}
		break;
	case VERDICT_THERMAL_THROTTLED:
		v->share = facts->hot_clock_loss;
		v->gain_bound = 1 / (1 - facts->hot_clock_loss);
		break;
	case VERDICT_CPU_BOUND:
		if (facts->gpu_busy > 0) {
			v->share = 1 - facts->gpu_busy;
			v->gain_bound = 1 / facts->gpu_busy;
			text_copy(v->gain_limit, sizeof(v->gain_limit), "the GPU");
		}
		break;
	default:
		break;
	}
}

static void estimate_confidence(struct verdict *v, const struct session *session,
				const struct facts *facts)
{
	v->confidence = 0.85;
	if (v->class == VERDICT_INSUFFICIENT_DATA) {
		v->confidence = 0;
		text_copy(v->raise, sizeof(v->raise),
			  "a log taken while the inference runs, as root (sudo tegrastats)");
		return;
	}
	verdict_doubt(v, facts->gpu_samples < FEW_LINES ? 0.3 : 1,
		      "more lines: each GPU figure is one 16.7 ms reading");
	if ((v->class == VERDICT_COMPUTE_BOUND || v->class == VERDICT_CLOCK_CAPPED) &&
	    isnan(facts->emc_busy))
		verdict_doubt(v, 0.5,
			      "the EMC load: run tegrastats as root; without it compute and DRAM "
			      "bandwidth cannot be told apart");
	if (v->class == VERDICT_COMPUTE_BOUND && isnan(facts->clock_headroom))
		verdict_doubt(v, 0.6,
			      "the GPU clock and the module: whether a power mode holds it down is "
			      "not known");
	if (v->class == VERDICT_COMPUTE_BOUND && isnan(facts->sm_share))
		verdict_doubt(v, 0.6, "the power mode: whether it leaves all SMs on is not known");
	if (v->class == VERDICT_CLOCK_CAPPED && session->board_guessed)
		verdict_doubt(v, 0.7, "the module's name: it was inferred from the lines");
	if (v->class == VERDICT_CPU_BOUND || v->class == VERDICT_NO_GPU_USE)
		verdict_doubt(v, 0.5, "which thread it is: sudo tegratrace -p PID on the board");
	if (v->class == VERDICT_BALANCED || v->class == VERDICT_INPUT_LIMITED)
		verdict_doubt(v, 0.4,
			      "what the threads wait for: sudo tegratrace -p PID on the board");
}

void diagnose_log(const struct session *session, struct verdict *verdict)
{
	struct phases phases;
	struct phase steady = {PHASE_IDLE, 0, session->series.n};
	struct facts facts;

	phases_find(&session->series, session->board.gpu.hw_max_mhz, &phases);
	phases_judge(session, &phases, choose, verdict);
	if (phases.steady >= 0)
		steady = phases.phase[phases.steady];
	facts_gather_log(session, steady.from, steady.to, &facts);
	rules_evaluate(&facts, verdict->rules);
	verdict->nrules = RULES;
	verdict->class =
		phases.steady >= 0 ? choose(verdict->rules, &facts) : VERDICT_INSUFFICIENT_DATA;
	clocks_contribute(verdict);
	weigh(verdict, &facts);
	estimate_confidence(verdict, session, &facts);
	roofline_of_session(session, &facts, verdict);
	checklist_fill(session, &facts, verdict);
	wording_log(session, &facts, verdict);
}
