/* SPDX-License-Identifier: GPL-2.0-only */
/* Which board this is and what it may do. All paths lie below TEGRATRACE_ROOT when that is set. */
#ifndef TEGRATRACE_TEGRA_BOARD_H
#define TEGRATRACE_TEGRA_BOARD_H

#include "session/board_info.h"
#include "session/session.h"
#include "tegra/board_conf.h"

/*
 * Everything about the board that does not change by itself, by probing: a board that no table
 * knows still gives all that its files say. On a PC only the CPUs are known.
 */
void board_info_read(struct board_info *board);

/* Kernel, architecture, online CPUs and, from the device tree, the model; sanitised. */
void board_read(struct host_info *host);

/* The modes of this board's nvpmodel.conf: its lines not understood; -1, and none, without a file. */
int board_power_modes(struct power_conf *conf);

/* The id of the mode in force; -1 when it cannot be known. */
int board_power_mode_now(const struct power_conf *conf);

#endif
