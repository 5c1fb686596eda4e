/* SPDX-License-Identifier: GPL-2.0-only */
/* Boards with missing, damaged and contradicting files. */
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tegra/board.h"

/* A board built by the test, of the files it names. */
static char scratch[64];

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int make_scratch(void **state)
{
	(void)state;
	snprintf(scratch, sizeof(scratch), "/tmp/tegratrace-board-XXXXXX");
	return mkdtemp(scratch) ? setenv("TEGRATRACE_ROOT", scratch, 1) : -1;
}

static int remove_scratch(void **state)
{
	(void)state;
	unsetenv("TEGRATRACE_ROOT");
	return nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void scratch_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s%s", scratch, name);
	for (char *slash = path + strlen(scratch) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		assert_true(!mkdir(path, 0755) || errno == EEXIST);
		*slash = '/';
	}
}

static void put_bytes(const char *name, const void *bytes, size_t n)
{
	char path[512];
	FILE *file;

	scratch_path(path, sizeof(path), name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	fclose(file);
}

static void put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

#define PUT_COMPATIBLE(text) put_bytes("/proc/device-tree/compatible", text, sizeof(text))

#define GPU_DIR "/sys/class/devfreq/17000000.gpu"

/* The files of an Orin Nano 8GB Super in MAXN_SUPER that say what it is. */
static void put_orin_nano(void)
{
	PUT_COMPATIBLE("nvidia,p3768-0000+p3767-0005-super\0nvidia,p3767-0005\0nvidia,tegra234");
	put("/proc/meminfo", "MemTotal:        7802880 kB\nMemFree:  1 kB\n");
	put("/sys/devices/system/cpu/present", "0-5\n");
	put("/sys/devices/system/cpu/online", "0-5\n");
	put(GPU_DIR "/cur_freq", "306000000\n");
	put(GPU_DIR "/min_freq", "306000000\n");
	put(GPU_DIR "/max_freq", "1020000000\n");
	put(GPU_DIR "/available_frequencies", "306000000 612000000 1020000000 \n");
	put("/sys/devices/platform/gpu.0/tpc_pg_mask", "240\n");
	put("/sys/kernel/nvpmodel_clk_cap/emc", "3199000000\n");
	put("/sys/kernel/debug/bpmp/debug/clk/emc/max_rate", "3199000000\n");
	put("/var/lib/nvpmodel/status", "pmode:0002\n");
	put("/etc/nvpmodel.conf",
	    "< POWER_MODEL ID=0 NAME=15W >\nTPC_POWER_GATING TPC_PG_MASK 240\n"
	    "GPU MAX_FREQ 612000000\nEMC MAX_FREQ 2133000000\n"
	    "< POWER_MODEL ID=2 NAME=MAXN_SUPER >\nCPU_ONLINE CORE_0 1\n"
	    "TPC_POWER_GATING TPC_PG_MASK 240\nGPU MAX_FREQ -1\n"
	    "EMC MAX_FREQ -1\n< PM_CONFIG DEFAULT=0 >\n");
}

static void assert_close(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-3 * fabs(expected)))
		fail_msg("%.10g is not %.10g", value, expected);
}

static void test_nothing_there(void **state)
{
	struct board_info b, unknown;

	(void)state;
	board_info_read(&b);
	board_info_init(&unknown);
	assert_string_equal(b.module_doubt, "the device tree names no module");
	memset(b.module_doubt, 0, sizeof(b.module_doubt));
	assert_true(isnan(b.ram_mb) && isnan(b.gpu.cap_mhz) && isnan(b.emc.cap_mhz));
	assert_true(isnan(b.cpu.now_mhz) && isnan(b.ceilings.dram));
	assert_int_equal(b.cpu.online, -1);
	assert_int_equal(b.gpu.sm_active, -1);
	assert_int_equal(b.mode_id, -1);
	assert_int_equal(b.conf_bad_lines, -1);
	assert_memory_equal(&b, &unknown, sizeof(b.model) + sizeof(b.pnumber) + sizeof(b.module));
}

