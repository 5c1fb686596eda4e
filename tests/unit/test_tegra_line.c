/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tegra/line.h"
#include "tegra/sample_json.h"

#define HEAD "RAM 1/2MB (lfb 1x1MB) "

static struct tegra_sample sample;

static void parse(const char *text)
{
	assert_int_equal(tegra_line_parse(text, strlen(text), true, &sample), TEGRA_LINE_OK);
}

static void parse_cut(const char *text)
{
	assert_int_equal(tegra_line_parse(text, strlen(text), false, &sample), TEGRA_LINE_OK);
}

static enum tegra_line_reason reason_of(const char *text)
{
	return tegra_line_parse(text, strlen(text), true, &sample);
}

static const struct tegra_temp *temp(const char *name)
{
	for (uint32_t i = 0; i < sample.temp_count; i++) {
		if (strcmp(sample.temp[i].name, name) == 0)
			return &sample.temp[i];
	}
	fail_msg("no zone %s", name);
	return NULL;
}

static const struct tegra_engine *engine(const char *name)
{
	for (uint32_t i = 0; i < sample.engine_count; i++) {
		if (strcmp(sample.engine[i].name, name) == 0)
			return &sample.engine[i];
	}
	fail_msg("no engine %s", name);
	return NULL;
}

static void check_rail(const char *name, int32_t cur, int32_t avg, int32_t max)
{
	const struct tegra_rail *r = tegra_sample_rail(&sample, name);

	assert_non_null(r);
	assert_int_equal(r->cur_mw, cur);
	assert_int_equal(r->avg_mw, avg);
	assert_int_equal(r->max_mw, max);
}

static void check_core(uint32_t i, int32_t load, int32_t mhz, bool off)
{
	assert_true(i < sample.cpu_count);
	assert_int_equal(sample.cpu[i].load_pct, load);
	assert_int_equal(sample.cpu[i].freq_mhz, mhz);
	assert_int_equal(sample.cpu[i].off, off);
}

static void test_tk1_line(void **state)
{
	(void)state;
	parse("RAM 714/1876MB (lfb 139x4MB) SWAP 5/2048MB (cached 3MB) cpu [25%,7%,off,1%]@2218 "
	      "EMC 3%@924 AVP 0%@81 VDE 120 GR3D 9%@252 EDP limit 7 ");
	assert_int_equal(sample.ram_used_mb, 714);
	assert_int_equal(sample.ram_total_mb, 1876);
	assert_int_equal(sample.lfb_blocks, 139);
	assert_int_equal(sample.lfb_kb, 4096);
	assert_int_equal(sample.swap_used_mb, 5);
	assert_int_equal(sample.swap_total_mb, 2048);
	assert_int_equal(sample.swap_cached_mb, 3);
	assert_int_equal(sample.cpu_count, 4);
	check_core(0, 25, 2218, false);
	check_core(2, 0, 0, true);
	check_core(3, 1, 2218, false);
	assert_int_equal(sample.emc_pct, 3);
	assert_int_equal(sample.emc_mhz, 924);
	assert_int_equal(engine("AVP")->pct[0], 0);
	assert_int_equal(engine("AVP")->mhz, 81);
	assert_int_equal(engine("VDE")->mhz, 120);
	assert_int_equal(engine("VDE")->pct_count, 0);
	assert_int_equal(sample.gr3d_pct, 9);
	assert_int_equal(sample.gr3d_mhz[0], 252);
	assert_true(sample.has_edp);
	assert_int_equal(sample.edp_limit, 7);
	assert_int_equal(sample.unknown_total, 0);
	assert_true(sample.date_s == TEGRA_DATE_UNKNOWN);
}

static void test_shared_clock_without_root(void **state)
{
	(void)state;
	parse("RAM 598/1892MB (lfb 209x4MB) cpu [4%,off]@-1 VDE 0 EDP limit 0");
	check_core(0, 4, TEGRA_UNKNOWN, false);
	check_core(1, 0, 0, true);
	assert_int_equal(sample.gr3d_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.gr3d_mhz_count, 0);
	assert_int_equal(sample.emc_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.swap_total_mb, TEGRA_UNKNOWN);
	assert_false(sample.has_iram);
}

