/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What holds clocks back, in the order of causes: sessions built by hand, a board with 8 of 8 SMs
 * in a mode that allows 612 of 1020 MHz and 2133 of 3199 MHz of DRAM clock unless said otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/verdict.h"
#include "session/session.h"

static struct session session;
static struct verdict verdict;

static void sample(struct sampled *s, double value)
{
	*s = (struct sampled){.n = 100, .mean = value, .min = value, .max = value, .last = value};
}

static int begin(void **state)
{
	struct board_info *board = &session.board;
	struct thread_account *thread;

	(void)state;
	session_init(&session);
	session.end_ns = INT64_C(10000000000);
	session.host.cpus = 6;
	thread = session_add_thread(&session);
	thread->tid = 7;
	thread->wall_ns = thread->offcpu_ns = session.end_ns;
	session.tegra.state = TEGRA_LIVE;
	session.tegra.samples = 100;
	snprintf(board->soc, sizeof(board->soc), "tegra234");
	snprintf(board->mode, sizeof(board->mode), "15W");
	board->gpu.cap_mhz = 612;
	board->gpu.hw_max_mhz = 1020;
	board->gpu.sm_active = board->gpu.sm_total = 8;
	board->emc.cap_mhz = 2133;
	board->emc.hw_max_mhz = 3199;
	snprintf(board->next.name, sizeof(board->next.name), "25W");
	board->next.id = 1;
	board->next.gpu_mhz = 918;
	board->next.sm = 8;
	board->next.emc_mhz = 3199;
	board->largest = board->next;
	board->largest.gpu_mhz = 1020;
	return 0;
}

static int end(void **state)
{
	(void)state;
	session_free(&session);
	return 0;
}

static void judge(double gpu_busy, double gpu_mhz, double emc_busy, double emc_mhz)
{
	sample(&session.tegra.gpu_busy, gpu_busy);
	sample(&session.tegra.gpu_clock_mhz, gpu_mhz);
	sample(&session.tegra.emc_busy, emc_busy);
	sample(&session.tegra.emc_clock_mhz, emc_mhz);
	diagnose(&session, &verdict);
}

static bool says(const char *words)
{
	for (int i = 0; i < verdict.nevidence; i++) {
		if (strstr(verdict.evidence[i].text, words))
			return true;
	}
	for (int i = 0; i < verdict.nsteps; i++) {
		if (strstr(verdict.next_steps[i], words))
			return true;
	}
	return strstr(verdict.headline, words);
}

static bool contributes(enum verdict_class class)
{
	for (int i = 0; i < verdict.ncontributing; i++) {
		if (verdict.contributing[i] == class)
			return true;
	}
	return false;
}

static void a_mode_that_caps_the_gpu(void **state)
{
	(void)state;
	/* 600 of 612: the 2 % that the counter jitters */
	judge(0.98, 600, 0.2, 2133);
	assert_int_equal(verdict.class, VERDICT_CLOCK_CAPPED);
	assert_true(says("its cap in mode 15W; the hardware goes to 1020"));
	assert_true(says("nvpmodel -m 1 (25W): up to 1.5x"));
	assert_false(says("jetson_clocks"));
	/* 98 of 99 % scale: 1 / (1/99 + 98/99 / 1.7) */
	assert_float_equal(verdict.gain_bound, 1.68797, 1e-4);
	assert_string_equal(verdict.gain_limit, "the GPU at its largest clock");
}