/* As in a container: the conf and the table stand in, and say so. */
static void test_without_sysfs(void **state)
{
	struct board_info b;

	(void)state;
	PUT_COMPATIBLE("nvidia,p3737-0000+p3701-0005\0nvidia,tegra234");
	put("/var/lib/nvpmodel/status", "pmode:0002 fmode:quiet\n");
	put("/etc/nvpmodel.conf",
	    "< POWER_MODEL ID=2 NAME=MODE_30W >\nTPC_POWER_GATING TPC_PG_MASK 240\n"
	    "GPU MAX_FREQ 612000000\nEMC MAX_FREQ -1\n< PM_CONFIG DEFAULT=2 >\n");
	board_info_read(&b);
	assert_true(b.module_certain);
	assert_close(b.gpu.cap_mhz, 612);
	assert_int_equal(b.gpu.cap_source, BOARD_CONF);
	assert_close(b.gpu.hw_max_mhz, 1300.5);
	assert_int_equal(b.gpu.hw_max_source, BOARD_TABLE);
	assert_int_equal(b.gpu.sm_active, 8);
	assert_int_equal(b.gpu.sm_source, BOARD_CONF);
	assert_close(b.emc.cap_mhz, 3199);
	assert_int_equal(b.emc.cap_source, BOARD_CONF);
	assert_close(b.ceilings.flops[PREC_FP16_TC], 10027e9);
}

/* A conf with names alone: the table knows the mode of that name. */
static void test_names_alone(void **state)
{
	struct board_info b;

	(void)state;
	PUT_COMPATIBLE("nvidia,p3767-0000\0nvidia,tegra234");
	put("/var/lib/nvpmodel/status", "pmode:0005\n");
	put("/etc/nvpmodel.conf", "<POWER_MODEL ID=5 NAME=25W>\n<POWER_MODEL ID=1 NAME=MAXN>\n");
	board_info_read(&b);
	assert_string_equal(b.module, "Jetson Orin NX 16GB");
	assert_int_equal(b.gpu.cap_source, BOARD_TABLE);
	assert_int_equal(b.gpu.sm_source, BOARD_TABLE);
	assert_int_equal(b.emc.cap_source, BOARD_TABLE);
	assert_close(b.ceilings.flops[PREC_FP16_TC], 6684.7e9);
	assert_string_equal(b.next.name, "MAXN");
	assert_int_equal(b.next.id, 1);
}

static void test_device_tree_alone(void **state)
{
	struct board_info b;

	(void)state;
	PUT_COMPATIBLE("nvidia,p3768-0000+p3767-0003\0nvidia,p3767-0003\0nvidia,tegra234");
	board_info_read(&b);
	assert_string_equal(b.module, "Jetson Orin Nano 8GB");
	assert_string_equal(b.mode, "");
	assert_int_equal(b.gpu.sm_active, -1);
	assert_true(isnan(b.gpu.cap_mhz) && isnan(b.ceilings.flops[PREC_FP32]));
	assert_close(b.gpu.hw_max_mhz, 624.75);
	assert_string_equal(b.largest.name, "15W");
	assert_int_equal(b.largest.id, -1);
}

static void test_no_status_is_default(void **state)
{
	struct board_info b;

	(void)state;
	PUT_COMPATIBLE("nvidia,p3767-0001\0nvidia,tegra234");
	put("/etc/nvpmodel.conf", "< POWER_MODEL ID=3 NAME=20W >\n< PM_CONFIG DEFAULT=3 >\n");
	board_info_read(&b);
	assert_string_equal(b.mode, "20W");
	assert_int_equal(b.mode_source, BOARD_MODE_DEFAULT);
}

static void test_mode_not_in_conf(void **state)
{
	struct board_info b;

	(void)state;
	put_orin_nano();
	put("/var/lib/nvpmodel/status", "pmode:0007\n");
	board_info_read(&b);
	assert_string_equal(b.mode, "");
	assert_int_equal(b.mode_id, 7);
	assert_int_equal(b.mode_source, BOARD_MODE_UNKNOWN);
	assert_string_equal(b.mode_doubt, "mode 7 is not in nvpmodel.conf");
	assert_close(b.ceilings.flops[PREC_FP32], 2089e9);
}

/* Status files with no id in them say nothing. */
static void test_damaged_status(void **state)
{
	static const char *const texts[] = {"", "pmode:", "pmode:-3", "mode 2", "pmode:x2"};
	struct board_info b;

	(void)state;
	put_orin_nano();
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		put("/var/lib/nvpmodel/status", texts[i]);
		board_info_read(&b);
		assert_string_equal(b.mode, "15W");
		assert_int_equal(b.mode_source, BOARD_MODE_DEFAULT);
	}
}

