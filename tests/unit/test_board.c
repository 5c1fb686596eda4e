/* SPDX-License-Identifier: GPL-2.0-only */
/* The fixture boards. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tegra/board.h"

#define BOARDS "tests/fixtures/boards/"

static void read_board(struct board_info *board, const char *name)
{
	char root[128];

	snprintf(root, sizeof(root), BOARDS "%s", name);
	assert_int_equal(access(root, F_OK), 0);
	setenv("TEGRATRACE_ROOT", root, 1);
	board_info_read(board);
	unsetenv("TEGRATRACE_ROOT");
}

static void assert_close(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-3 * fabs(expected)))
		fail_msg("%.10g is not %.10g", value, expected);
}

static void check_clocks(const struct board_info *b, double gpu_cap, double gpu_hw, double emc_cap,
			 double emc_hw)
{
	assert_close(b->gpu.cap_mhz, gpu_cap);
	assert_close(b->gpu.hw_max_mhz, gpu_hw);
	assert_close(b->emc.cap_mhz, emc_cap);
	assert_close(b->emc.hw_max_mhz, emc_hw);
	assert_int_equal(b->gpu.cap_source, BOARD_READ);
	assert_int_equal(b->emc.cap_source, BOARD_READ);
}

static void check_mode(const struct board_info *b, const char *module, const char *mode, int id)
{
	assert_string_equal(b->module, module);
	assert_string_equal(b->module_doubt, "");
	assert_true(b->module_certain);
	assert_string_equal(b->mode, mode);
	assert_int_equal(b->mode_id, id);
	assert_int_equal(b->mode_source, BOARD_MODE_STATUS);
	assert_string_equal(b->mode_doubt, "");
	assert_int_equal(b->conf_bad_lines, 0);
}

static void test_nano(void **state)
{
	struct board_info b;

	(void)state;
	read_board(&b, "nano-4gb-r32");
	check_mode(&b, "Jetson Nano 4GB", "MAXN", 0);
	assert_string_equal(b.model, "NVIDIA Jetson Nano Developer Kit");
	assert_string_equal(b.l4t, "R32.7.2");
	check_clocks(&b, 921.6, 921.6, 1600, 1600);
	assert_int_equal(b.gpu.sm_active, 1);
	assert_int_equal(b.gpu.tpc_pg_mask, -1);
	assert_int_equal(b.cpu.online, 4);
	assert_close(b.cpu.cap_mhz, 1479);
	assert_close(b.ceilings.flops[PREC_FP16], 471.9e9);
	assert_close(b.ceilings.dram, 25.6e9);
	assert_true(isnan(b.ceilings.flops[PREC_FP16_TC]));
	assert_close(b.trips.sw_gpu_c, 97.5);
	assert_string_equal(b.next.name, "");
	assert_string_equal(b.largest.name, "MAXN");
}

static void test_xavier_nx(void **state)
{
	struct board_info b;

	(void)state;
	read_board(&b, "xavier-nx-r35");
	check_mode(&b, "Jetson Xavier NX 8GB", "MODE_15W_4CORE", 1);
	check_clocks(&b, 1109.25, 1109.25, 1600, 1866);
	assert_int_equal(b.gpu.sm_active, 6);
	assert_int_equal(b.cpu.online, 4);
	assert_string_equal(b.cpu.offline, "4-5");
	assert_close(b.cpu.hw_max_mhz, 1907.2);
	assert_close(b.ceilings.flops[PREC_FP16_TC], 6815e9);
	assert_close(b.ceilings.dram, 51.2e9);
	/* the GPU has its clock: only the EMC can gain */
	assert_string_equal(b.next.name, "MODE_20W_6CORE");
	assert_int_equal(b.next.id, 8);
	assert_string_equal(b.largest.name, "MODE_20W_6CORE");
	assert_close(b.largest.ceilings.dram, 59.7e9);
}

/* A 32 GB module with the tree of the 16 GB one, as R32 has it, read without root. */
static void test_agx_xavier(void **state)
{
	struct board_info b;

	(void)state;
	read_board(&b, "agx-xavier-r32");
	check_mode(&b, "Jetson AGX Xavier 32GB", "MODE_10W", 1);
	assert_string_equal(b.pnumber, "p2888-0001");
	check_clocks(&b, 522.75, 1377, 1065.6, 2133);
	assert_int_equal(b.emc.hw_max_source, BOARD_TABLE);
	assert_true(isnan(b.emc.now_mhz));
	assert_int_equal(b.gpu.tpc_pg_mask, 5);
	assert_int_equal(b.gpu.sm_active, 4);
	assert_int_equal(b.gpu.sm_total, 8);
	assert_string_equal(b.cpu.offline, "2-7");
	assert_close(b.ceilings.flops[PREC_FP16_TC], 4 * 512 * 2 * 522.75e6);
	assert_string_equal(b.next.name, "MODE_15W_DESKTOP");
	assert_int_equal(b.next.id, 7);
	assert_string_equal(b.largest.name, "MAXN");
	assert_close(b.largest.ceilings.flops[PREC_FP16_TC], 11280e9);
}

