/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/phase_verdicts.h"

#include <stdio.h>

#include "base/text.h"
#include "diagnose/wording.h"

#define LIVE_SAMPLES 40
#define SECOND_NS    INT64_C(1000000000)

static bool fired(const struct rule_outcome *rules, enum rule rule)
{
	return rules[rule].fired;
}

/*
 * Heat first, since it also lowers the clock; DRAM before the clock cap, since a higher GPU clock does
 * not help where bandwidth is the limit.
 */
enum verdict_class phase_filled_class(const struct rule_outcome *rules)
{
	if (fired(rules, RULE_HOT_CLOCK))
		return VERDICT_THERMAL_THROTTLED;
	if (fired(rules, RULE_EMC_SATURATED))
		return VERDICT_MEMORY_BANDWIDTH_BOUND;
	if (fired(rules, RULE_CLOCK_HEADROOM))
		return VERDICT_CLOCK_CAPPED;
	return VERDICT_COMPUTE_BOUND;
}

static const char *phase_name(const struct phases *phases, int i)
{
	static const char *const names[] = {
		[PHASE_IDLE] = "idle",
		[PHASE_WORK] = "work",
		[PHASE_GPU] = "gpu",
		[PHASE_WARM_UP] = "warm-up",
	};

	return i == phases->steady ? "steady" : names[phases->phase[i].kind];
}

static int64_t time_at(const struct session *session, size_t point)
{
	const struct tegra_series *series = &session->series;

	if (point < series->n)
		return series->points[point].t_ns;
	return session_duration_ns(session);
}

void phases_judge(const struct session *session, const struct phases *phases,
		  enum verdict_class (*judge)(const struct rule_outcome *rules,
					      const struct facts *facts),
		  struct verdict *verdict)
{
	for (int i = 0; i < phases->n && i < VERDICT_PHASES; i++) {
		const struct phase *phase = &phases->phase[i];
		struct phase_verdict *out = &verdict->phases[verdict->nphases++];
		struct rule_outcome rules[RULES];
		struct facts facts;

		facts_gather_log(session, phase->from, phase->to, &facts);
		rules_evaluate(&facts, rules);
		*out = (struct phase_verdict){
			.name = phase_name(phases, i),
			.start_ns = time_at(session, phase->from),
			.end_ns = time_at(session, phase->to),
			.samples = (int64_t)(phase->to - phase->from) * session->series.merged,
			.power_mw = facts.power_mw,
			.power_raw_mw = facts.power_raw_mw,
			.class = phase->kind == PHASE_IDLE || phase->kind == PHASE_WARM_UP
					 ? VERDICT_INSUFFICIENT_DATA
					 : judge(rules, &facts),
		};
	}
}

void phases_gather_live(const struct session *session, struct facts *facts)
{
	const struct tegra_series *series = &session->series;
	const struct phase *steady;
	struct facts of_steady;

	if (series->n < LIVE_SAMPLES || isnan(facts->gpu_busy))
		return;
	phases_find(series, session->board.gpu.hw_max_mhz, &facts->phases);
	if (facts->phases.steady < 0)
		return;
	steady = &facts->phases.phase[facts->phases.steady];
	facts_gather_log(session, steady->from, steady->to, &of_steady);
	facts->steady_differs = fabs(of_steady.gpu_busy - facts->gpu_busy);
}

/* Without the threads' accounts of the phase only a filled GPU can be judged. */
static enum verdict_class judge_board(const struct rule_outcome *rules, const struct facts *facts)
{
	(void)facts;
	return fired(rules, RULE_GPU_SATURATED) ? phase_filled_class(rules)
						: VERDICT_INSUFFICIENT_DATA;
}

static void advise(const struct session *session, const struct phase_verdict *steady,
		   struct verdict *verdict)
{
	char raise[200];

	if (steady->start_ns >= SECOND_NS)
		snprintf(raise, sizeof(raise),
			 "measuring the steady phase alone: it begins %.1f s into the window and "
			 "lasts %.1f s (--delay %.0f)",
			 (double)steady->start_ns / 1e9,
			 (double)(steady->end_ns - steady->start_ns) / 1e9,
			 ceil((double)steady->start_ns / 1e9));
	else
		snprintf(raise, sizeof(raise),
			 "measuring the steady phase alone: it ends %.1f s into the window of %.1f "
			 "s "
			 "(-d %.0f)",
			 (double)steady->end_ns / 1e9, (double)session_duration_ns(session) / 1e9,
			 floor((double)steady->end_ns / 1e9));
	if (verdict->class == VERDICT_INSUFFICIENT_DATA)
		text_copy(verdict->raise, sizeof(verdict->raise), raise);
	else
		verdict_doubt(verdict, 0.4, raise);
}

void phases_of_live(const struct session *session, const struct facts *facts,
		    struct verdict *verdict)
{
	struct phase_verdict *steady;

	if (facts->phases.n < 2 || facts->phases.steady < 0)
		return;
	phases_judge(session, &facts->phases, judge_board, verdict);
	steady = &verdict->phases[facts->phases.steady];
	if (!fired(verdict->rules, RULE_NOT_STEADY)) {
		/* What holds for the window holds for the phase that makes it. */
		steady->class = verdict->class;
		return;
	}
	verdict_evidence(verdict, "tegrastats",
			 "the window has %d phases: %.0f %% of it is steady, and the GPU's use is "
			 "%.0f points off there",
			 facts->phases.n,
			 100 * (double)(steady->end_ns - steady->start_ns) /
				 (double)session_duration_ns(session),
			 100 * facts->steady_differs);
	advise(session, steady, verdict);
}