/* AGX Orin in MODE_30W: the GPU could do 4.25 times as much, the DRAM moves 70 % of all it can. */
static void a_mode_that_caps_more_than_the_dram_can_feed(void **state)
{
	struct board_info *board = &session.board;

	(void)state;
	board->gpu.hw_max_mhz = board->largest.gpu_mhz = 1300.5;
	board->gpu.sm_total = 16;
	board->emc.cap_mhz = 3199;
	board->next.gpu_mhz = 816;
	board->next.sm = 16;
	judge(0.99, 612, 0.7, 3199);
	assert_int_equal(verdict.class, VERDICT_CLOCK_CAPPED);
	assert_float_equal(verdict.gain_bound, 1 / 0.7, 1e-6);
	assert_string_equal(verdict.gain_limit, "DRAM bandwidth");
	assert_true(says("up to 2.7x the GPU of this mode, up to 1.4x the work"));
	assert_true(verdict.confidence > 0.5);
	/* Where the mode also holds the DRAM clock at two thirds, or it was not raised that far. */
	board->emc.cap_mhz = 3199 / 1.5;
	judge(0.99, 612, 0.7, 3199 / 1.5);
	assert_float_equal(verdict.gain_bound, 1.5 / 0.7, 1e-6);
	board->emc.cap_mhz = 3199;
	judge(0.99, 612, 0.7, 3199 / 1.5);
	assert_float_equal(verdict.gain_bound, 1.5 / 0.7, 1e-6);
	/* Unknown, it may be the limit already. */
	session.tegra.emc_busy.n = 0;
	diagnose(&session, &verdict);
	assert_int_equal(verdict.class, VERDICT_CLOCK_CAPPED);
	assert_true(verdict.confidence <= 0.5);
	assert_true(strstr(verdict.headline, "compute or DRAM is not known"));
}

static void a_clock_that_was_not_raised(void **state)
{
	(void)state;
	judge(0.98, 408, 0.2, 2133);
	assert_int_equal(verdict.class, VERDICT_CLOCK_CAPPED);
	assert_true(says("408 MHz at 98 % load, 612 allowed in mode 15W: not locked"));
	assert_true(strstr(verdict.next_steps[0], "jetson_clocks"));
	assert_true(says("nvpmodel -m 1"));
}

static void a_clock_that_follows_low_load(void **state)
{
	(void)state;
	for (double load = 0.05; load < 0.8; load += 0.25) {
		judge(load, 306, 0.2, 2133);
		assert_int_not_equal(verdict.class, VERDICT_CLOCK_CAPPED);
		assert_false(contributes(VERDICT_CLOCK_CAPPED));
		assert_true(says("the governor follows the load, no fault"));
		assert_false(says("jetson_clocks"));
		assert_false(says("nvpmodel -m"));
	}
	/* At its cap nothing is said of the governor, and at this load nothing of the cap. */
	judge(0.5, 612, 0.2, 2133);
	assert_false(says("governor"));
	assert_false(says("its cap"));
	/* Between low load and a filled GPU it cannot be told. */
	judge(0.85, 306, 0.2, 2133);
	assert_false(says("no fault"));
	assert_false(says("not locked"));
}

static void the_roof_is_where_the_clock_was(void **state)
{
	(void)state;
	session.workload.flop_per_item = 1e9;
	session.workload.latency_s = 1e-3;
	session.board.ceilings.flops[PREC_FP16_TC] = 10e12;
	session.board.ceilings.dram = 68e9;
	judge(0.5, 306, 0.5, 2133);
	/* half the clock, half the roof; 1 TFLOP/s is a fifth of it */
	assert_float_equal(verdict.roofline_point.roof_share[PREC_FP16_TC], 0.2, 1e-6);
	assert_float_equal(verdict.roofline_point.dram_share, 0.5, 1e-6);
	judge(0.5, 600, 0.5, 2133);
	assert_float_equal(verdict.roofline_point.roof_share[PREC_FP16_TC], 0.1, 1e-6);
	/* The EMC load is a share of its present clock: half of half the bandwidth. */
	judge(0.5, 600, 0.5, 2133 / 2.0);
	assert_float_equal(verdict.roofline_point.bytes_per_s, 17e9, 1e3);
}

static void a_mode_that_caps_the_dram_clock(void **state)
{
	(void)state;
	judge(0.98, 612, 0.8, 2133);
	assert_int_equal(verdict.class, VERDICT_MEMORY_BANDWIDTH_BOUND);
	assert_true(contributes(VERDICT_CLOCK_CAPPED));
	assert_true(says("DRAM clock capped at 2133 MHz in mode 15W, the hardware goes to 3199"));
	assert_true(says("nvpmodel -m 1 (25W): up to 1.5x the DRAM bandwidth"));
	/* A cap that does not limit is not spoken of. */
	judge(0.98, 612, 0.6, 2133);
	assert_false(says("DRAM clock"));
	assert_int_equal(verdict.class, VERDICT_CLOCK_CAPPED);
	/* The next mode has no more of it, the largest has. */
	session.board.next.emc_mhz = 2133;
	session.board.largest.id = 2;
	judge(0.98, 612, 0.8, 2133);
	assert_true(says("nvpmodel -m 2"));
	session.board.largest.emc_mhz = 2133;
	judge(0.98, 612, 0.8, 2133);
	assert_true(says("a power mode with a higher EMC clock, if there is one"));
}

