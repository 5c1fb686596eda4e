/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which module printed these lines: rails, zones, engines, cores and memory give it away, the text
 * never names it. A guess is called one wherever it is used.
 */
#ifndef TEGRATRACE_TEGRA_GUESS_H
#define TEGRATRACE_TEGRA_GUESS_H

#include <stdbool.h>

#include "tegra/line.h"
#include "tegra/modules.h"

/* What the lines seen so far have in common; all zero is a fresh start. */
struct tegra_traits {
	bool pom_rails, sys_rails, ddr_rail, bare_rails, cv_rail, agx_orin_rails, thor_rails;
	bool tj_zone, soc_zones, nvenc, dla;
	int cores;
	double ram_mb;
	double gpu_max_mhz, emc_max_mhz, cpu_max_mhz;
};

void tegra_traits_add(struct tegra_traits *traits, const struct tegra_sample *sample);

/* NULL when the lines fit no module, or several that differ in their ceilings. */
const struct module *tegra_guess_module(const struct tegra_traits *traits);

/*
 * The SMs that the power mode leaves on, by what a log shows of it: the GPU clock under load, the
 * CPUs on line and the largest EMC clock (NAN, -1: unknown). -1: no mode of the table fits, or
 * several that differ.
 */
int tegra_guess_sm(const struct module *module, double gpu_mhz, int cpus, double emc_mhz);

#endif
