/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What keeps a clock below what the hardware has, in the order in which causes exclude each other:
 * a clock at its cap is held by the power mode, one below its cap follows a low load or was not
 * raised. Events and heat come before and are rules of their own.
 */
#ifndef TEGRATRACE_CLOCKS_H
#define TEGRATRACE_CLOCKS_H

#include "diagnose/facts.h"
#include "diagnose/verdict.h"

enum clock_cause {
	CLOCK_UNKNOWN,
	CLOCK_FREE,	    /* nothing keeps it, or nothing would come of more */
	CLOCK_CAPPED,	    /* by the power mode */
	CLOCK_FOLLOWS_LOAD, /* the governor lowers it while there is little to do: no fault */
	CLOCK_NOT_RAISED,   /* filled, and yet below what the mode allows */
};

enum clock_cause clocks_gpu(const struct rule_outcome *rules);

/* Of the memory clock, while its bandwidth is what limits; else nothing would come of more. */
enum clock_cause clocks_emc(const struct rule_outcome *rules);

/* The smallest step in power mode that raises the memory clock; NULL: none known. */
const struct board_mode *clocks_emc_mode(const struct board_info *board);

/* The share and the bound on the gain of a clock-capped verdict. */
void clocks_weigh(struct verdict *verdict, const struct facts *facts);

/* A memory clock below the hardware's makes a bandwidth limit one of clocks too. */
void clocks_contribute(struct verdict *verdict);

#endif