static void a_dram_clock_that_was_not_raised(void **state)
{
	(void)state;
	judge(0.98, 612, 0.8, 1600);
	assert_true(contributes(VERDICT_CLOCK_CAPPED));
	assert_true(says("DRAM saturated at 1600 MHz, 2133 allowed in mode 15W: not locked"));
	assert_true(says("jetson_clocks"));
	session.board.emc.cap_mhz = 3199;
	judge(0.98, 612, 0.8, 3199);
	assert_false(contributes(VERDICT_CLOCK_CAPPED));
	assert_false(says("DRAM clock"));
}

static void set_cpu(double share, int64_t measurements)
{
	session.throttle.cpu_clock_share = share;
	session.throttle.cpu_measurements = measurements;
	snprintf(session.throttle.cpu_slowest, sizeof(session.throttle.cpu_slowest), "cpu3");
}

static void measured_cpu_clocks(void **state)
{
	(void)state;
	session.board.gpu.cap_mhz = 1020;
	session.board.emc.cap_mhz = 3199;
	/* All of them at a quarter (an over-current at boot). */
	set_cpu(0.25, 20);
	judge(0.98, 1020, 0.3, 3199);
	assert_int_equal(verdict.class, VERDICT_POWER_THROTTLED);
	assert_true(says("75 % slower than asked for"));
	assert_true(says("mean of 20 measurements, worst cpu3"));
	assert_true(says("switch the board off and on"));
	assert_float_equal(verdict.share, 0.75, 1e-6);
	assert_float_equal(verdict.gain_bound, 4, 1e-6);
	/* 2 of 20 readings at a half: over-current events of a sound board. */
	set_cpu(0.95, 20);
	judge(0.98, 1020, 0.3, 3199);
	assert_int_equal(verdict.class, VERDICT_COMPUTE_BOUND);
	assert_false(says("slower than asked for"));
	/* Too few to say, not measured, faster than asked for, not a Jetson. */
	set_cpu(0.25, 3);
	judge(0.98, 1020, 0.3, 3199);
	assert_int_equal(verdict.class, VERDICT_COMPUTE_BOUND);
	set_cpu(NAN, 0);
	judge(0.98, 1020, 0.3, 3199);
	assert_int_equal(verdict.class, VERDICT_COMPUTE_BOUND);
	set_cpu(1, 20);
	judge(0.98, 1020, 0.3, 3199);
	assert_int_equal(verdict.class, VERDICT_COMPUTE_BOUND);
	*session.board.soc = '\0';
	set_cpu(0.25, 20);
	judge(0.98, 1020, 0.3, 3199);
	assert_int_equal(verdict.class, VERDICT_COMPUTE_BOUND);
}

static void set_margin(double margin_c, int cooling)
{
	session.throttle.trip_c = 99;
	session.throttle.margin_c = margin_c;
	session.throttle.cooling_active = cooling;
	snprintf(session.throttle.margin_zone, sizeof(session.throttle.margin_zone), "gpu");
}

