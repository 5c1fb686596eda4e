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

/* GR3D tops out at 99 %. */
#define GPU_BUSY_FULL 0.99

/* How much faster bytes could move: all the bandwidth at the largest clock / now; NAN unknown. */
static double dram_headroom(const struct facts *facts)
{
	double clock = fmax(facts->emc_headroom, 1);

	if (facts->emc_clock_share < 1)
		clock /= facts->emc_clock_share;
	return facts->emc_busy > 0 ? clock / facts->emc_busy : NAN;
}

void clocks_weigh(struct verdict *verdict, const struct facts *facts)
{
	double dram = dram_headroom(facts), speedup = facts->clock_headroom;
	double scaled = fmin(facts->gpu_busy / GPU_BUSY_FULL, 1);
	const char *limit = "the GPU at its largest clock";

	/* Work that the GPU's clock times scales with it at best, and moves its bytes as fast. */
	if (dram < speedup) {
		speedup = dram;
		limit = "DRAM bandwidth";
	}
	verdict->share = facts->gpu_busy;
	verdict->gain_bound = 1 / (1 - scaled + scaled / speedup);
	if (!isnan(verdict->gain_bound))
		text_copy(verdict->gain_limit, sizeof(verdict->gain_limit), limit);
}

void clocks_contribute(struct verdict *verdict)
{
	enum clock_cause cause = clocks_emc(verdict->rules);

	if (verdict->class == VERDICT_MEMORY_BANDWIDTH_BOUND &&
	    (cause == CLOCK_CAPPED || cause == CLOCK_NOT_RAISED))
		verdict->contributing[verdict->ncontributing++] = VERDICT_CLOCK_CAPPED;
}
