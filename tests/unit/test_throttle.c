/* SPDX-License-Identifier: GPL-2.0-only */
/* What holds back clocks, on copies of tests/fixtures/boards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board_folder.h"
#include "tegra/throttle.h"

#define MS	   INT64_C(1000000)
#define COOLING(n) "/sys/class/thermal/cooling_device" #n
#define OC(n)	   "/sys/class/hwmon/hwmon4/oc" #n "_event_cnt" /* of Orin Nano */

static struct throttle_window window;

static int cleanup(void **state)
{
	(void)state;
	remove_board();
	return 0;
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
		TEST(test_types_that_hold_back_clocks), TEST(test_hot_is_not_throttled),
		TEST(test_thermal_throttling),		TEST(test_over_current),
		TEST(test_caps_and_measured_clocks),	TEST(test_trips_by_generation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