static void test_tx2_line(void **state)
{
	(void)state;
	parse("RAM 1685/7854MB (lfb 1x512kB) IRAM 4/252kB(lfb 200kB) CPU [0%@1303,off,3%@345] "
	      "SWAP 149/1024MB (cached 7MB) EMC_FREQ 16%@102 GR3D_FREQ 36%@140 NVDEC 716 APE 150 "
	      "MTS fg 1% bg 8% BCPU@-45C GPU@39.25C PMIC@100C VDD_IN 1931/1930 VDD_WIFI 0/15");
	assert_int_equal(sample.lfb_kb, 512);
	assert_int_equal(sample.iram_used_kb, 4);
	assert_int_equal(sample.iram_total_kb, 252);
	assert_int_equal(sample.iram_lfb_kb, 200);
	assert_int_equal(sample.swap_used_mb, 149);
	check_core(1, 0, 0, true);
	check_core(2, 3, 345, false);
	assert_int_equal(sample.mts_fg_pct, 1);
	assert_int_equal(sample.mts_bg_pct, 8);
	assert_true(temp("BCPU")->cur_c == -45.0);
	assert_true(temp("GPU")->cur_c == 39.25);
	assert_true(isnan(temp("PMIC")->cur_c));
	assert_int_equal(engine("NVDEC")->mhz, 716);
	check_rail("VDD_IN", 1931, 1930, TEGRA_UNKNOWN);
	check_rail("VDD_WIFI", 0, 15, TEGRA_UNKNOWN);
}

static void test_shape_not_name_decides(void **state)
{
	(void)state;
	parse(HEAD "CPU [1%@1190] GPU@30.5C CPU@31.5C GPU 463/460 CPU 618/617 SYS5V 3306/3306");
	assert_int_equal(sample.cpu_count, 1);
	assert_true(temp("GPU")->cur_c == 30.5);
	assert_true(temp("CPU")->cur_c == 31.5);
	check_rail("GPU", 463, 460, TEGRA_UNKNOWN);
	check_rail("CPU", 618, 617, TEGRA_UNKNOWN);
	check_rail("SYS5V", 3306, 3306, TEGRA_UNKNOWN);
}

static void test_orin_r36_line(void **state)
{
	(void)state;
	/* 2026-05-09 is day 20582: 56 years of 365 days, 14 leap days, 128 days of 2026. */
	parse("05-09-2026 18:42:06 RAM 18207/62841MB (lfb 466x4MB) CPU [14%@2188] EMC_FREQ 3%@2133 "
	      "GR3D_FREQ 0%@[305,1300] NVENC 79%@166 NVDEC off PVA0_FREQ off APE 174 "
	      "cpu@52.562C VDD_GPU_SOC -392mW/2411mW NC 0mW/0mW NC 7mW/8mW");
	assert_true(sample.date_s == 20582LL * 86400 + 18 * 3600 + 42 * 60 + 6);
	assert_int_equal(sample.gr3d_pct, 0);
	assert_int_equal(sample.gr3d_mhz_count, 2);
	assert_int_equal(sample.gr3d_mhz[0], 305);
	assert_int_equal(sample.gr3d_mhz[1], 1300);
	assert_int_equal(engine("NVENC")->pct_count, 1);
	assert_int_equal(engine("NVENC")->pct[0], 79);
	assert_int_equal(engine("NVENC")->mhz, 166);
	assert_true(engine("NVDEC")->off);
	assert_true(engine("PVA0")->off);
	assert_int_equal(engine("APE")->mhz, 174);
	assert_false(engine("APE")->off);
	assert_true(temp("cpu")->cur_c == 52.562);
	check_rail("VDD_GPU_SOC", -392, 2411, TEGRA_UNKNOWN);
	assert_int_equal(sample.rail_count, 3);
	assert_int_equal(sample.rail[2].cur_mw, 7);
}