static void check_doubt(const char *module, const char *doubt)
{
	struct board_info b;

	board_info_read(&b);
	assert_string_equal(b.module, module);
	assert_false(b.module_certain);
	if (!strstr(b.module_doubt, doubt))
		fail_msg("\"%s\" has no \"%s\"", b.module_doubt, doubt);
}

static void test_module_doubts(void **state)
{
	static const char *const super = "Jetson Orin Nano 8GB Super";

	(void)state;
	put_orin_nano();
	put("/proc/meminfo", "MemTotal:       30000000 kB\n");
	check_doubt(super, "MemTotal is 28.6 GiB, the module has 8");
	put_orin_nano();
	put("/sys/devices/system/cpu/present", "0-7\n");
	check_doubt(super, "8 CPUs are present, the module has 6");
	put_orin_nano();
	put(GPU_DIR "/available_frequencies", "306000000 1300500000\n");
	check_doubt(super, "the GPU goes to 1300 MHz, the module's to 1020");
	put_orin_nano();
	put("/sys/devices/platform/gpu.0/tpc_pg_mask", "0\n");
	check_doubt(super, "tpc_pg_mask leaves 16 SMs, the module has 8");
	put_orin_nano();
	put("/sys/kernel/debug/bpmp/debug/clk/emc/max_rate", "1600000000\n");
	check_doubt(super, "the EMC goes to 1600 MHz, the module's to 3199");
}

/* Its tree does not say Super, its clocks do (carrier boards of other makers). */
static void test_clocks_decide_super(void **state)
{
	(void)state;
	put_orin_nano();
	PUT_COMPATIBLE("maker,carrier+p3767-0005\0nvidia,p3767-0005\0nvidia,tegra234");
	check_doubt("Jetson Orin Nano 8GB Super", "the GPU goes to 1020 MHz, the module's to 625");
}

/* Early developer kits: the P-number of the 64 GB module, 32 GB of memory. */
static void test_early_agx_orin(void **state)
{
	(void)state;
	PUT_COMPATIBLE("nvidia,p3737-0000+p3701-0000\0nvidia,p3701-0000\0nvidia,tegra234");
	put("/proc/meminfo", "MemTotal:       31357952 kB\n");
	put("/sys/devices/system/cpu/present", "0-11\n");
	check_doubt("Jetson AGX Orin 64GB", "MemTotal is 29.9 GiB, the module has 64");
}

/* The R35 tree of the developer kit names both; an unknown one before does not hide them. */
static void test_several_pnumbers(void **state)
{
	struct board_info b;

	(void)state;
	PUT_COMPATIBLE("nvidia,p3768-0000+p3767-0005\0nvidia,p3767-0003\0nvidia,tegra234");
	board_info_read(&b);
	assert_string_equal(b.pnumber, "p3767-0005");
	PUT_COMPATIBLE("nvidia,p9999-0000\0nvidia,p3767-0001\0nvidia,tegra234");
	board_info_read(&b);
	assert_string_equal(b.module, "Jetson Orin NX 8GB");
}

static void put_eeprom(int bus, const char *part, size_t size)
{
	char bytes[256], name[64];

	memset(bytes, 0xff, sizeof(bytes));
	memcpy(bytes + 20, part, strlen(part));
	snprintf(name, sizeof(name), "/sys/bus/i2c/devices/%d-0050/eeprom", bus);
	put_bytes(name, bytes, size);
}

static void check_pnumber(const char *pnumber, const char *module)
{
	struct board_info b;

	board_info_read(&b);
	assert_string_equal(b.pnumber, pnumber);
	assert_string_equal(b.module, module);
}

/* It knows better than the tree; what is no part number is passed over. */
static void test_eeprom(void **state)
{
	(void)state;
	PUT_COMPATIBLE("nvidia,p3768-0000+p3767-0005\0nvidia,p3767-0003\0nvidia,tegra234");
	put_eeprom(1, "699-13767-0001-300 R.1", 256);
	check_pnumber("p3767-0001", "Jetson Orin NX 8GB");
	/* The first bus that has one counts. */
	put_eeprom(0, "699-13767-0000-300 R.1", 256);
	check_pnumber("p3767-0000", "Jetson Orin NX 16GB");
	put_eeprom(0, "699-1376-0000-300", 256);
	check_pnumber("p3767-0001", "Jetson Orin NX 8GB");
	/* Cut before the part number ends, of other form, empty: the tree is what is left. */
	put_eeprom(1, "699-13767-0001-300 R.1", 47);
	check_pnumber("p3767-0005", "Jetson Orin Nano 8GB");
	put_eeprom(1, "\xff\xff\xff", 256);
	check_pnumber("p3767-0005", "Jetson Orin Nano 8GB");
	put("/sys/bus/i2c/devices/1-0050/eeprom", "");
	check_pnumber("p3767-0005", "Jetson Orin Nano 8GB");
	/* A module of the future stays one, whatever tree it was started with. */
	put_eeprom(7, "699-19000-0001-100 A.0", 256);
	check_pnumber("p9000-0001", "");
}

