/* SPDX-License-Identifier: GPL-2.0-only */
/* Sensors that fail, change or come late; loads from counters; what reading costs. */
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

#include "sysfs_sample.h"
#include "tegra/summary.h"
#include "tegra/throttle.h"

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

#define TEST(name) cmocka_unit_test_teardown(name, cleanup)

int main(void)
{
	const struct CMUnitTest tests[] = {
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