static void test_r39_and_thor(void **state)
{
	(void)state;
	parse(HEAD "CPU [0%@972] EMC_FREQ @2750 GR3D_FREQ @[314,315,316] NVENC0_FREQ @317 "
		   "VIC_LOAD 4% PVA0_FREQ [63%,12%]@1011 tj@66.625C/67C cv0@-256C/48C "
		   "VDD_GPU 37939mW/8660mW/37940mW VIN 28548mW FUTURE_TOKEN value");
	assert_int_equal(sample.emc_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.emc_mhz, 2750);
	assert_int_equal(sample.gr3d_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.gr3d_mhz_count, 3);
	assert_int_equal(sample.gr3d_mhz[2], 316);
	assert_int_equal(engine("NVENC0")->mhz, 317);
	assert_int_equal(engine("VIC")->pct[0], 4);
	assert_int_equal(engine("VIC")->mhz, TEGRA_UNKNOWN);
	assert_true(engine("PVA0")->pct_is_list);
	assert_int_equal(engine("PVA0")->pct_count, 2);
	assert_int_equal(engine("PVA0")->pct[1], 12);
	assert_int_equal(engine("PVA0")->mhz, 1011);
	assert_true(temp("tj")->cur_c == 66.625);
	assert_true(temp("tj")->max_c == 67.0);
	assert_true(isnan(temp("cv0")->cur_c));
	check_rail("VDD_GPU", 37939, 8660, 37940);
	check_rail("VIN", 28548, TEGRA_UNKNOWN, TEGRA_UNKNOWN);
	assert_int_equal(sample.unknown_count, 2);
	assert_string_equal(sample.unknown[0], "FUTURE_TOKEN");
	assert_string_equal(sample.unknown[1], "value");
}

static void test_unknown_against_zero(void **state)
{
	(void)state;
	parse(HEAD "EMC_FREQ 0% GR3D_FREQ 0% GR3D2_FREQ 38%@0");
	assert_int_equal(sample.emc_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.gr3d_pct, 0);
	assert_int_equal(sample.gr3d_mhz_count, 0);
	assert_int_equal(sample.gr3d2_pct, 38);
	assert_int_equal(sample.gr3d2_mhz, TEGRA_UNKNOWN);
	parse(HEAD "EMC_FREQ 0%@2133 GR3D_FREQ 0%@0 GR3D2_FREQ 0%@0 GR3D_PCI 5%@2607");
	assert_int_equal(sample.emc_pct, 0);
	assert_int_equal(sample.gr3d_mhz_count, 1);
	assert_int_equal(sample.gr3d_mhz[0], 0);
	assert_int_equal(sample.gr3d2_mhz, 0);
	assert_int_equal(sample.gr3d_pci_pct, 5);
	assert_int_equal(sample.gr3d_pci_mhz, 2607);
	parse(HEAD "EMC_FREQ 4%");
	assert_int_equal(sample.emc_pct, 4);
	assert_int_equal(sample.emc_mhz, TEGRA_UNKNOWN);
}

static void test_odd_values(void **state)
{
	(void)state;
	parse(HEAD
	      "GR3D_FREQ\t20%@[0, 300,\t400] EMC_FREQ 40%@NaN VDD_GPU 100mW/200 VIN 100/200mW");
	assert_int_equal(sample.gr3d_mhz_count, 3);
	assert_int_equal(sample.gr3d_mhz[2], 400);
	assert_int_equal(sample.emc_pct, 40);
	check_rail("VDD_GPU", 100, 200, TEGRA_UNKNOWN);
	check_rail("VIN", 100, 200, TEGRA_UNKNOWN);
	parse(HEAD "GR3D_FREQ 20%@N/A frame 12/30 VDD_X 5.2W steps 40 load 50% VDD_IN 36");
	assert_int_equal(sample.gr3d_pct, 20);
	assert_int_equal(sample.gr3d_mhz_count, 0);
	assert_int_equal(sample.rail_count, 0);
	assert_int_equal(sample.engine_count, 0);
	assert_int_equal(sample.unknown_total, 10);
}

static void test_elided_cores(void **state)
{
	(void)state;
	parse(HEAD "CPU [2%@972,...] VDD_GPU 3mW/4mW");
	assert_int_equal(sample.cpu_count, 1);
	assert_true(sample.cpu_partial);
	check_rail("VDD_GPU", 3, 4, TEGRA_UNKNOWN);
	parse(HEAD "CPU [16%@1997,0%@2035,10%@1");
	assert_int_equal(sample.cpu_count, 2);
	assert_true(sample.cpu_partial);
	parse(HEAD "CPU [16%,5%@x,7%@30] EMC_FREQ 1%@2");
	assert_int_equal(sample.cpu_count, 3);
	assert_false(sample.cpu_partial);
	check_core(0, 16, TEGRA_UNKNOWN, false);
	check_core(1, 5, TEGRA_UNKNOWN, false);
	check_core(2, 7, 30, false);
	assert_int_equal(sample.emc_mhz, 2);
}