static void heat_comes_before_caps(void **state)
{
	(void)state;
	session.board.gpu.cap_mhz = 1020;
	session.board.emc.cap_mhz = 3199;
	/* At the trip, no device seen active, the loaded clock below its cap. */
	set_margin(0.2, 0);
	judge(0.98, 700, 0.3, 3199);
	assert_int_equal(verdict.class, VERDICT_THERMAL_THROTTLED);
	assert_true(says("gpu is at its 99 C trip and the loaded GPU runs 31 % below its cap"));
	/* The same heat at the full clock, the same clock without the heat, or without load. */
	judge(0.98, 1010, 0.3, 3199);
	assert_int_equal(verdict.class, VERDICT_COMPUTE_BOUND);
	assert_true(says("came within 0.2 C of its 99 C trip: a small margin"));
	set_margin(20, 0);
	judge(0.98, 700, 0.3, 3199);
	assert_int_equal(verdict.class, VERDICT_CLOCK_CAPPED);
	assert_false(says("margin"));
	set_margin(0.2, 0);
	judge(0.5, 306, 0.3, 3199);
	assert_int_not_equal(verdict.class, VERDICT_THERMAL_THROTTLED);
	/* Events come before the heat. */
	set_margin(0.2, 1);
	session.throttle.oc_events[0] = 3;
	judge(0.98, 700, 0.3, 3199);
	assert_int_equal(verdict.class, VERDICT_POWER_THROTTLED);
	assert_true(says("under-voltage of the input (OC1): 3 events in 10 s"));
}

/* One event in ten minutes is worth a word, and is not what limits a GPU whose clock is held. */
static void rare_events_are_not_the_limit(void **state)
{
	(void)state;
	session.end_ns = INT64_C(600000000000);
	session.board.gpu.cap_mhz = 1020;
	session.board.emc.cap_mhz = 3199;
	session.throttle.oc_events[0] = session.throttle.oc_events[2] = 0;
	session.throttle.oc_events[1] = 1;
	judge(0.99, 1010, 0.82, 3199);
	assert_int_equal(verdict.class, VERDICT_MEMORY_BANDWIDTH_BOUND);
	assert_true(contributes(VERDICT_POWER_THROTTLED));
	assert_true(says("average power limit (OC2): 1 event"));
	assert_true(says("draws more than its budget"));
	/* 60 in 600 s are one in 10 s; that a clock fell is not known. */
	session.throttle.oc_events[1] = 60;
	judge(0.99, 1010, 0.82, 3199);
	assert_int_equal(verdict.class, VERDICT_POWER_THROTTLED);
	assert_false(says("held the clocks back"));
	assert_true(verdict.confidence <= 0.6);
	session.throttle.oc_events[1] = 59;
	judge(0.99, 1010, 0.82, 3199);
	assert_int_equal(verdict.class, VERDICT_MEMORY_BANDWIDTH_BOUND);
	/* A single one, and a loaded clock below its cap. */
	session.throttle.oc_events[1] = 1;
	judge(0.99, 918, 0.82, 3199);
	assert_int_equal(verdict.class, VERDICT_POWER_THROTTLED);
	assert_true(says("1 event in 600 s, and the loaded GPU runs 10 % below its cap"));
	assert_true(verdict.confidence > 0.6);
	judge(0.5, 306, 0.3, 3199);
	assert_int_not_equal(verdict.class, VERDICT_POWER_THROTTLED);
	/* On Xavier the numbers stand for something else. */
	snprintf(session.board.soc, sizeof(session.board.soc), "tegra194");
	judge(0.99, 1010, 0.82, 3199);
	assert_true(says("what the event stands for on this board is not known"));
	assert_false(says("budget"));
}

static void nothing_known_says_nothing(void **state)
{
	(void)state;
	board_info_init(&session.board);
	judge(0.98, 700, 0.8, 2133);
	assert_int_equal(verdict.class, VERDICT_MEMORY_BANDWIDTH_BOUND);
	assert_int_equal(verdict.ncontributing, 0);
	assert_false(says("cap"));
	assert_false(says("jetson_clocks"));
	assert_false(says("nvpmodel -m"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_mode_that_caps_the_gpu),
		TEST(a_mode_that_caps_more_than_the_dram_can_feed),
		TEST(a_clock_that_was_not_raised),
		TEST(a_clock_that_follows_low_load),
		TEST(the_roof_is_where_the_clock_was),
		TEST(a_mode_that_caps_the_dram_clock),
		TEST(a_dram_clock_that_was_not_raised),
		TEST(measured_cpu_clocks),
		TEST(heat_comes_before_caps),
		TEST(rare_events_are_not_the_limit),
		TEST(nothing_known_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
