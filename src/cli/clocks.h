/* SPDX-License-Identifier: GPL-2.0-only */
/* Locked clocks, with what is said about them. The calls of tegra/clock_lock.h as exit statuses. */
#ifndef TEGRATRACE_CLI_CLOCKS_H
#define TEGRATRACE_CLI_CLOCKS_H

#include "tegra/clock_lock.h"

#define CLOCKS_REMEDY "sudo tegratrace run --restore-clocks"

/*
 * At the start of a run: what one that was killed left is put back, or, when that cannot be, warned
 * of. Says so, and never stops the run.
 */
void clocks_repair_leftover(void);

/* --restore-clocks: the same as the whole job. */
int clocks_repair_command(void);

/* *lock is NULL when nothing was asked for, or nothing is to be done. */
int clocks_take(struct clock_lock **lock, const struct clock_wish *wish);

/* NULL is fine. EXIT_RUN when they could not be put back. */
int clocks_give_back(struct clock_lock *lock);

#endif
