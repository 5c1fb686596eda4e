/* SPDX-License-Identifier: GPL-2.0-only */
/* /etc/nvpmodel.conf: the power modes of this board, by its own ids. Hostile input. */
#ifndef TEGRATRACE_TEGRA_BOARD_CONF_H
#define TEGRATRACE_TEGRA_BOARD_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "session/board_info.h"

#define POWER_CONF_MODES 48
#define POWER_CONF_PATHS 2 /* plain and _KNEXT (R36 and later) */
#define POWER_CONF_PATH	 128

/* NAN and -1: the mode does not set it. INFINITY: no cap but the hardware's. */
struct power_conf_mode {
	int id;
	char name[BOARD_NAME_LEN]; /* sanitised */
	int cpus;		   /* online */
	double cpu_mhz;		   /* of the fastest cluster */
	double gpu_mhz;
	double emc_mhz;
	long long tpc_pg_mask;
	long long gpu_pg_mask; /* Thor */
};

/* Where this release has a file; empty: not said. Only paths below /sys are kept. */
struct power_conf_paths {
	char path[POWER_CONF_PATHS][POWER_CONF_PATH];
};

struct power_conf {
	struct power_conf_mode modes[POWER_CONF_MODES];
	int nmodes;
	int default_id; /* -1: none */
	int bad_lines;
	struct power_conf_paths gpu_max_freq, tpc_pg_mask, emc_max_freq;
};

/* Takes what can be understood; the lines that cannot are counted. */
void power_conf_parse(struct power_conf *conf, const char *text, size_t len);

/* NULL when there is no such mode. */
const struct power_conf_mode *power_conf_mode(const struct power_conf *conf, int id);

#endif
