/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sensors and throttling on copies of tests/fixtures/boards. Expected values are by hand from the
 * files there, or from what a test writes itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tegra/summary.h"
#include "tegra/sysfs.h"
#include "tegra/throttle.h"

#define MS	    INT64_C(1000000)
#define PATH_SIZE   512
#define NANO_EMC    "/sys/kernel/debug/clk/override.emc/clk_rate"
#define BPMP_EMC    "/sys/kernel/debug/bpmp/debug/clk/emc/rate"
#define ORIN_GPU    "/sys/class/devfreq/17000000.gpu"
#define ORIN_MC_ALL "/sys/kernel/debug/cactmon/mc_all"
#define LOAD	    "/sys/devices/platform/gpu.0/load"
#define ZONE(n)	    "/sys/class/thermal/thermal_zone" #n
#define COOLING(n)  "/sys/class/thermal/cooling_device" #n
#define OC(n)	    "/sys/class/hwmon/hwmon4/oc" #n "_event_cnt" /* of Orin Nano */

static char root[128];
static struct sysfs *sysfs;
static struct tegra_sample sample;
static struct throttle_window window;

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *path, const char *text, ...) __attribute__((format(printf, 2, 3)));

static void run(const char *format, ...)
{
	char command[PATH_SIZE * 2];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

/* Rewrites a file of the copy in place, so that open descriptors see the new text. */
static void put(const char *path, const char *text, ...)
{
	char full[PATH_SIZE];
	va_list args;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, "w");
	if (!file) {
		run("mkdir -p '%.*s'", (int)(strrchr(full, '/') - full), full);
		file = fopen(full, "w");
	}
	assert_non_null(file);
	va_start(args, text);
	vfprintf(file, text, args);
	va_end(args);
	assert_int_equal(fclose(file), 0);
}

static void drop(const char *path)
{
	run("rm -rf '%s%s'", root, path);
}

/* A fresh root with a copy of that board, or an empty one. */
static void board(const char *name)
{
	snprintf(root, sizeof(root), "/tmp/tegratrace-sysfs-XXXXXX");
	assert_non_null(mkdtemp(root));
	chmod(root, 0755);
	if (name)
		run("cp -a tests/fixtures/boards/%s/. '%s'", name, root);
	setenv("TEGRATRACE_ROOT", root, 1);
}

static void start(void)
{
	sysfs = sysfs_open();
	assert_non_null(sysfs);
	memset(&sample, 0xa5, sizeof(sample)); /* nothing may be left unset */
}

static int cleanup(void **state)
{
	(void)state;
	sysfs_close(sysfs);
	sysfs = NULL;
	if (root[0])
		run("rm -rf '%s'", root);
	root[0] = '\0';
	unsetenv("TEGRATRACE_ROOT");
	return 0;
}

/* In the folder that the board's own files make the GPU's. */
static void put_gpu(const char *fallback, const char *name, const char *value)
{
	char dir[1][SYSFS_PATH_SIZE], path[PATH_SIZE];
	bool found = sysfs_gpu_devfreq(dir, 1);

	snprintf(path, sizeof(path), "%s/%s", found ? dir[0] : fallback, name);
	put(path, "%s\n", value);
}

static void read_board(void)
{
	start();
	sysfs_sample(sysfs, &sample);
}

static void assert_temp(uint32_t i, const char *name, double c)
{
	assert_true(i < sample.temp_count);
	assert_string_equal(sample.temp[i].name, name);
	if (isnan(c) ? !isnan(sample.temp[i].cur_c) : sample.temp[i].cur_c != c)
		fail_msg("%s is %f", name, sample.temp[i].cur_c);
	assert_true(isnan(sample.temp[i].max_c));
}

static void assert_rail(uint32_t i, const char *name, int32_t mw)
{
	assert_true(i < sample.rail_count);
	assert_string_equal(sample.rail[i].name, name);
	assert_int_equal(sample.rail[i].cur_mw, mw);
	assert_int_equal(sample.rail[i].avg_mw, TEGRA_UNKNOWN);
}

/* pct < 0: none. */
static void assert_engine(const char *name, bool off, int32_t mhz, int32_t pct)
{
	for (uint32_t i = 0; i < sample.engine_count; i++) {
		const struct tegra_engine *engine = &sample.engine[i];

		if (strcmp(engine->name, name))
			continue;
		assert_int_equal(engine->off, off);
		assert_int_equal(engine->mhz, mhz);
		assert_int_equal(engine->pct_count, pct >= 0);
		if (pct >= 0)
			assert_int_equal(engine->pct[0], pct);
		return;
	}
	fail_msg("no engine %s", name);
}

static void assert_path(const char *name, const char *path, const char *note)
{
	struct sysfs_quantity list[SYSFS_QUANTITIES];
	size_t n = sysfs_describe(sysfs, list, SYSFS_QUANTITIES);

	assert_int_equal(n, SYSFS_QUANTITIES);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].name, name))
			continue;
		assert_string_equal(list[i].path, path);
		assert_string_equal(list[i].note, note);
		return;
	}
	fail_msg("no quantity %s", name);
}

