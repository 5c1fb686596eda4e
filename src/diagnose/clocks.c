/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/clocks.h"

#include "base/text.h"
#include "diagnose/rules.h"

static bool known(const struct rule_outcome *rule)
{
	return !isnan(rule->value);
}

enum clock_cause clocks_gpu(const struct rule_outcome *rules)
{
	if (!known(&rules[RULE_GPU_AT_CAP]))
		return CLOCK_UNKNOWN;
	if (rules[RULE_GPU_AT_CAP].fired)
		return rules[RULE_MODE_BELOW_HARDWARE].fired ? CLOCK_CAPPED : CLOCK_FREE;
	if (rules[RULE_GPU_LOAD_LOW].fired)
		return CLOCK_FOLLOWS_LOAD;
	return rules[RULE_GPU_SATURATED].fired ? CLOCK_NOT_RAISED : CLOCK_UNKNOWN;
}

enum clock_cause clocks_emc(const struct rule_outcome *rules)
{
	if (!rules[RULE_EMC_SATURATED].fired)
		return CLOCK_FREE;
	if (known(&rules[RULE_EMC_AT_CAP]) && !rules[RULE_EMC_AT_CAP].fired)
		return CLOCK_NOT_RAISED;
	if (rules[RULE_EMC_BELOW_HARDWARE].fired)
		return CLOCK_CAPPED;
	return known(&rules[RULE_EMC_BELOW_HARDWARE]) ? CLOCK_FREE : CLOCK_UNKNOWN;
}

const struct board_mode *clocks_emc_mode(const struct board_info *board)
{
	if (*board->next.name && board->next.emc_mhz > board->emc.cap_mhz)
		return &board->next;
	if (*board->largest.name && board->largest.emc_mhz > board->emc.cap_mhz)
		return &board->largest;
	return NULL;
}

void clocks_weigh(struct verdict *verdict, const struct facts *facts)
{
	verdict->share = facts->gpu_busy;
	/* Work that the GPU's clock times scales with it at best. */
	verdict->gain_bound = facts->clock_headroom;
	text_copy(verdict->gain_limit, sizeof(verdict->gain_limit), "the GPU at its largest clock");
}

void clocks_contribute(struct verdict *verdict)
{
	enum clock_cause cause = clocks_emc(verdict->rules);

	if (verdict->class == VERDICT_MEMORY_BANDWIDTH_BOUND &&
	    (cause == CLOCK_CAPPED || cause == CLOCK_NOT_RAISED))
		verdict->contributing[verdict->ncontributing++] = VERDICT_CLOCK_CAPPED;
}
