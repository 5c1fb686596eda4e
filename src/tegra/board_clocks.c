/* SPDX-License-Identifier: GPL-2.0-only */
/* CPU, GPU and EMC: clocks now, allowed, possible. Which path a release has: see sysfs_clocks.c. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_list.h"
#include "base/text.h"
#include "tegra/board_parts.h"
#include "tegra/sysfs.h"

#define CPUS_MAX 1024
#define MHZ_MAX	 20000

/* A clock in 1/per_mhz MHz; NAN when it cannot be read or cannot be. */
static double read_mhz(double per_mhz, const char *dir, const char *file)
{
	int64_t value;
	double mhz;

	if (sysfs_read_number(&value, "%s%s", dir, file))
		return NAN;
	mhz = (double)value / per_mhz;
	return mhz > 0 && mhz <= MHZ_MAX ? mhz : NAN;
}

static double read_hz(const char *dir, const char *file)
{
	return read_mhz(1e6, dir, file);
}

static bool read_cpu_list(const char *path, bool set[CPUS_MAX])
{
	char text[CPU_LIST_TEXT];

	return sysfs_read_text(text, sizeof(text), "%s", path) > 0 &&
	       cpu_list_parse(text, set, CPUS_MAX);
}

static int count(const bool set[CPUS_MAX])
{
	int n = 0;

	for (int i = 0; i < CPUS_MAX; i++)
		n += set[i];
	return n;
}

static void print_cpu_list(char *text, size_t size, const bool set[CPUS_MAX])
{
	*text = '\0';
	for (int first = 0, last; first < CPUS_MAX; first = last + 1) {
		last = first;
		if (!set[first])
			continue;
		while (last + 1 < CPUS_MAX && set[last + 1])
			last++;
		text_appendf(text, size, last > first ? "%s%d-%d" : "%s%d", *text ? "," : "", first,
			     last);
	}
}

static void read_cpu_clocks(struct board_cpu *cpu, const bool online[CPUS_MAX])
{
	char dir[64];

	for (int i = 0; i < CPUS_MAX; i++) {
		if (!online[i])
			continue;
		snprintf(dir, sizeof(dir), "/sys/devices/system/cpu/cpu%d/cpufreq/", i);
		cpu->now_mhz = fmax(cpu->now_mhz, read_mhz(1e3, dir, "scaling_cur_freq"));
		cpu->cap_mhz = fmax(cpu->cap_mhz, read_mhz(1e3, dir, "scaling_max_freq"));
		cpu->hw_max_mhz = fmax(cpu->hw_max_mhz, read_mhz(1e3, dir, "cpuinfo_max_freq"));
	}
}

static void read_cpus(struct board_cpu *cpu)
{
	bool present[CPUS_MAX], online[CPUS_MAX], offline[CPUS_MAX];
	bool has_present =
		read_cpu_list("/sys/devices/system/cpu/present", present) && count(present);

	if (has_present)
		cpu->present = count(present);
	if (!read_cpu_list("/sys/devices/system/cpu/online", online) || !count(online))
		return;
	cpu->online = count(online);
	read_cpu_clocks(cpu, online);
	if (!has_present)
		return;
	for (int i = 0; i < CPUS_MAX; i++)
		offline[i] = present[i] && !online[i];
	print_cpu_list(cpu->offline, sizeof(cpu->offline), offline);
}

static double largest_mhz(const char *list)
{
	double largest = NAN;
	char *end;

	for (;; list = end) {
		double mhz = (double)strtoull(list, &end, 10) / 1e6;

		if (end == list)
			return largest;
		if (mhz > 0 && mhz <= MHZ_MAX)
			largest = fmax(largest, mhz);
	}
}

static bool has_clocks(const char *dir)
{
	return !isnan(read_hz(dir, "/max_freq")) || !isnan(read_hz(dir, "/cur_freq"));
}

/* The board's own power-mode file knows where a release put it. */
static bool gpu_dir_of_conf(const struct power_conf *conf, char *dir, size_t size)
{
	static const char file[] = "/max_freq";

	for (int i = POWER_CONF_PATHS - 1; i >= 0; i--) {
		const char *path = conf->gpu_max_freq.path[i];
		size_t len = strlen(path);

		if (len <= strlen(file) || strcmp(path + len - strlen(file), file))
			continue;
		snprintf(dir, size, "%.*s", (int)(len - strlen(file)), path);
		if (has_clocks(dir))
			return true;
	}
	return false;
}