/* The default mode: the clock is 2.1 times lower than in MAXN, the roof 4.25 times. */
static void test_agx_orin_default(void **state)
{
	struct board_info b;

	(void)state;
	read_board(&b, "agx-orin-64gb-r36");
	check_mode(&b, "Jetson AGX Orin 64GB", "MODE_30W", 2);
	assert_string_equal(b.l4t, "R36.4.3");
	check_clocks(&b, 612, 1300.5, 3199, 3199);
	assert_int_equal(b.gpu.tpc_pg_mask, 240);
	assert_int_equal(b.gpu.sm_active, 8);
	assert_int_equal(b.gpu.sm_total, 16);
	assert_int_equal(b.gpu.locked, 0);
	assert_string_equal(b.gpu.governor, "nvhost_podgov");
	assert_int_equal(b.cpu.present, 12);
	assert_int_equal(b.cpu.online, 8);
	assert_string_equal(b.cpu.offline, "4-7");
	assert_close(b.cpu.cap_mhz, 1728);
	assert_close(b.ceilings.flops[PREC_FP16_TC], 10027e9);
	assert_close(b.ceilings.dram, 204.7e9);
	assert_close(b.ceilings.dram_practical, 0.8 * 204.736e9);
	assert_string_equal(b.next.name, "MODE_50W");
	assert_int_equal(b.next.id, 3);
	assert_string_equal(b.largest.name, "MAXN");
	assert_close(b.largest.ceilings.flops[PREC_FP16_TC] / b.ceilings.flops[PREC_FP16_TC], 4.25);
}

static void test_orin_nano_super(void **state)
{
	struct board_info b;

	(void)state;
	read_board(&b, "orin-nano-super-r36");
	check_mode(&b, "Jetson Orin Nano 8GB Super", "MAXN_SUPER", 2);
	check_clocks(&b, 1020, 1020, 3199, 3199);
	assert_int_equal(b.gpu.locked, 1);
	assert_int_equal(b.gpu.sm_active, 8);
	assert_string_equal(b.cpu.offline, "");
	assert_close(b.ceilings.flops[PREC_FP32], 2089e9);
	assert_close(b.ceilings.flops[PREC_FP16_TC], 16712e9);
	assert_close(b.ceilings.flops[PREC_INT8_TC], 33423e9);
	assert_close(b.ceilings.dram, 102.4e9);
	assert_true(b.unverified & 1U << PREC_TF32_TC);
	assert_string_equal(b.next.name, "");
	assert_int_equal(b.largest.id, 2);
}

static void test_orin_nano_super_7w(void **state)
{
	struct board_info b;

	(void)state;
	read_board(&b, "orin-nano-super-7w-r36");
	check_mode(&b, "Jetson Orin Nano 8GB Super", "7W", 3);
	check_clocks(&b, 408, 1020, 2133, 3199);
	assert_int_equal(b.gpu.sm_active, 4);
	assert_int_equal(b.gpu.sm_total, 8);
	assert_int_equal(b.cpu.online, 4);
	assert_close(b.ceilings.flops[PREC_FP32], 417.8e9);
	assert_close(b.ceilings.dram, 68.26e9);
	assert_string_equal(b.next.name, "15W");
	assert_int_equal(b.next.id, 0);
	assert_string_equal(b.largest.name, "MAXN_SUPER");
	assert_int_equal(b.largest.id, 2);
}

static void test_thor(void **state)
{
	struct board_info b;

	(void)state;
	read_board(&b, "agx-thor-r38");
	check_mode(&b, "Jetson T5000", "MAXN", 0);
	check_clocks(&b, 1575, 1575, 4266, 4266);
	assert_string_equal(b.gpu.path, "/sys/class/devfreq/gpu-gpc-0");
	assert_int_equal(b.gpu.sm_active, 20);
	assert_int_equal(b.gpu.sm_source, BOARD_TABLE);
	assert_close(b.ceilings.flops[PREC_FP4_TC], 1032192e9);
	assert_close(b.ceilings.dram, 273e9);
	assert_string_equal(b.largest.name, "MAXN");
}

/* No table knows it: what its files say is used all the same. */
static void test_future_board(void **state)
{
	struct board_info b;

	(void)state;
	read_board(&b, "future-board");
	assert_string_equal(b.module, "");
	assert_false(b.module_certain);
	assert_string_equal(b.module_doubt, "p9000-0001 is not in the module table");
	assert_string_equal(b.soc, "tegra999");
	assert_string_equal(b.l4t, "R45.1.0");
	assert_string_equal(b.mode, "ECO");
	assert_string_equal(b.mode_doubt, "");
	assert_close(b.gpu.cap_mhz, 1800);
	assert_close(b.gpu.hw_max_mhz, 2025);
	assert_close(b.emc.cap_mhz, 4800);
	assert_close(b.cpu.hw_max_mhz, 3200);
	assert_int_equal(b.gpu.sm_active, -1);
	assert_true(isnan(b.ceilings.flops[PREC_FP32]) && isnan(b.ceilings.dram));
	assert_string_equal(b.next.name, "PERF+");
	assert_int_equal(b.next.id, 7);
}

static void test_host(void **state)
{
	struct host_info host;

	(void)state;
	setenv("TEGRATRACE_ROOT", BOARDS "agx-orin-64gb-r36", 1);
	board_read(&host);
	unsetenv("TEGRATRACE_ROOT");
	assert_string_equal(host.module, "NVIDIA Jetson AGX Orin Developer Kit");
	assert_string_equal(host.power_mode, "MODE_30W");
	assert_true(*host.kernel && *host.arch && host.cpus > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nano),
		cmocka_unit_test(test_xavier_nx),
		cmocka_unit_test(test_agx_xavier),
		cmocka_unit_test(test_agx_orin_default),
		cmocka_unit_test(test_orin_nano_super),
		cmocka_unit_test(test_orin_nano_super_7w),
		cmocka_unit_test(test_thor),
		cmocka_unit_test(test_future_board),
		cmocka_unit_test(test_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