static void test_overflow(void **state)
{
	(void)state;
	parse("RAM 99999999999999999999/7620MB CPU [4294967297%@960,1%@99999999999] "
	      "GR3D_FREQ 4294967297%@[408] tj@9999999999C VDD_IN 123456789012mW/-4222mW");
	assert_int_equal(sample.ram_used_mb, TEGRA_UNKNOWN);
	assert_int_equal(sample.ram_total_mb, 7620);
	assert_int_equal(sample.lfb_kb, TEGRA_UNKNOWN);
	check_core(0, TEGRA_UNKNOWN, 960, false);
	check_core(1, 1, TEGRA_UNKNOWN, false);
	assert_int_equal(sample.gr3d_pct, TEGRA_UNKNOWN);
	assert_int_equal(sample.gr3d_mhz[0], 408);
	assert_true(isnan(temp("tj")->cur_c));
	check_rail("VDD_IN", TEGRA_UNKNOWN, -4222, TEGRA_UNKNOWN);
}

static void test_bounds(void **state)
{
	static char text[65536];
	size_t n = 0;

	(void)state;
	n += (size_t)snprintf(text, sizeof(text), HEAD "CPU [0%%@1");
	for (int i = 1; i < 70; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ",%d%%@%d", i, i);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "] GR3D_FREQ 1%%@[1,2,3,4,5,6,7,8,9]");
	for (int i = 0; i < 40; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " R%d 1/2 E%d off z%d@3C ?", i, i,
				      i);
	parse(text);
	assert_int_equal(sample.cpu_count, TEGRA_CORES_MAX);
	check_core(63, 63, 63, false);
	assert_int_equal(sample.gr3d_mhz_count, TEGRA_GPU_MHZ_MAX);
	assert_int_equal(sample.rail_count, TEGRA_RAILS_MAX);
	assert_int_equal(sample.temp_count, TEGRA_TEMPS_MAX);
	assert_int_equal(sample.engine_count, TEGRA_ENGINES_MAX);
	assert_int_equal(sample.unknown_count, TEGRA_UNKNOWN_MAX);
	assert_int_equal(sample.unknown_total, 40);
	assert_int_equal(sample.dropped, 6 + 16 + 8 + 16);
	parse(HEAD "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ 5mW");
	assert_string_equal(sample.rail[0].name, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDE");
}

static void test_cut_lines(void **state)
{
	(void)state;
	parse_cut(HEAD "CPU [1%@2] GR3D_FREQ 3%@4 POM_5V_GPU 450/61 POM_5V_CPU 613/2");
	check_rail("POM_5V_GPU", 450, 61, TEGRA_UNKNOWN);
	assert_int_equal(sample.rail_count, 1);
	assert_int_equal(sample.unknown_total, 0);
	parse_cut(HEAD "VDD_IN 1/2 VDD_W");
	assert_int_equal(sample.rail_count, 1);
	assert_int_equal(sample.unknown_total, 0);
	parse_cut(HEAD "VDD_IN 1/2 ");
	check_rail("VDD_IN", 1, 2, TEGRA_UNKNOWN);
	parse_cut(HEAD "CPU [1%@2,3%@45");
	assert_int_equal(sample.cpu_count, 0);
	assert_int_equal(tegra_line_parse("RAM 1/22MB", 10, false, &sample), TEGRA_LINE_CUT_RAM);
}

/* Every prefix of a line, cut, holds nothing that the whole line does not. */
static void test_every_cut(void **state)
{
	static const char line[] =
		"05-09-2026 18:42:06 RAM 18207/62841MB (lfb 466x4MB) SWAP 19/31400MB (cached 23MB) "
		"CPU [14%@2188,off,27%@1190] EMC_FREQ 33%@2133 GR3D_FREQ 45%@[305,1300] NVENC "
		"79%@166 "
		"NVDEC off APE 174 MTS fg 12% bg 34% cpu@52.562C/53.125C VDD_IN "
		"2811mW/2822mW/2833mW";
	static struct tegra_sample full;
	size_t len = sizeof(line) - 1;

	(void)state;
	parse(line);
	full = sample;
	for (size_t n = 0; n < len; n++) {
		if (tegra_line_parse(line, n, false, &sample) != TEGRA_LINE_OK)
			continue;
#define SAME(f) assert_true(sample.f == full.f || sample.f == TEGRA_UNKNOWN)
		SAME(ram_used_mb), SAME(ram_total_mb), SAME(lfb_blocks), SAME(lfb_kb);
		SAME(swap_used_mb), SAME(swap_total_mb), SAME(swap_cached_mb);
		SAME(emc_pct), SAME(emc_mhz), SAME(gr3d_pct), SAME(mts_fg_pct), SAME(mts_bg_pct);
#undef SAME
		assert_true(sample.cpu_count == 0 || sample.cpu_count == 3);
		assert_true(sample.gr3d_mhz_count == 0 || sample.gr3d_mhz_count == 2);
		for (uint32_t i = 0; i < sample.engine_count; i++) {
			assert_string_equal(sample.engine[i].name, full.engine[i].name);
			assert_int_equal(sample.engine[i].mhz, full.engine[i].mhz);
		}
		assert_true(sample.temp_count == 0 || sample.temp[0].cur_c == full.temp[0].cur_c);
		assert_int_equal(sample.rail_count, 0);
	}
}