static void test_nano(void **state)
{
	(void)state;
	board("nano-4gb-r32");
	put_gpu("/sys/devices/57000000.gpu/devfreq/57000000.gpu", "cur_freq", "921600000");
	put(NANO_EMC, "1600000000\n");
	put("/proc/meminfo", "MemTotal: 4059548 kB\nMemFree: 1048576 kB\nBuffers: 65536 kB\n"
			     "Cached: 1003520 kB\nSwapCached: 30000 kB\nSwapTotal: 8388608 kB\n"
			     "SwapFree: 8000000 kB\n");
	read_board();
	assert_true(sysfs_usable(sysfs));
	assert_int_equal(sample.date_s, TEGRA_DATE_UNKNOWN);
	assert_int_equal(sample.gr3d_pct, 43);
	assert_int_equal(sample.gr3d_mhz_count, 1);
	assert_int_equal(sample.gr3d_mhz[0], 921);
	assert_int_equal(sample.emc_mhz, 1600);
	assert_int_equal(sample.emc_pct, 25); /* 400000 of 1600000 kHz */
	/* (4059548 - 1048576 - 65536 - 1003520) / 1024 = 1896.4 */
	assert_int_equal(sample.ram_used_mb, 1896);
	assert_int_equal(sample.ram_total_mb, 3964);
	assert_int_equal(sample.swap_used_mb, 379);
	assert_int_equal(sample.swap_total_mb, 8192);
	assert_int_equal(sample.swap_cached_mb, 29);
	if (sysconf(_SC_PAGESIZE) == 4096) {
		assert_int_equal(sample.lfb_kb, 4096);
		assert_int_equal(sample.lfb_blocks, 48); /* 12 + 36 of order 10 */
	}
	assert_int_equal(sample.temp_count, 6);
	assert_temp(0, "AO", 42.5);
	assert_temp(1, "CPU", 37.5);
	assert_temp(4, "PMIC", NAN);
	assert_temp(5, "thermal", 38.5);
	assert_int_equal(sample.rail_count, 3);
	assert_rail(0, "POM_5V_IN", 2532);
	assert_rail(1, "POM_5V_GPU", 19);
	assert_rail(2, "POM_5V_CPU", 76);
	assert_engine("NVENC", true, 0, -1);
	assert_engine("NVDEC", false, 716, -1);
	assert_engine("VIC", true, 0, -1);
	assert_engine("APE", false, 25, -1);
	assert_int_equal(sysfs_fan(sysfs).pwm, 118);
	assert_int_equal(sysfs_fan(sysfs).rpm, 2350);
	assert_int_equal(sysfs_emc_period_us(sysfs), TEGRA_UNKNOWN);
	assert_path("GPU load", "/sys/devices/gpu.0/load", "");
	assert_path("EMC activity", "/sys/kernel/actmon_avg_activity/mc_all", "");
	assert_path("power rails",
		    "/sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0/in_power0_input", "3 found");
}

