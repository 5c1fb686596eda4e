/* SPDX-License-Identifier: GPL-2.0-only */
/* The phases of a run in its verdict. */
#ifndef TEGRATRACE_PHASE_VERDICTS_H
#define TEGRATRACE_PHASE_VERDICTS_H

#include "diagnose/facts.h"
#include "diagnose/phases.h"
#include "diagnose/rules.h"
#include "diagnose/verdict.h"

/* A filled GPU: what keeps it from being faster. */
enum verdict_class phase_filled_class(const struct rule_outcome *rules);

/*
 * Fills verdict->phases; judge gives the class of a phase with work from what the board did in it. A
 * phase that is idle or warms up has none.
 */
void phases_judge(const struct session *session, const struct phases *phases,
		  enum verdict_class (*judge)(const struct rule_outcome *rules,
					      const struct facts *facts),
		  struct verdict *verdict);

/*
 * Of a live run, whose verdict is about the whole window: facts->phases, and how far its steady phase
 * is from it. Nothing is told apart in fewer than 40 samples, or without a GPU source.
 */
void phases_gather_live(const struct session *session, struct facts *facts);

/* The phases of a live run; where the steady one is not like the window, the verdict is doubted. */
void phases_of_live(const struct session *session, const struct facts *facts,
		    struct verdict *verdict);

#endif
