/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sensors on copies of tests/fixtures/boards. Expected values are by hand from the files there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs_sample.h"

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

#define TEST(name) cmocka_unit_test_teardown(name, cleanup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nano),	  TEST(test_xavier), TEST(test_agx_orin),
		TEST(test_orin_nano),	  TEST(test_thor),   TEST(test_future_board),
		TEST(test_nothing_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