static void test_glued_lines(void **state)
{
	static const char line[] =
		HEAD "GR3D_FREQ 29%05-09-2026 18:42:06 RAM 3/4MB VDD_IN "
		     "5mW/6mW05-09-2026 18:42:07 RAM 5/6MB VDD_IN 5mW/605-09-2026 "
		     "18:42:08 RAM 7/8MB VDD_DDR 881/882RAM 9/10MB x@3";
	struct tegra_span span;
	size_t pos = 0, len = sizeof(line) - 1;

	(void)state;
	assert_int_equal(tegra_line_next(line, len, &pos, true, &sample, &span), TEGRA_LINE_OK);
	assert_int_equal(sample.ram_used_mb, 1);
	assert_int_equal(sample.gr3d_pct, TEGRA_UNKNOWN);
	assert_int_equal(span.start, 0);
	assert_int_equal(tegra_line_next(line, len, &pos, true, &sample, &span), TEGRA_LINE_OK);
	assert_int_equal(sample.ram_used_mb, 3);
	assert_true(sample.date_s != TEGRA_DATE_UNKNOWN);
	assert_memory_equal(line + span.start, "05-09-2026 18:42:06 RAM", 23);
	check_rail("VDD_IN", 5, 6, TEGRA_UNKNOWN);
	assert_int_equal(tegra_line_next(line, len, &pos, true, &sample, &span), TEGRA_LINE_OK);
	assert_int_equal(sample.ram_used_mb, 5);
	assert_int_equal(sample.rail_count, 0);
	assert_int_equal(tegra_line_next(line, len, &pos, true, &sample, &span), TEGRA_LINE_OK);
	assert_int_equal(sample.ram_used_mb, 7);
	assert_int_equal(sample.rail_count, 0);
	assert_int_equal(tegra_line_next(line, len, &pos, true, &sample, &span), TEGRA_LINE_OK);
	assert_int_equal(sample.ram_used_mb, 9);
	assert_int_equal(span.end, len);
	assert_int_not_equal(tegra_line_next(line, len, &pos, true, &sample, &span), TEGRA_LINE_OK);

	parse(HEAD "VDD_DDR 881/882" HEAD "VDD_DDR 880/879 ");
	check_rail("VDD_DDR", 881, 882, TEGRA_UNKNOWN);
	/* A digit is missing, a rail is missing, the name of a field ends in the S of "SRAM". */
	parse(HEAD "VDD_DDR 881/88" HEAD "VDD_DDR 880/879");
	assert_int_equal(sample.rail_count, 0);
	parse(HEAD "VDD_SOC 881/882" HEAD "VDD_SOC 880/879 VDD_DDR 1/2");
	assert_int_equal(sample.rail_count, 0);
	parse(HEAD "SWAP 873/81");
	assert_int_equal(sample.rail_count, 0);
	parse(HEAD "VDD_IN 1/2 S" HEAD "VDD_IN 3/4");
	check_rail("VDD_IN", 1, 2, TEGRA_UNKNOWN);
	assert_int_equal(sample.rail_count, 1);
}

