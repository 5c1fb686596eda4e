/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by board*.c only: the steps of board_info_read(), in their order. */
#ifndef TEGRATRACE_TEGRA_BOARD_PARTS_H
#define TEGRATRACE_TEGRA_BOARD_PARTS_H

#include "session/board_info.h"
#include "tegra/board_conf.h"
#include "tegra/modules.h"

/* Clocks within 3 % are equal: real logs show 1005-1019 for a locked 1020. */
#define CLOCK_TOLERANCE 0.03

struct board_parts {
	struct board_info *info;
	enum tegra_soc soc;
	bool super;	  /* the device tree says so */
	bool from_eeprom; /* the P-number, so nothing else may change it */
	const struct module *module;
	struct power_conf conf;
	const struct power_conf_mode *mode;   /* of conf; NULL: unknown */
	const struct module_mode *table_mode; /* of the same name; NULL: unknown */
	double emc_file_mhz; /* the cap that nvpmodel set; INFINITY: none, NAN: not readable */
};

/* EEPROM, device tree, release, memory; fills soc and super. */
void board_read_identity(struct board_parts *parts);

/* What the kernel says now, no fallbacks. */
void board_read_clocks(struct board_parts *parts);

/* The entry of the module table that agrees with what was read. */
void board_choose_module(struct board_parts *parts);

void board_read_mode(struct board_parts *parts);

/* What could not be read, from the conf, else from the table. */
void board_fill_gaps(struct board_parts *parts);

/* Whether the clocks read are the mode's. */
void board_check_mode(struct board_parts *parts);

/* Ceilings, the next and the largest mode. */
void board_rank_modes(struct board_parts *parts);

#endif
