/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The modules NVIDIA sells, their power modes, and the arithmetic of their roofs. Pure tables and
 * functions: nothing here reads the running board. Unknown is NAN, -1 or NULL, never 0.
 */
#ifndef TEGRATRACE_TEGRA_MODULES_H
#define TEGRATRACE_TEGRA_MODULES_H

#include <stdbool.h>
#include <stddef.h>

#include "session/board_info.h"

enum tegra_soc {
	SOC_UNKNOWN,
	SOC_T210, /* Nano, TX1 */
	SOC_T186, /* TX2 */
	SOC_T194, /* Xavier */
	SOC_T234, /* Orin */
	SOC_T264, /* Thor */
	SOCS,
};

/* Rates of one GPU generation. */
struct gpu_rates {
	const char *soc;	 /* "tegra234", as in the device tree */
	const char *compute;	 /* CUDA compute capability */
	int tpcs;		 /* of the die, in tpc_pg_mask; -1 where there is no mask */
	int fma[PRECISIONS];	 /* fused multiply-adds a clock and SM, dense; 0: no such unit */
	unsigned int unverified; /* bit (1 << precision): no NVIDIA text confirms the rate */
};

struct module_mode {
	const char *name;
	int id;		 /* of the power-mode file: for display only, ids differ by release */
	bool is_default; /* of the power-mode file */
	bool is_max;	 /* largest mode of the module */
	int cpus;	 /* online */
	double cpu_mhz;	 /* cap of the fastest cluster */
	double gpu_mhz;	 /* cap */
	int sm;		 /* active */
	int tpc_pg_mask; /* as the file prints it; -1: unknown, or no mask on this module */
	double emc_mhz;	 /* cap */
};

#define MODULE_PNUMBERS 2

struct module {
	const char *name;		       /* "Jetson Orin Nano 8GB Super" */
	const char *pnumbers[MODULE_PNUMBERS]; /* "p3767-0003"; NULL: unused */
	bool super; /* the device tree whose first compatible entry ends in -super */
	enum tegra_soc soc;
	int ram_gb;
	int bus_bits;
	int cpus; /* on the module */
	int sm;	  /* in the largest mode */
	struct board_trips trips;
	const struct module_mode *modes;
	size_t nmodes;
};

/* All modules; *n is their number. */
const struct module *modules_all(size_t *n);

const struct gpu_rates *gpu_rates(enum tegra_soc soc);

/* "tegra234", or "nvidia,tegra234", as in the device tree. */
enum tegra_soc soc_by_name(const char *name);

/*
 * By P-number "p3767-0003" and the kind of device tree. The ordinary entry when the module has no
 * Super one; NULL when unknown.
 */
const struct module *module_by_pnumber(const char *pnumber, bool super);

/*
 * By what people type: case, "Jetson", "NVIDIA", "module", "developer kit" and separators do not
 * matter ("orin-nano-8gb-super", "Orin Nano 8GB Super", "p3767-0005"). Where the memory size is
 * left out ("Orin Nano Super", "AGX Orin") it is the devkit's: *assumed (may be NULL) says so.
 * NULL when unknown.
 */
const struct module *module_by_name(const char *name, bool *assumed);

/*
 * By mode name, never by id: "MAXN_SUPER", "maxn super", "30W" for MODE_30W, "MODE_15W" for 15W.
 * NULL when the module has no such mode.
 */
const struct module_mode *module_mode_by_name(const struct module *module, const char *name);
const struct module_mode *module_mode_default(const struct module *module);
const struct module_mode *module_mode_max(const struct module *module);

/* Dense FLOP/s (operations/s for INT8): sm x FMA x 2 x clock. NAN when any part is unknown. */
double soc_peak_flops(enum tegra_soc soc, enum precision precision, int sm, double gpu_mhz);
double module_peak_flops(const struct module *module, enum precision precision, int sm,
			 double gpu_mhz);

/* Theoretical B/s: clock x 2 x bus width / 8. NAN when a part is unknown. */
double dram_peak_bandwidth(int bus_bits, double emc_mhz);
double module_bandwidth(const struct module *module, double emc_mhz);

/* Every ceiling at these clocks. soc or bus_bits may be unknown. */
void ceilings_at(struct board_ceilings *ceilings, enum tegra_soc soc, int sm, double gpu_mhz,
		 int bus_bits, double emc_mhz);
void module_mode_ceilings(struct board_ceilings *ceilings, const struct module *module,
			  const struct module_mode *mode);

/* SMs left by a tpc_pg_mask; -1 for a SoC without one or a mask it cannot have. */
int soc_active_sm(enum tegra_soc soc, long long tpc_pg_mask);

/*
 * "fp32", "tf32", "fp16-tc", "int8-tc", "fp8", "fp4", ...; "fp16" is the CUDA path, as is "half".
 * "tf32-tc", "int8", "fp8", "fp4" exist as tensor paths only. -1 when unknown.
 */
int precision_parse(const char *name);

#endif