static void test_dts_file_name(void **state)
{
	struct board_info b;

	(void)state;
	PUT_COMPATIBLE("nvidia,quill\0nvidia,tegra186");
	put("/proc/device-tree/nvidia,dtsfilename",
	    "/dvs/git/t18x/tegra186-quill-p3310-1000-c03-00-base.dts");
	board_info_read(&b);
	assert_string_equal(b.module, "Jetson TX2 8GB");
	assert_string_equal(b.soc, "tegra186");
	assert_int_equal(b.gpu.sm_active, 2);
}

/* The status file lies, or somebody changed the clocks behind the back of nvpmodel. */
static void test_mode_doubts(void **state)
{
	struct board_info b;

	(void)state;
	put_orin_nano();
	put("/sys/devices/system/cpu/online", "0\n");
	board_info_read(&b);
	assert_string_equal(b.mode_doubt, "");
	put("/sys/kernel/nvpmodel_clk_cap/emc", "2133000000\n");
	put(GPU_DIR "/max_freq", "612000000\n");
	put("/sys/devices/platform/gpu.0/tpc_pg_mask", "252\n");
	put("/sys/devices/system/cpu/online", "0-1,4\n");
	board_info_read(&b);
	assert_string_equal(b.mode, "MAXN_SUPER");
	assert_string_equal(b.mode_doubt,
			    "GPU cap in MHz is 612, the mode has 1020; active SMs are 4, the mode "
			    "has 8; EMC cap in MHz is 2133, the mode has 3199; online CPUs are 3, "
			    "the mode has 1");
	assert_string_equal(b.cpu.offline, "2-3,5");
	/* the roof is that of the clocks read */
	assert_close(b.ceilings.flops[PREC_FP32], 4 * 128 * 2 * 612e6);
	assert_close(b.ceilings.dram, 68.256e9);
	assert_string_equal(b.largest.name, "MAXN_SUPER");
}

static void test_emc_caps(void **state)
{
	struct board_info b;

	(void)state;
	put_orin_nano();
	put("/sys/kernel/nvpmodel_clk_cap/emc", "0\n");
	board_info_read(&b);
	assert_close(b.emc.cap_mhz, 3199);
	put("/sys/kernel/nvpmodel_clk_cap/emc", "2147483647\n");
	board_info_read(&b);
	assert_close(b.emc.cap_mhz, 3199);
	put("/sys/kernel/nvpmodel_clk_cap/emc", "9000000000\n");
	board_info_read(&b);
	assert_close(b.emc.cap_mhz, 3199);
	/* jetson_clocks holds it below */
	put("/sys/kernel/debug/bpmp/debug/clk/emc/rate", "2133000000\n");
	put("/sys/kernel/debug/bpmp/debug/clk/emc/mrq_rate_locked", "1\n");
	board_info_read(&b);
	assert_int_equal(b.emc.locked, 1);
	assert_close(b.emc.cap_mhz, 2133);
}

static void test_damaged_numbers(void **state)
{
	static const char *const bad[] = {
		"",	 "\n",	     "fast", "0xf0", "-5", "1e9", "99999999999999999999999",
		"12 34", "\xff\xfe",
	};
	struct board_info b;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put_orin_nano();
		put(GPU_DIR "/max_freq", bad[i]);
		put("/sys/devices/platform/gpu.0/tpc_pg_mask", bad[i]);
		put("/sys/kernel/nvpmodel_clk_cap/emc", bad[i]);
		put("/sys/devices/system/cpu/present", bad[i]);
		put("/proc/meminfo", bad[i]);
		board_info_read(&b);
		assert_int_equal(b.gpu.cap_source, BOARD_CONF);
		assert_int_equal(b.gpu.sm_source, BOARD_CONF);
		assert_int_equal(b.emc.cap_source, BOARD_CONF);
		assert_int_equal(b.cpu.present, -1);
		assert_string_equal(b.cpu.offline, "");
		assert_true(isnan(b.ram_mb));
		assert_true(b.module_certain);
		assert_close(b.ceilings.flops[PREC_FP32], 2089e9);
	}
}