static void read_gpu_clocks(struct board_gpu *gpu, const char *dir)
{
	char text[4096];

	text_copy(gpu->path, sizeof(gpu->path), dir);
	gpu->now_mhz = read_hz(dir, "/cur_freq");
	gpu->min_mhz = read_hz(dir, "/min_freq");
	gpu->cap_mhz = read_hz(dir, "/max_freq");
	if (sysfs_read_text(text, sizeof(text), "%s/available_frequencies", dir) > 0)
		gpu->hw_max_mhz = largest_mhz(text);
	if (sysfs_read_text(text, sizeof(gpu->governor), "%s/governor", dir) > 0)
		text_sanitize(gpu->governor, sizeof(gpu->governor), text, strlen(text));
	if (!isnan(gpu->cap_mhz))
		gpu->cap_source = BOARD_READ;
	if (!isnan(gpu->hw_max_mhz))
		gpu->hw_max_source = BOARD_READ;
	if (!isnan(gpu->cap_mhz) && !isnan(gpu->min_mhz))
		gpu->locked = gpu->min_mhz == gpu->cap_mhz;
}

static void read_gpu(struct board_parts *parts)
{
	struct board_gpu *gpu = &parts->info->gpu;
	char dir[1][SYSFS_PATH_SIZE];

	if (sysfs_gpu_devfreq(dir, 1) || gpu_dir_of_conf(&parts->conf, dir[0], sizeof(dir[0])))
		read_gpu_clocks(gpu, dir[0]);
}

/* Decimal. tpc_fs_mask beside it would wake the GPU (nvgpu). */
static void read_mask(struct board_parts *parts)
{
	const char *const paths[] = {
		"/sys/devices/gpu.0/tpc_pg_mask",
		"/sys/devices/platform/gpu.0/tpc_pg_mask",
		"/sys/devices/platform/17000000.gpu/tpc_pg_mask",
		"/sys/devices/platform/bus@0/17000000.gpu/tpc_pg_mask",
		parts->conf.tpc_pg_mask.path[1],
		parts->conf.tpc_pg_mask.path[0],
	};
	int64_t mask;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (*paths[i] && !sysfs_read_number(&mask, "%s", paths[i]) && mask >= 0) {
			parts->info->gpu.tpc_pg_mask = mask;
			return;
		}
	}
}

static double first_hz(const char *const *paths)
{
	double mhz = NAN;

	for (; *paths && isnan(mhz); paths++)
		mhz = read_hz(*paths, "");
	return mhz;
}

/* 0, or INT_MAX that nvpmodel writes for -1: none. The R36 driver shows the rate it rounded to. */
static double read_emc_cap(const struct power_conf *conf)
{
	const char *const paths[] = {
		"/sys/kernel/nvpmodel_clk_cap/emc",
		"/sys/kernel/nvpmodel_emc_cap/emc_iso_cap",
		conf->emc_max_freq.path[1],
		conf->emc_max_freq.path[0],
	};
	int64_t hz;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (*paths[i] && !sysfs_read_number(&hz, "%s", paths[i]) && hz >= -1)
			return hz <= 0 || hz == INT_MAX ? INFINITY : (double)hz / 1e6;
	}
	return NAN;
}

/* T264 has a devfreq device for it. */
static void read_emc_devfreq(struct board_parts *parts)
{
	struct board_emc *emc = &parts->info->emc;
	char dir[SYSFS_PATH_SIZE], text[4096];
	double cap;

	if (!sysfs_emc_devfreq(dir))
		return;
	if (isnan(emc->now_mhz))
		emc->now_mhz = read_hz(dir, "/cur_freq");
	if (isnan(emc->hw_max_mhz) &&
	    sysfs_read_text(text, sizeof(text), "%s/available_frequencies", dir) > 0)
		emc->hw_max_mhz = largest_mhz(text);
	cap = read_hz(dir, "/max_freq");
	if (!isnan(cap) && isnan(parts->emc_file_mhz))
		parts->emc_file_mhz = cap;
}

static void read_emc(struct board_parts *parts)
{
	static const char *const rates[] = {
		"/sys/kernel/debug/bpmp/debug/clk/emc/rate",
		"/sys/kernel/debug/clk/override.emc/clk_rate",
		"/sys/kernel/debug/clk/emc/clk_rate",
		NULL,
	};
	static const char *const max_rates[] = {
		"/sys/kernel/debug/bpmp/debug/clk/emc/max_rate",
		"/sys/kernel/debug/tegra_bwmgr/emc_max_rate",
		NULL,
	};
	struct board_emc *emc = &parts->info->emc;
	int64_t locked;

	emc->now_mhz = first_hz(rates);
	if (!sysfs_read_number(&locked, "/sys/kernel/debug/bpmp/debug/clk/emc/mrq_rate_locked"))
		emc->locked = locked == 1;
	emc->hw_max_mhz = first_hz(max_rates);
	parts->emc_file_mhz = read_emc_cap(&parts->conf);
	read_emc_devfreq(parts);
	if (!isnan(emc->hw_max_mhz))
		emc->hw_max_source = BOARD_READ;
}

void board_read_clocks(struct board_parts *parts)
{
	read_cpus(&parts->info->cpu);
	read_gpu(parts);
	read_mask(parts);
	read_emc(parts);
}
