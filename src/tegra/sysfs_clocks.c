/* SPDX-License-Identifier: GPL-2.0-only */
/* GPU and EMC. Which release has which path: jetson_stats, the L4T drivers, boards. */
#include "tegra/sysfs.h"

#include <string.h>

#include "base/text.h"

#define HZ_MAX		INT64_C(20000000000)
#define KHZ_MAX		(HZ_MAX / 1000)
#define HZ_PER_MHZ	1000000
#define GPU_LOAD_MAX	1000
#define DEVFREQ_MATCHES 16

/* T210, T186, T194 up to R35, T234 R35, T234 from R36; the same board may have several. */
static const char *const gpu_load_paths[] = {
	"/sys/devices/gpu.0/load",
	"/sys/devices/platform/gpu.0/load",
	"/sys/devices/platform/bus@0/17000000.gpu/load",
	"/sys/devices/platform/17000000.gpu/load",
	"/sys/devices/57000000.gpu/load",
	NULL,
};

static const char *const gpu_devfreq_dirs[] = {
	"/sys/class/devfreq/gpu-gpc-*",
	"/sys/class/devfreq/17000000.gpu",
	"/sys/class/devfreq/17000000.ga10b",
	"/sys/class/devfreq/17000000.gv11b",
	"/sys/class/devfreq/17000000.gp10b",
	"/sys/class/devfreq/57000000.gpu",
	"/sys/devices/platform/17000000.gpu/devfreq_dev",
	"/sys/devices/57000000.gpu/devfreq/57000000.gpu",
	"/sys/devices/17000000.g*/devfreq/17000000.g*",
	"/sys/class/devfreq/*gpc*",
	"/sys/class/devfreq/*gpu*",
	/* nvgpu names its devices by chip: gp10b, gv11b, ga10b */
	"/sys/class/devfreq/*.g?[0-9][0-9]?",
	NULL,
};

static const char *const emc_clock_paths[] = {
	"/sys/kernel/debug/bpmp/debug/clk/emc/rate", "/sys/kernel/debug/clk/override.emc/clk_rate",
	"/sys/class/devfreq/bwmgr/cur_freq",	     "/sys/class/devfreq/*emc*/cur_freq",
	"/sys/kernel/debug/clk/emc/clk_rate",	     NULL,
};

/* The order of jetson_stats: R36 first. */
static const char *const emc_activity_paths[] = {
	"/sys/kernel/debug/cactmon/mc_all",
	"/sys/kernel/debug/bpmp/debug/actmon/mc_all_avg_activity",
	"/sys/kernel/actmon_avg_activity/mc_all",
	NULL,
};

static const char *const emc_period_paths[] = {
	"/sys/kernel/debug/cactmon/sample_period_usec",
	NULL,
};

static bool has_clock(const char *dir)
{
	struct sysfs_file file;
	bool keep;

	sysfs_file_open(&file, "%s/cur_freq", dir);
	keep = sysfs_file_keep(&file);
	sysfs_file_close(&file);
	return keep;
}

/* Thor has domains of the GPU besides its GPCs: video, system, power. */
static bool is_other_domain(const char *dir)
{
	return strstr(dir, "gpu-nvd") || strstr(dir, "gpu-sys") || strstr(dir, "gpu-pwr");
}

size_t sysfs_gpu_devfreq(char (*paths)[SYSFS_PATH_SIZE], size_t max)
{
	char all[DEVFREQ_MATCHES][SYSFS_PATH_SIZE];

	for (const char *const *pattern = gpu_devfreq_dirs; *pattern; pattern++) {
		size_t n = sysfs_glob(*pattern, all, DEVFREQ_MATCHES), found = 0;

		for (size_t i = 0; i < n && found < max; i++) {
			if (!is_other_domain(all[i]) && has_clock(all[i]))
				text_copy(paths[found++], SYSFS_PATH_SIZE, all[i]);
		}
		if (found)
			return found;
	}
	return 0;
}

bool sysfs_emc_devfreq(char path[SYSFS_PATH_SIZE])
{
	char all[DEVFREQ_MATCHES][SYSFS_PATH_SIZE];
	size_t n = sysfs_glob("/sys/class/devfreq/bwmgr", all, DEVFREQ_MATCHES);

	if (!n)
		n = sysfs_glob("/sys/class/devfreq/*emc*", all, DEVFREQ_MATCHES);
	for (size_t i = 0; i < n; i++) {
		if (has_clock(all[i]))
			return text_copy(path, SYSFS_PATH_SIZE, all[i]);
	}
	return false;
}

void sysfs_gpu_open(struct sysfs_gpu *gpu)
{
	char dirs[TEGRA_GPU_MHZ_MAX][SYSFS_PATH_SIZE];
	size_t n = sysfs_gpu_devfreq(dirs, TEGRA_GPU_MHZ_MAX);

	gpu->clocks = 0;
	for (size_t i = 0; i < n; i++)
		sysfs_file_open(&gpu->clock[gpu->clocks++], "%s/cur_freq", dirs[i]);
	if (sysfs_file_probe(&gpu->load, gpu_load_paths))
		return;
	for (size_t i = 0; i < n; i++) {
		struct sysfs_file load;

		sysfs_file_open(&load, "%s/device/load", dirs[i]);
		if (sysfs_file_keep(&load)) {
			gpu->load = load;
			return;
		}
	}
}

void sysfs_gpu_close(struct sysfs_gpu *gpu)
{
	sysfs_file_close(&gpu->load);
	for (uint32_t i = 0; i < gpu->clocks; i++)
		sysfs_file_close(&gpu->clock[i]);
}

int32_t sysfs_gpu_read_load(const struct sysfs_gpu *gpu)
{
	int64_t load;

	if (sysfs_file_range(&gpu->load, 0, GPU_LOAD_MAX, &load))
		return TEGRA_UNKNOWN;
	return (int32_t)load;
}

void sysfs_gpu_sample(struct sysfs_gpu *gpu, struct tegra_sample *out)
{
	int32_t load = sysfs_gpu_read_load(gpu);

	if (load != TEGRA_UNKNOWN)
		out->gr3d_pct = load / 10;
	for (uint32_t i = 0; i < gpu->clocks; i++) {
		int64_t hz;

		if (!sysfs_file_range(&gpu->clock[i], 0, HZ_MAX, &hz))
			out->gr3d_mhz[out->gr3d_mhz_count++] = (int32_t)(hz / HZ_PER_MHZ);
	}
}

void sysfs_emc_open(struct sysfs_emc *emc)
{
	sysfs_file_probe(&emc->clock, emc_clock_paths);
	sysfs_file_probe(&emc->activity, emc_activity_paths);
	sysfs_file_probe(&emc->period, emc_period_paths);
}

void sysfs_emc_close(struct sysfs_emc *emc)
{
	sysfs_file_close(&emc->clock);
	sysfs_file_close(&emc->activity);
	sysfs_file_close(&emc->period);
}

void sysfs_emc_sample(struct sysfs_emc *emc, struct tegra_sample *out)
{
	int64_t hz, busy_khz, pct;

	if (sysfs_file_range(&emc->clock, 0, HZ_MAX, &hz))
		return;
	out->emc_mhz = (int32_t)(hz / HZ_PER_MHZ);
	if (hz < 1000 || sysfs_file_range(&emc->activity, 0, KHZ_MAX, &busy_khz))
		return;
	/* The mean of 1.28 s outlives a clock that has just been lowered. */
	pct = 100 * busy_khz / (hz / 1000);
	out->emc_pct = pct > 100 ? 100 : (int32_t)pct;
}