static void test_cpu_lists(void **state)
{
	static const struct {
		const char *list;
		int present;
	} rows[] = {
		{"0", 1},
		{"0-3,8-11\n", 8},
		{"0,0-2,1", 3},
		{"5-2", -1},
		{"0-4294967295", 1024},
		{"0-99999999999999999999", 1024},
		{"0-", -1},
		{",", -1},
		{"0,,1", -1},
		{"-1", -1},
		{"0;1", -1},
		{"0-3x", -1},
	};
	struct board_info b;

	(void)state;
	put("/sys/devices/system/cpu/online", "0\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		put("/sys/devices/system/cpu/present", rows[i].list);
		board_info_read(&b);
		assert_int_equal(b.cpu.present, rows[i].present);
	}
}

static void test_release(void **state)
{
	struct board_info b;

	(void)state;
	PUT_COMPATIBLE("nvidia,p3767-0001\0nvidia,tegra234");
	put("/var/lib/dpkg/status", "Package: nvidia-l4t-core-extra\nVersion: 1.0-1\n\n"
				    "Package: nvidia-l4t-core\nStatus: install ok installed\n"
				    "Version: 36.4.7-20250918154033\n\n"
				    "Package: zlib1g\nVersion: 1:1.2\n");
	board_info_read(&b);
	assert_string_equal(b.l4t, "R36.4.7");
	put("/etc/nv_tegra_release", "# R39 (release), REVISION: 0.0, GCID: 1\nlibs\n");
	board_info_read(&b);
	assert_string_equal(b.l4t, "R39.0.0");
	put("/etc/nv_tegra_release", "# R40 (release)\n");
	board_info_read(&b);
	assert_string_equal(b.l4t, "R40");
}

static void test_hostile_text(void **state)
{
	struct board_info b;

	(void)state;
	put_orin_nano();
	put("/proc/device-tree/model", "Jetson\x1b[2J\xff");
	put(GPU_DIR "/governor", "\x1b]0;x\a\n");
	put("/etc/nvpmodel.conf", "< POWER_MODEL ID=2 NAME=\x1b[31mX >\nGPU MAX_FREQ 5\n");
	board_info_read(&b);
	assert_string_equal(b.model, "Jetson\\x1b[2J\\xff");
	assert_string_equal(b.gpu.governor, "\\x1b]0;x\\x07");
	assert_string_equal(b.mode, "\\x1b[31mX");
}

/* Neither a FIFO nor a folder in the place of a file holds anything up. */
static void test_not_files(void **state)
{
	char path[512];
	struct board_info b;

	(void)state;
	scratch_path(path, sizeof(path), "/etc/nvpmodel.conf");
	assert_int_equal(mkfifo(path, 0600), 0);
	scratch_path(path, sizeof(path), "/proc/device-tree/compatible/x");
	scratch_path(path, sizeof(path), "/proc/meminfo/x");
	board_info_read(&b);
	assert_string_equal(b.module, "");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, make_scratch, remove_scratch)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(test_nothing_there),
		IN_SCRATCH(test_without_sysfs),
		IN_SCRATCH(test_names_alone),
		IN_SCRATCH(test_device_tree_alone),
		IN_SCRATCH(test_no_status_is_default),
		IN_SCRATCH(test_mode_not_in_conf),
		IN_SCRATCH(test_damaged_status),
		IN_SCRATCH(test_module_doubts),
		IN_SCRATCH(test_clocks_decide_super),
		IN_SCRATCH(test_early_agx_orin),
		IN_SCRATCH(test_several_pnumbers),
		IN_SCRATCH(test_eeprom),
		IN_SCRATCH(test_dts_file_name),
		IN_SCRATCH(test_mode_doubts),
		IN_SCRATCH(test_emc_caps),
		IN_SCRATCH(test_damaged_numbers),
		IN_SCRATCH(test_cpu_lists),
		IN_SCRATCH(test_release),
		IN_SCRATCH(test_hostile_text),
		IN_SCRATCH(test_not_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