static void test_dates_and_prefixes(void **state)
{
	static const char *const no_date[] = {
		"[2026-08-01 18:21:45] RAM 1/2MB",   "[05-09-2026 18:42:06] RAM 1/2MB",
		"05-09-2026 18:42:06.123 RAM 1/2MB", "Jul 26 21:16:00 RAM 1/2MB",
		"13-09-2026 18:42:06 RAM 1/2MB",     "05-09-2026 24:42:06 RAM 1/2MB",
		"05-09-2026 18:42:06 x: RAM 1/2MB",  "18:42:06 RAM 1/2MB",
		"05-09-202618:42:06 RAM 1/2MB",	     "05-09-2026 18:42:06RAM 1/2MB",
	};
	static const char *const with_date[] = {
		"\357\273\27705-09-2026 18:42:06 RAM 1/2MB",
		"\"05-09-2026 18:42:06 RAM 1/2MB",
		"\x1b[2J\x1b[H05-09-2026 18:42:06 RAM 1/2MB",
		"[sudo] password for u: 05-09-2026\t18:42:06  RAM 1/2MB",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(no_date) / sizeof(no_date[0]); i++) {
		parse(no_date[i]);
		assert_true(sample.date_s == TEGRA_DATE_UNKNOWN);
	}
	for (size_t i = 0; i < sizeof(with_date) / sizeof(with_date[0]); i++) {
		parse(with_date[i]);
		assert_true(sample.date_s == 20582LL * 86400 + 18 * 3600 + 42 * 60 + 6);
	}
	parse("\x1b[32mRAM 1/2MB VDD_IN 4mW/5mW\x1b[0m");
	check_rail("VDD_IN", 4, 5, TEGRA_UNKNOWN);
	parse("\"RAM 1/2MB VDD_IN 4mW/5mW\",0");
	check_rail("VDD_IN", 4, 5, TEGRA_UNKNOWN);
	parse("{\"log\":\"RAM 1/2MB VDD_IN 4mW/5mW\\n\",\"stream\":\"stdout\"}");
	check_rail("VDD_IN", 4, 5, TEGRA_UNKNOWN);
	assert_int_equal(sample.unknown_total, 0);
}

static void test_reasons(void **state)
{
	(void)state;
	assert_int_equal(reason_of(""), TEGRA_LINE_BLANK);
	assert_int_equal(reason_of(" \t"), TEGRA_LINE_BLANK);
	assert_int_equal(reason_of("# RAM"), TEGRA_LINE_COMMENT);
	assert_int_equal(reason_of("hello"), TEGRA_LINE_NO_RAM);
	assert_int_equal(reason_of("VRAM 10/20MB IRAM 1/2MB"), TEGRA_LINE_NO_RAM);
	assert_int_equal(reason_of("996] EMC_FREQ 7%@1600"), TEGRA_LINE_NO_HEAD);
	assert_int_equal(reason_of("RAM 12/34"), TEGRA_LINE_CUT_RAM);
	assert_int_equal(reason_of("\x01\x02\x03"), TEGRA_LINE_BINARY);
	for (int i = 0; i < TEGRA_LINE_REASONS; i++)
		assert_true(strlen(tegra_line_reason_name((enum tegra_line_reason)i)) > 0);
	assert_non_null(tegra_line_reason_name((enum tegra_line_reason)99));
}

static void test_json_names(void **state)
{
	json_t *root, *temps, *rails;

	(void)state;
	parse(HEAD "so\xe9@47.5C zone\xc3\xa9@1C VDD\xff 5mW NC 1/2 NC 3/4 NC 5/6");
	root = tegra_sample_json(&sample);
	assert_non_null(root);
	temps = json_object_get(root, "temps");
	rails = json_object_get(root, "rails");
	assert_true(json_real_value(json_object_get(temps, "so\\xE9")) == 47.5);
	assert_non_null(json_object_get(temps, "zone\xc3\xa9"));
	assert_non_null(json_object_get(rails, "VDD\\xFF"));
	assert_int_equal(json_object_size(rails), 4);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(rails, "NC#3"), "cur_mw")), 5);
	assert_true(json_is_null(json_object_get(root, "date")));
	assert_null(json_object_get(root, "unknown"));
	assert_null(json_object_get(root, "iram_used_kb"));
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tk1_line),
		cmocka_unit_test(test_shared_clock_without_root),
		cmocka_unit_test(test_tx2_line),
		cmocka_unit_test(test_shape_not_name_decides),
		cmocka_unit_test(test_orin_r36_line),
		cmocka_unit_test(test_r39_and_thor),
		cmocka_unit_test(test_unknown_against_zero),
		cmocka_unit_test(test_odd_values),
		cmocka_unit_test(test_elided_cores),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_cut_lines),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_glued_lines),
		cmocka_unit_test(test_dates_and_prefixes),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_json_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