static void test_xavier(void **state)
{
	(void)state;
	board("xavier-nx-r35");
	put(BPMP_EMC, "1600000000\n");
	put("/sys/devices/system/cpu/present", "0-5\n");
	put("/sys/devices/system/cpu/online", "0-3\n");
	read_board();
	assert_int_equal(sample.gr3d_pct, 0); /* read, not missing */
	assert_int_equal(sample.emc_pct, 2);  /* 37000 of 1600000: 2.3 */
	assert_int_equal(sample.cpu_count, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(sample.cpu[i].off, i >= 4);
	assert_int_equal(sample.cpu[5].load_pct, 0);
	assert_int_equal(sample.cpu[0].load_pct, TEGRA_UNKNOWN); /* no time has passed */
	assert_temp(2, "GPU", NAN);				 /* -256000: powered off */
	assert_temp(3, "AUX", 41);
	assert_int_equal(sample.rail_count, 3);
	assert_rail(0, "VDD_IN", 4644); /* 5048 x 920 / 1000 = 4644.2 */
	assert_rail(1, "VDD_CPU_GPU_CV", 767);
	assert_rail(2, "VDD_SOC", 1312);
	assert_engine("VIC", false, 115, 31); /* 316 per mille */
	assert_engine("NVDLA0", true, 0, -1);
	assert_int_equal(sysfs_fan(sysfs).rpm, 1830);
}

static void test_agx_orin(void **state)
{
	(void)state;
	board("agx-orin-64gb-r36");
	put(BPMP_EMC, "3199000000\n");
	put_gpu(ORIN_GPU, "cur_freq", "1300500000");
	put("/sys/devices/system/cpu/present", "0-11\n");
	put("/sys/devices/system/cpu/online", "0-3,8-11\n");
	read_board();
	assert_int_equal(sample.gr3d_pct, 99);
	assert_int_equal(sample.gr3d_mhz[0], 1300);
	assert_int_equal(sample.emc_pct, 50); /* 1599500 of 3199000 */
	assert_int_equal(sysfs_emc_period_us(sysfs), 20000);
	assert_int_equal(sample.cpu_count, 12);
	for (uint32_t i = 0; i < 12; i++)
		assert_int_equal(sample.cpu[i].off, i >= 4 && i < 8);
	assert_int_equal(sample.temp_count, 9);
	assert_temp(0, "cpu", 48.937);
	assert_temp(2, "cv0", NAN); /* EAGAIN */
	assert_temp(8, "tj", 48.937);
	assert_int_equal(sample.rail_count, 4); /* without NC, NC and the sum */
	assert_rail(0, "VDD_GPU_SOC", 7569);
	assert_rail(1, "VDD_CPU_CV", 3030);
	assert_rail(2, "VIN_SYS_5V0", 4079);
	assert_rail(3, "VDDQ_VDD2_1V8AO", 984);
	assert_engine("NVDEC", false, 576, -1);
	assert_engine("NVJPG1", true, 0, -1);
	assert_engine("NVDLA1", true, 0, -1);
	assert_path("GPU load", LOAD, "");
	assert_path("EMC activity", ORIN_MC_ALL, "");
}

static void test_orin_nano(void **state)
{
	(void)state;
	board("orin-nano-super-r36");
	put(BPMP_EMC, "2133000000\n");
	put("/proc/meminfo", "MemTotal: 7802880 kB\nMemFree: 2000000 kB\nBuffers: 100000 kB\n"
			     "Cached: 2183424 kB\n");
	read_board();
	assert_int_equal(sample.gr3d_pct, 50);
	assert_int_equal(sample.emc_pct, 6);
	assert_int_equal(sample.emc_mhz, 2133);
	assert_int_equal(sample.ram_used_mb, 3436);
	assert_int_equal(sample.ram_total_mb, 7620);
	assert_int_equal(sample.swap_total_mb, TEGRA_UNKNOWN);
	if (sysconf(_SC_PAGESIZE) == 4096) {
		assert_int_equal(sample.lfb_kb, 1024);
		assert_int_equal(sample.lfb_blocks, 7);
	}
	assert_rail(0, "VDD_IN", 9354);
	assert_rail(2, "VDD_SOC", -40); /* 5040 x -8 / 1000 */
}

static void test_thor(void **state)
{
	(void)state;
	board("agx-thor-r38");
	drop("/sys/class/devfreq/gpu-gpc-0");
	put("/sys/class/devfreq/bwmgr/cur_freq", "4266000000\n");
	for (int i = 0; i < 3; i++) {
		char path[PATH_SIZE];

		snprintf(path, sizeof(path), "/sys/class/devfreq/gpu-gpc-%d/cur_freq", i);
		put(path, "%d000000\n", 1385 + i);
	}
	put("/sys/class/devfreq/gpu-nvd-0/cur_freq", "999000000\n");
	read_board();
	assert_int_equal(sample.gr3d_pct, TEGRA_UNKNOWN);
	assert_int_equal(sysfs_gpu_load(sysfs), TEGRA_UNKNOWN);
	assert_int_equal(sample.gr3d_mhz_count, 3);
	assert_int_equal(sample.gr3d_mhz[2], 1387);
	assert_int_equal(sample.emc_mhz, 4266);
	assert_int_equal(sample.emc_pct, 25);
	assert_temp(2, "soc012", 44);
	assert_temp(3, "gpu", NAN);
	assert_int_equal(sample.rail_count, 4);
	assert_rail(0, "VDD_GPU", -396); /* 9920 x -40 / 1000 = -396.8 */
	assert_rail(3, "VIN", 24500);	 /* 24500000 uW */
	assert_engine("NVDEC0", false, 1600, -1);
	assert_int_equal(sysfs_fan(sysfs).rpm, 1100);
	assert_path("GPU load", "", "no such file on this board; NVML (nvidia-smi) may have it");
	assert_path("GPU clock", "/sys/class/devfreq/gpu-gpc-0/cur_freq", "3 found");
}

static void test_future_board(void **state)
{
	(void)state;
	board("future-board");
	drop("/sys/class/devfreq");
	put("/sys/class/devfreq/18800000.gpu/cur_freq", "2100000000\n");
	put("/sys/class/devfreq/18800000.gpu/device/load", "250\n");
	put("/sys/class/devfreq/18800000.gpu/device/what", "?\n");
	read_board();
	assert_true(sysfs_usable(sysfs));
	assert_int_equal(sample.gr3d_pct, 25);
	assert_int_equal(sample.gr3d_mhz[0], 2100);
	assert_int_equal(sample.emc_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.lfb_kb, TEGRA_UNKNOWN);
	assert_temp(0, "die0", 51);
	assert_temp(2, "dram_stack", 48);
	assert_int_equal(sample.rail_count, 2);
	assert_rail(0, "VDD_TILE0", 11950);
	assert_rail(1, "VDD_TILE1", 23900);
	assert_int_equal(sample.engine_count, 0);
	assert_path("GPU load", "/sys/class/devfreq/18800000.gpu/device/load", "");
	assert_path("EMC activity", "", "no such file on this board");
}

static void test_nothing_there(void **state)
{
	struct sysfs_quantity list[SYSFS_QUANTITIES];

	(void)state;
	board(NULL);
	read_board();
	assert_false(sysfs_usable(sysfs));
	assert_int_equal(sample.ram_used_mb, TEGRA_UNKNOWN);
	assert_int_equal(sample.ram_total_mb, TEGRA_UNKNOWN);
	assert_int_equal(sample.lfb_blocks, TEGRA_UNKNOWN);
	assert_int_equal(sample.swap_used_mb, TEGRA_UNKNOWN);
	assert_int_equal(sample.emc_mhz, TEGRA_UNKNOWN);
	assert_int_equal(sample.emc_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.gr3d_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.gr3d_mhz_count + sample.cpu_count + sample.rail_count +
				 sample.temp_count + sample.engine_count + sample.unknown_count,
			 0);
	assert_int_equal(sysfs_fan(sysfs).pwm, TEGRA_UNKNOWN);
	assert_int_equal(sysfs_describe(sysfs, list, 3), 3);
	assert_int_equal(sysfs_describe(sysfs, list, SYSFS_QUANTITIES), SYSFS_QUANTITIES);
	for (size_t i = 0; i < SYSFS_QUANTITIES; i++) {
		assert_string_equal(list[i].path, "");
		assert_string_equal(list[i].note, "no such file on this board");
	}
}

/* EAGAIN of a gated unit is an empty file here. */
static void test_gaps(void **state)
{
	(void)state;
	board("orin-nano-super-r36");
	put(LOAD, "%s", "");
	read_board();
	assert_int_equal(sample.gr3d_pct, TEGRA_UNKNOWN);
	assert_path("GPU load", LOAD, "");
	put(LOAD, "1000\n");
	put(ZONE(0) "/temp", "%s", "");
	sysfs_sample(sysfs, &sample);
	assert_int_equal(sample.gr3d_pct, 100);
	assert_temp(0, "cpu", NAN);
	assert_temp(1, "gpu", 49.968); /* the others keep their places */
	put(ZONE(0) "/temp", "50125\n");
	sysfs_sample(sysfs, &sample);
	assert_temp(0, "cpu", 50.125);
}

static void test_garbage_while_running(void **state)
{
	static const char *const garbage[] = {
		"abc\n",    "12 34\n", "0x10\n", "1e3\n",
		"-\n",	    "-1\n",    "1001\n", "99999999999999999999999999999999999999\n",
		"12\xff\n", "\n",
	};

	(void)state;
	board("orin-nano-super-r36");
	start();
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		put(LOAD, "%s", garbage[i]);
		assert_int_equal(sysfs_gpu_load(sysfs), TEGRA_UNKNOWN);
	}
	put(LOAD, " 7 \n");
	assert_int_equal(sysfs_gpu_load(sysfs), 7);
	put(ZONE(0) "/temp", "9999999\n");
	put(BPMP_EMC, "999999999999999\n");
	put("/sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon3/curr1_input", "2147483647\n");
	put("/sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon3/in2_input", "volt\n");
	put("/proc/meminfo", "MemTotal: -5 kB\nMemFree: x\nSwapTotal: 99999999999999999 kB\n");
	put("/proc/stat", "cpu\ncpu0 what\n");
	put("/proc/buddyinfo", "Node 0, zone\nzone x 4294967295 -1\n\n\n");
	sysfs_sample(sysfs, &sample);
	assert_temp(0, "cpu", NAN);
	assert_int_equal(sample.emc_mhz, TEGRA_UNKNOWN);
	assert_int_equal(sample.emc_pct, TEGRA_UNKNOWN);
	assert_rail(0, "VDD_IN", TEGRA_UNKNOWN);
	assert_rail(1, "VDD_CPU_GPU_CV", TEGRA_UNKNOWN);
	assert_rail(2, "VDD_SOC", -40);
	assert_int_equal(sample.ram_total_mb, TEGRA_UNKNOWN);
	assert_int_equal(sample.swap_total_mb, TEGRA_UNKNOWN);
	assert_int_equal(sample.cpu[0].load_pct, TEGRA_UNKNOWN);
}

