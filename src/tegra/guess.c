/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/guess.h"

#include <math.h>
#include <string.h>

static void add_rails(struct tegra_traits *traits, const struct tegra_sample *sample)
{
	for (uint32_t i = 0; i < sample->rail_count; i++) {
		const char *name = sample->rail[i].name;

		traits->pom_rails |= !strncmp(name, "POM_5V", 6);
		traits->sys_rails |= !strncmp(name, "VDD_SYS_", 8);
		traits->ddr_rail |= !strcmp(name, "VDD_DDR") || !strcmp(name, "VDD_WIFI");
		traits->bare_rails |= !strcmp(name, "VDDRQ");
		traits->cv_rail |= !strcmp(name, "VDD_CPU_GPU_CV");
		traits->agx_orin_rails |= !strcmp(name, "VDD_GPU_SOC");
		traits->thor_rails |= !strcmp(name, "VDD_CPU_SOC_MSS");
	}
}

static double larger(double a, int32_t b)
{
	return b == TEGRA_UNKNOWN ? a : fmax(a, b);
}

void tegra_traits_add(struct tegra_traits *traits, const struct tegra_sample *sample)
{
	add_rails(traits, sample);
	for (uint32_t i = 0; i < sample->temp_count; i++) {
		traits->tj_zone |= !strcmp(sample->temp[i].name, "tj");
		traits->soc_zones |= !strcmp(sample->temp[i].name, "soc012");
	}
	for (uint32_t i = 0; i < sample->engine_count; i++) {
		traits->nvenc |= !strncmp(sample->engine[i].name, "NVENC", 5);
		traits->dla |= !strncmp(sample->engine[i].name, "NVDLA", 5);
	}
	if (!sample->cpu_partial && (int)sample->cpu_count > traits->cores)
		traits->cores = (int)sample->cpu_count;
	for (uint32_t i = 0; i < sample->cpu_count; i++)
		traits->cpu_max_mhz = larger(traits->cpu_max_mhz, sample->cpu[i].freq_mhz);
	traits->ram_mb = larger(traits->ram_mb, sample->ram_total_mb);
	traits->emc_max_mhz = larger(traits->emc_max_mhz, sample->emc_mhz);
	for (uint32_t i = 0; i < sample->gr3d_mhz_count; i++)
		traits->gpu_max_mhz = larger(traits->gpu_max_mhz, sample->gr3d_mhz[i]);
}

static bool ram_near(const struct tegra_traits *traits, int gb)
{
	double full_mb = gb * 1024.0;

	/* Carve-outs take up to 17 % (3956 of 4096, 30000 of 32768; an R35 Xavier NX: 6834 of 8192). */
	return traits->ram_mb > 0.80 * full_mb && traits->ram_mb <= full_mb;
}

/*
 * Orin modules with the rail VDD_CPU_GPU_CV. The Orin Nano has no NVENC and no DLA, and its cores
 * end at 1728 MHz; the Super is the same hardware with other modes, told by its clocks only.
 */
static const char *orin_small(const struct tegra_traits *traits)
{
	bool nx = traits->cores == 8 || traits->nvenc || traits->dla || traits->cpu_max_mhz > 1760;
	bool super = traits->emc_max_mhz > 2200 || traits->gpu_max_mhz > 650 ||
		     traits->cpu_max_mhz > 1540;

	if (nx && ram_near(traits, 16))
		return traits->gpu_max_mhz > 950 ? "Orin NX 16GB Super" : "Orin NX 16GB";
	if (nx && ram_near(traits, 8))
		return traits->gpu_max_mhz > 800 ? "Orin NX 8GB Super" : "Orin NX 8GB";
	if (!nx && ram_near(traits, 8))
		return super ? "Orin Nano 8GB Super" : "Orin Nano 8GB";
	if (!nx && ram_near(traits, 4))
		return super ? "Orin Nano 4GB Super" : "Orin Nano 4GB";
	return NULL;
}

static const char *family(const struct tegra_traits *traits)
{
	if (traits->thor_rails || traits->soc_zones)
		return ram_near(traits, 128) ? "AGX Thor" : NULL;
	if (traits->agx_orin_rails)
		return ram_near(traits, 64)   ? "AGX Orin 64GB"
		       : ram_near(traits, 32) ? "AGX Orin 32GB"
					      : NULL;
	if (traits->cv_rail && traits->tj_zone)
		return orin_small(traits);
	if (traits->cv_rail)
		return ram_near(traits, 16)  ? "Xavier NX 16GB"
		       : ram_near(traits, 8) ? "Xavier NX"
					     : NULL;
	if (traits->bare_rails)
		return ram_near(traits, 32)   ? "AGX Xavier 32GB"
		       : ram_near(traits, 16) ? "AGX Xavier 16GB"
					      : NULL;
	if (traits->pom_rails)
		return ram_near(traits, 4) ? "Nano 4GB" : NULL;
	/* TX2: six cores, DRAM at 1866 MHz; its old lines have no rails at all. */
	if ((traits->sys_rails || traits->ddr_rail || traits->emc_max_mhz == 1866) &&
	    traits->cores == 6 && ram_near(traits, 8))
		return "TX2 8GB";
	return NULL;
}

/* A locked 1020 MHz reads 1005-1019. */
#define CLOCK_JITTER 0.03

static bool is_mode_of(const struct module *module, const struct module_mode *mode, double gpu_mhz,
		       int cpus, double emc_mhz)
{
	if (cpus != mode->cpus)
		return false;
	if (emc_mhz > mode->emc_mhz * (1 + CLOCK_JITTER))
		return false;
	/* CPUs may have been turned off by hand: then only a clock at its cap tells the mode. */
	return fabs(gpu_mhz / mode->gpu_mhz - 1) <= CLOCK_JITTER ||
	       (cpus == module->cpus && gpu_mhz < mode->gpu_mhz);
}

int tegra_guess_sm(const struct module *module, double gpu_mhz, int cpus, double emc_mhz)
{
	bool differ = false;
	int sm = -1;

	for (size_t i = 0; i < module->nmodes; i++)
		differ |= module->modes[i].sm != module->modes[0].sm;
	if (!differ)
		return module->sm;
	for (size_t i = 0; i < module->nmodes; i++) {
		const struct module_mode *mode = &module->modes[i];

		if (!is_mode_of(module, mode, gpu_mhz, cpus, emc_mhz))
			continue;
		if (sm > 0 && sm != mode->sm)
			return -1;
		sm = mode->sm;
	}
	return sm;
}

const struct module *tegra_guess_module(const struct tegra_traits *traits)
{
	const char *name = family(traits);

	return name ? module_by_name(name, NULL) : NULL;
}
