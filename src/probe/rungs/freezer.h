/* SPDX-License-Identifier: GPL-2.0-only */
/* Where this kernel's freezers are, for rungs that tell a frozen thread by its stack. Private to src/probe. */
#ifndef TEGRATRACE_RUNG_FREEZER_H
#define TEGRATRACE_RUNG_FREEZER_H

#include <linux/types.h>

#include "frozen.h"

/*
 * With `stacks` it takes a pass over /proc/kallsyms; without, and where that hides its addresses, all
 * sizes are 0.
 */
void freezer_find(struct tt_freezer *freezer, bool stacks);

#endif