static void test_first_readable_path_wins(void **state)
{
	(void)state;
	board("agx-orin-64gb-r36");
	put("/sys/devices/gpu.0/load", "no number\n");
	read_board();
	assert_path("GPU load", LOAD, "");
	cleanup(NULL);

	board("agx-orin-64gb-r36");
	put("/sys/devices/gpu.0/load", "111\n");
	drop(ORIN_MC_ALL);
	put(ORIN_MC_ALL "/dir", "1\n");
	put("/sys/kernel/debug/bpmp/debug/actmon/mc_all_avg_activity", "319900\n");
	put(BPMP_EMC, "3199000000\n");
	read_board();
	assert_int_equal(sample.gr3d_pct, 11);
	assert_int_equal(sample.emc_pct, 10);
	assert_path("EMC activity", "/sys/kernel/debug/bpmp/debug/actmon/mc_all_avg_activity", "");
	cleanup(NULL);

	board("agx-orin-64gb-r36");
	drop(LOAD);
	put("/sys/devices/platform/bus@0/17000000.gpu/load", "no number\n");
	read_board();
	assert_path("GPU load", "", "the file holds no such number");
}

static void test_emc_pct(void **state)
{
	(void)state;
	board("orin-nano-super-r36");
	start();
	/* The clock was just lowered below what the mean of 1.28 s had seen. */
	put(ORIN_MC_ALL, "800000\n");
	put(BPMP_EMC, "665600000\n");
	sysfs_sample(sysfs, &sample);
	assert_int_equal(sample.emc_pct, 100);
	put(BPMP_EMC, "0\n");
	sysfs_sample(sysfs, &sample);
	assert_int_equal(sample.emc_mhz, 0);
	assert_int_equal(sample.emc_pct, TEGRA_UNKNOWN);
	put(BPMP_EMC, "3199000000\n");
	put(ORIN_MC_ALL, "%s", "");
	sysfs_sample(sysfs, &sample);
	assert_int_equal(sample.emc_mhz, 3199);
	assert_int_equal(sample.emc_pct, TEGRA_UNKNOWN);
}

/* Two cores: user nice system idle iowait irq softirq steal guest. */
static void put_stat(const char *core0, const char *core1)
{
	put("/proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\n%s%s%s%s%s%sintr 5 0\nctxt 1\n",
	    core0 ? "cpu0 " : "", core0 ? core0 : "", core0 ? "\n" : "", core1 ? "cpu1 " : "",
	    core1 ? core1 : "", core1 ? "\n" : "");
}

static void test_cpu_loads(void **state)
{
	(void)state;
	board(NULL);
	put("/sys/devices/system/cpu/present", "0-1\n");
	put("/sys/devices/system/cpu/online", "0-1\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "729600\n");
	put_stat("100 0 50 800 50 0 0 0 0 0", "0 0 0 1000 0 0 0 0 0 0");
	read_board();
	assert_int_equal(sample.cpu_count, 2);
	assert_int_equal(sample.cpu[0].load_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.cpu[0].freq_mhz, 729);
	assert_int_equal(sample.cpu[1].freq_mhz, TEGRA_UNKNOWN);
	/* 100 ticks, 60 idle, 5 of them iowait: 40 %. 100 ticks, 1 idle: 99 %. */
	put_stat("125 0 60 855 55 1 2 2 20 0", "90 1 8 1001 0 0 0 0 0 0");
	sysfs_sample(sysfs, &sample);
	assert_int_equal(sample.cpu[0].load_pct, 40);
	assert_int_equal(sample.cpu[1].load_pct, 99);
	/* 9 ticks are too few to tell: the values stay. */
	put_stat("134 0 60 855 55 1 2 2 20 0", "90 1 8 1010 0 0 0 0 0 0");
	sysfs_sample(sysfs, &sample);
	assert_int_equal(sample.cpu[0].load_pct, 40);
	assert_int_equal(sample.cpu[1].load_pct, 99);
	/* Since the last known: 20 ticks busy of 20; idle gone back by 1 counts as none. */
	put_stat("145 0 60 854 55 1 2 2 20 0", "90 1 8 1021 0 0 0 0 0 0");
	sysfs_sample(sysfs, &sample);
	assert_int_equal(sample.cpu[0].load_pct, 100);
	assert_int_equal(sample.cpu[1].load_pct, 0);
}

static void test_cpu_goes_off_and_on(void **state)
{
	const char *const rate = "/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq";

	(void)state;
	board(NULL);
	put("/sys/devices/system/cpu/present", "0-1\n");
	put("/sys/devices/system/cpu/online", "0-1\n");
	put(rate, "1200000\n");
	put_stat("0 0 0 100 0", "0 0 0 100 0");
	start();
	drop("/sys/devices/system/cpu/cpu1/cpufreq");
	put("/sys/devices/system/cpu/online", "0\n");
	put_stat("50 0 0 150 0", NULL);
	sysfs_sample(sysfs, &sample);
	assert_int_equal(sample.cpu_count, 2);
	assert_int_equal(sample.cpu[0].load_pct, 50);
	assert_true(sample.cpu[1].off);
	assert_int_equal(sample.cpu[1].freq_mhz, 0);
	put("/sys/devices/system/cpu/online", "0-1\n");
	put(rate, "600000\n");
	put_stat("50 0 0 250 0", "0 0 0 100 0");
	sysfs_sample(sysfs, &sample);
	assert_false(sample.cpu[1].off);
	assert_int_equal(sample.cpu[1].load_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.cpu[1].freq_mhz, 600);
	put_stat("50 0 0 350 0", "75 0 0 125 0");
	sysfs_sample(sysfs, &sample);
	assert_int_equal(sample.cpu[1].load_pct, 75);
	/* Without the list of online cores the lines tell; counters that restart tell nothing. */
	put("/sys/devices/system/cpu/online", "%s", "");
	put_stat(NULL, "1 0 0 2 0");
	sysfs_sample(sysfs, &sample);
	assert_true(sample.cpu[0].off);
	assert_int_equal(sample.cpu[1].load_pct, TEGRA_UNKNOWN);
}

static void test_bounds(void **state)
{
	(void)state;
	board(NULL);
	for (int i = 0; i < 40; i++) {
		char path[PATH_SIZE];

		snprintf(path, sizeof(path), "/sys/class/thermal/thermal_zone%d/type", i);
		put(path, "z%d-thermal\n", i);
		snprintf(path, sizeof(path), "/sys/class/thermal/thermal_zone%d/temp", i);
		put(path, "%d\n", i * 1000);
		snprintf(path, sizeof(path), "/sys/class/hwmon/hwmon%d/name", i);
		put(path, "ina3221\n");
		snprintf(path, sizeof(path), "/sys/class/hwmon/hwmon%d/in1_label", i);
		put(path, "R%d\n", i);
	}
	put(ZONE(3) "/type", "a b\x1b[31m{\"}-a-very-long-name-indeed\n");
	read_board();
	assert_int_equal(sample.temp_count, TEGRA_TEMPS_MAX);
	assert_temp(2, "z2", 2);
	assert_temp(10, "z10", 10);
	assert_temp(3, "a_b__31m___-a-very-long-name-in", 3);
	assert_true(sample.rail_count <= TEGRA_RAILS_MAX);
	assert_rail(2, "R2", TEGRA_UNKNOWN);
}

static void test_root_with_pattern_bytes(void **state)
{
	char odd[sizeof(root) + 16];

	(void)state;
	board("orin-nano-super-r36");
	snprintf(odd, sizeof(odd), "%s/[x]*?\\", root);
	run("mkdir '%s' && mv '%s/sys' '%s/proc' '%s'", odd, root, root, odd);
	setenv("TEGRATRACE_ROOT", odd, 1);
	read_board();
	assert_int_equal(sample.temp_count, 9);
	assert_int_equal(sample.rail_count, 3);
}

static void test_cost(void **state)
{
	struct sysfs_cost cost;

	(void)state;
	board("orin-nano-super-r36");
	start();
	for (int i = 0; i < 1000; i++)
		assert_int_equal(sysfs_gpu_load(sysfs), 505);
	put(LOAD, "%s", "");
	sysfs_gpu_load(sysfs);
	cost = sysfs_gpu_cost(sysfs);
	assert_int_equal(cost.calls, 1001);
	assert_int_equal(cost.failed, 1);
	assert_true(cost.total_ns > 0 && cost.max_ns <= cost.total_ns);
	assert_true(cost.max_ns * 1001 >= cost.total_ns);
	sysfs_sample(sysfs, &sample);
	assert_int_equal(sysfs_sample_cost(sysfs).calls, 1);
}

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void test_no_file_stays_open(void **state)
{
	int before = open_files();
	struct throttle *throttle;

	(void)state;
	board("agx-orin-64gb-r36");
	start();
	throttle = throttle_open();
	assert_non_null(throttle);
	assert_true(open_files() > before);
	throttle_close(throttle);
	drop(BPMP_EMC);
	drop("/sys/kernel/nvpmodel_clk_cap");
	throttle_close(throttle_open());
	sysfs_close(sysfs);
	sysfs = NULL;
	assert_int_equal(open_files(), before);
	throttle_close(NULL);
	sysfs_close(NULL);
}

static void test_without_root(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	board("agx-orin-64gb-r36");
	run("chmod 0700 '%s/sys/kernel/debug'", root);
	assert_int_equal(seteuid(65534), 0);
	read_board();
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(sample.gr3d_pct, 99);
	assert_int_equal(sample.rail_count, 4);
	assert_int_equal(sample.emc_mhz, TEGRA_UNKNOWN);
	assert_int_equal(sample.emc_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.engine_count, 0);
	assert_path("EMC clock", "", "not allowed: needs root");
	assert_path("EMC activity", "", "not allowed: needs root");
	assert_path("engines", "", "not allowed: needs root");
}

static void test_summary(void **state)
{
	static struct tegra_summary summary;

	(void)state;
	board("orin-nano-super-r36");
	put_gpu(ORIN_GPU, "cur_freq", "1020000000");
	put(BPMP_EMC, "2133000000\n");
	read_board();
	tegra_summary_init(&summary);
	tegra_summary_add(&summary, &sample);
	put(LOAD, "900\n");
	sysfs_sample(sysfs, &sample);
	tegra_summary_add(&summary, &sample);
	assert_float_equal(summary.gpu_busy.mean, 0.70, 1e-9);
	assert_float_equal(summary.gpu_clock_mhz.mean, 1020, 1e-9);
	assert_float_equal(summary.emc_busy.mean, 0.06, 1e-9);
	assert_int_equal(summary.rails, 3);
	assert_int_equal(summary.temps, 6); /* cv0-2 are off */
}

static const struct throttle_zone *zone(const char *name)
{
	for (int i = 0; i < window.zones; i++) {
		if (!strcmp(window.zone[i].name, name))
			return &window.zone[i];
	}
	fail_msg("no zone %s", name);
	return NULL;
}

static const struct throttle_device *device(const char *type)
{
	for (int i = 0; i < window.devices; i++) {
		if (!strcmp(window.device[i].type, type))
			return &window.device[i];
	}
	fail_msg("no device %s", type);
	return NULL;
}

static void test_types_that_hold_back_clocks(void **state)
{
	static const char *const yes[] = {"devfreq-17000000.gpu", "cpufreq-cpu0",
					  "cpufreq-cpu4",	  "devfreq-gpu-gpc-0",
					  "gpu-balanced",	  "cpu-balanced",
					  "aux-balanced",	  "gpu-throttle-alert",
					  "throttle_heavy",	  "soc012-throttle-alert"};
	static const char *const no[] = {"pwm-fan",   "hot-surface-alert", "Processor",	 "",
					 "-balanced", "gpu-scaling",	   "liquid-pump"};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(throttle_type_is_clock(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(throttle_type_is_clock(no[i]));
}

/* Hot, the fan at full speed and the surface notice on: not throttled. */
static void test_hot_is_not_throttled(void **state)
{
	struct throttle *throttle;

	(void)state;
	board("orin-nano-super-r36");
	put(COOLING(10) "/cur_state", "1\n"); /* hot-surface-alert */
	put(COOLING(11) "/cur_state", "3\n"); /* pwm-fan */
	put(ZONE(0) "/temp", "91500\n");
	throttle = throttle_open();
	throttle_begin(throttle, 0);
	throttle_end(throttle, 1000 * MS, &window);
	throttle_close(throttle);
	assert_int_equal(throttle_devices_active(&window), 0);
	assert_int_equal(window.devices, 10);
	assert_int_equal(window.devices_ignored, 2);
	assert_float_equal(zone("cpu")->max_c, 91.5, 1e-9);
	/* The passive trip of 70 is that of the notice. */
	assert_float_equal(zone("cpu")->trip_c, 99, 1e-9);
	assert_true(zone("cpu")->trip_bound);
	assert_float_equal(zone("cpu")->critical_c, 104.5, 1e-9);
	assert_true(isnan(zone("tj")->trip_c));
	assert_true(isnan(zone("cv0")->max_c));
}

static void test_thermal_throttling(void **state)
{
	struct throttle *throttle;

	(void)state;
	board("orin-nano-super-r36");
	put_gpu(ORIN_GPU, "cur_freq", "1020000000");
	put_gpu(ORIN_GPU, "max_freq", "1020000000");
	put_gpu(ORIN_GPU, "min_freq", "306000000");
	put_gpu(ORIN_GPU, "available_frequencies", "306000000 612000000 918000000 1020000000 ");
	throttle = throttle_open();
	throttle_begin(throttle, 0);
	put(COOLING(1) "/cur_state", "5\n"); /* devfreq-17000000.gpu */
	put(ZONE(1) "/temp", "99125\n");
	put_gpu(ORIN_GPU, "cur_freq", "612000000");
	put_gpu(ORIN_GPU, "max_freq", "612000000");
	throttle_poll(throttle, 99 * MS); /* too soon: reads nothing */
	throttle_poll(throttle, 200 * MS);
	put(COOLING(1) "/cur_state", "0\n");
	put(ZONE(1) "/temp", "98000\n");
	put_gpu(ORIN_GPU, "cur_freq", "918000000");
	put_gpu(ORIN_GPU, "max_freq", "1020000000");
	throttle_end(throttle, 400 * MS, &window);
	throttle_close(throttle);
	assert_int_equal(window.begin_ns, 0);
	assert_int_equal(window.end_ns, 400 * MS);
	assert_int_equal(throttle_devices_active(&window), 1);
	assert_int_equal(device("devfreq-17000000.gpu")->max_seen, 5);
	assert_int_equal(device("devfreq-17000000.gpu")->max_state, 13);
	assert_int_equal(device("devfreq-17000000.gpu")->active, 1);
	assert_int_equal(device("devfreq-17000000.gpu")->polls, 3);
	assert_int_equal(device("devfreq-17000000.gpu")->end, 0);
	assert_float_equal(zone("gpu")->begin_c, 49.968, 1e-9);
	assert_float_equal(zone("gpu")->max_c, 99.125, 1e-9);
	assert_float_equal(zone("gpu")->end_c, 98, 1e-9);
	const struct throttle_clock *gpu = throttle_clock_named(&window, "GPU");
	assert_non_null(gpu);
	assert_int_equal(gpu->begin, 1020000000);
	assert_int_equal(gpu->min_seen, 612000000);
	assert_int_equal(gpu->max_seen, 1020000000);
	assert_int_equal(gpu->end, 918000000);
	assert_float_equal(gpu->mean, 850e6, 1); /* (1020 + 612 + 918) / 3 */
	assert_int_equal(gpu->cap_begin, 1020000000);
	assert_int_equal(gpu->cap_min_seen, 612000000);
	assert_int_equal(gpu->cap_end, 1020000000);
	assert_int_equal(gpu->floor, 306000000);
	assert_int_equal(gpu->hardware, 1020000000);
}

static void test_over_current(void **state)
{
	struct throttle *throttle;

	(void)state;
	board("orin-nano-super-r36");
	throttle = throttle_open();
	throttle_begin(throttle, 0);
	put(OC(1), "2\n");
	put(OC(3), "40\n");
	throttle_poll(throttle, 499 * MS); /* counters not before 500 ms */
	throttle_end(throttle, 499 * MS, &window);
	assert_int_equal(window.counters, 3);
	assert_int_equal(throttle_counter_of(&window, 3)->delta, 0);
	throttle_begin(throttle, 600 * MS);
	assert_int_equal(window.counter[0].begin, 0);
	put(OC(1), "5\n");
	put(OC(2), "%s", "");
	put(OC(3), "7\n");
	throttle_poll(throttle, 1100 * MS);
	throttle_end(throttle, 1150 * MS, &window);
	throttle_close(throttle);
	assert_int_equal(throttle_counter_of(&window, 1)->begin, 2);
	assert_int_equal(throttle_counter_of(&window, 1)->end, 5);
	assert_int_equal(throttle_counter_of(&window, 1)->delta, 3);
	assert_int_equal(throttle_counter_of(&window, 1)->enabled, 1);
	assert_int_equal(throttle_counter_of(&window, 2)->delta, UNKNOWN_COUNT);
	assert_int_equal(throttle_counter_of(&window, 3)->delta, UNKNOWN_COUNT); /* went back */
	assert_null(throttle_counter_of(&window, 4));
	assert_int_equal(window.rails, 1);
	assert_string_equal(window.rail[0].name, "VDD_IN");
	assert_int_equal(window.rail[0].max_seen, 1856);
	assert_int_equal(window.rail[0].warn, 4984);
	assert_int_equal(window.rail[0].critical, 6208);
}

static void test_caps_and_measured_clocks(void **state)
{
	struct throttle *throttle;
	const struct throttle_clock *clock;

	(void)state;
	board(NULL);
	put(BPMP_EMC, "2133000000\n");
	put("/sys/kernel/debug/bpmp/debug/clk/emc/max_rate", "3199000000\n");
	put("/sys/kernel/nvpmodel_clk_cap/emc", "2133000000\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1728000\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_cur_freq", "432000\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1728000\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1984000\n");
	throttle = throttle_open();
	throttle_begin(throttle, 0);
	put("/sys/kernel/nvpmodel_clk_cap/emc", "0\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_cur_freq", "1728000\n");
	throttle_end(throttle, 1000 * MS, &window);
	throttle_close(throttle);
	assert_int_equal(window.counters + window.devices + window.zones + window.rails, 0);
	assert_null(throttle_clock_named(&window, "GPU"));
	clock = throttle_clock_named(&window, "EMC");
	assert_non_null(clock);
	assert_int_equal(clock->cap_begin, 2133000000);
	assert_int_equal(clock->cap_end, 3199000000); /* 0: none, so the hardware's */
	assert_int_equal(clock->hardware, 3199000000);
	assert_int_equal(clock->floor, UNKNOWN_COUNT);
	clock = throttle_clock_named(&window, "cpu0");
	assert_non_null(clock);
	assert_int_equal(clock->end, 1728000000);
	assert_int_equal(clock->hardware, 1984000000);
	assert_float_equal(clock->measured_ratio_min, 0.25, 1e-9);
	assert_float_equal(clock->measured_ratio_mean, (0.25 + 1) / 2, 1e-9);
	assert_int_equal(clock->measurements, 2);
}

static void test_trips_by_generation(void **state)
{
	struct throttle *throttle;

	(void)state;
	board("nano-4gb-r32");
	put("/sys/kernel/debug/tegra_bwmgr/emc_max_rate", "1600000000\n");
	put("/sys/kernel/nvpmodel_emc_cap/emc_iso_cap", "0\n");
	throttle = throttle_open();
	throttle_begin(throttle, 0);
	throttle_end(throttle, 0, &window);
	throttle_close(throttle);
	assert_int_equal(window.devices, 3); /* balanced, balanced, throttle_heavy */
	assert_float_equal(zone("CPU")->trip_c, 97, 1e-9);
	assert_float_equal(zone("GPU")->trip_c, 97.5, 1e-9);
	assert_true(isnan(zone("thermal")->trip_c)); /* bound to the fan only */
	assert_int_equal(window.rail[0].critical, 5000);
	assert_int_equal(throttle_clock_named(&window, "EMC")->cap_end, 1600000000);
	cleanup(NULL);

	board("future-board");
	throttle = throttle_open();
	throttle_begin(throttle, 0);
	throttle_end(throttle, 0, &window);
	throttle_close(throttle);
	assert_int_equal(window.devices, 2);
	assert_int_equal(window.devices_ignored, 1); /* liquid-pump, at 3 of 7 */
	assert_int_equal(throttle_devices_active(&window), 0);
	/* die0 shows no bindings: the highest passive trip; die1 has them. */
	assert_float_equal(zone("die0")->trip_c, 108, 1e-9);
	assert_false(zone("die0")->trip_bound);
	assert_float_equal(zone("die1")->trip_c, 108, 1e-9);
	assert_true(zone("die1")->trip_bound);
	assert_int_equal(window.counters, 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, cleanup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nano),
		TEST(test_xavier),
		TEST(test_agx_orin),
		TEST(test_orin_nano),
		TEST(test_thor),
		TEST(test_future_board),
		TEST(test_nothing_there),
		TEST(test_gaps),
		TEST(test_garbage_while_running),
		TEST(test_first_readable_path_wins),
		TEST(test_emc_pct),
		TEST(test_cpu_loads),
		TEST(test_cpu_goes_off_and_on),
		TEST(test_bounds),
		TEST(test_root_with_pattern_bytes),
		TEST(test_cost),
		TEST(test_no_file_stays_open),
		TEST(test_without_root),
		TEST(test_summary),
		TEST(test_types_that_hold_back_clocks),
		TEST(test_hot_is_not_throttled),
		TEST(test_thermal_throttling),
		TEST(test_over_current),
		TEST(test_caps_and_measured_clocks),
		TEST(test_trips_by_generation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
