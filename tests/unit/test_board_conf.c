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

#include "tegra/board_conf.h"

#define BOARDS "tests/fixtures/boards/"

static void assert_close(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-3 * fabs(expected)))
		fail_msg("%.10g is not %.10g", value, expected);
}

static void parse(struct power_conf *conf, const char *text)
{
	power_conf_parse(conf, text, strlen(text));
}

static void test_conf(void **state)
{
	struct power_conf conf;

	(void)state;
	parse(&conf, "# comment\r\n"
		     "<PARAM TYPE=CLOCK NAME=GPU >\r\n"
		     "MAX_FREQ /sys/devices/a/max_freq\r\n"
		     "MAX_FREQ_KNEXT /sys/devices/b/max_freq\r\n"
		     "< PARAM TYPE=HWMON NAME=VDDIN_OC_LIMIT >\nWARN /sys/x curr1_max\n"
		     "< FAN_CONFIG DEFAULT=quiet >\nanything at all\n"
		     "< POWER_MODEL ID=4 NAME=A >\n"
		     "  CPU_ONLINE CORE_0 1\n\tCPU_ONLINE CORE_1 0\nCPU_ONLINE CORE_2 1\n"
		     "CPU_A57 MIN_FREQ  0\nCPU_A57 MAX_FREQ 345600\nCPU_DENVER MAX_FREQ 2035200\n"
		     "GPU MAX_FREQ 640000000\nEMC MAX_FREQ 0\nDLA0_CORE MAX_FREQ 1\n"
		     "VDDIN_OC_LIMIT WARN 3000\nGPU_POWER_CONTROL_ENABLE GPU_PWR_CNTL_EN on\n"
		     "< POWER_MODEL ID=5 NAME=B >\nGPU MAX_FREQ 2147483647\nCPU_A57 MAX_FREQ -1\n"
		     "< PM_CONFIG DEFAULT=5 >");
	assert_int_equal(conf.bad_lines, 0);
	assert_int_equal(conf.nmodes, 2);
	assert_int_equal(conf.default_id, 5);
	assert_int_equal(conf.modes[0].cpus, 2);
	assert_close(conf.modes[0].cpu_mhz, 2035.2);
	assert_close(conf.modes[0].gpu_mhz, 640);
	assert_true(isinf(conf.modes[0].emc_mhz));
	assert_int_equal(conf.modes[0].tpc_pg_mask, -1);
	assert_true(isinf(conf.modes[1].gpu_mhz) && isinf(conf.modes[1].cpu_mhz));
	assert_true(isnan(conf.modes[1].emc_mhz));
	assert_string_equal(conf.gpu_max_freq.path[0], "/sys/devices/a/max_freq");
	assert_string_equal(conf.gpu_max_freq.path[1], "/sys/devices/b/max_freq");
	assert_ptr_equal(power_conf_mode(&conf, 5), &conf.modes[1]);
	assert_null(power_conf_mode(&conf, 0));
}

/* Each of these lines is bad, alone and inside of a mode, and hides no other. */
static void test_conf_bad_lines(void **state)
{
	static const char *const lines[] = {
		"GPU MAX_FREQ",
		"GPU MAX_FREQ 1e9",
		"GPU MAX_FREQ 0",
		"GPU MAX_FREQ -2",
		"GPU MAX_FREQ 99999999999999999999",
		"CPU_ONLINE CORE_0 2",
		"CPU_A57 MAX_FREQ x",
		"CPU_A57 MAX_FREQ 0",
		"EMC MAX_FREQ -7",
		"TPC_POWER_GATING TPC_PG_MASK 0xf0",
		"TPC_POWER_GATING TPC_PG_MASK -1",
		"word",
	};
	struct power_conf conf;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(text, sizeof(text), "%s\n", lines[i]);
		parse(&conf, text);
		assert_int_equal(conf.bad_lines, 1);
		snprintf(text, sizeof(text), "< POWER_MODEL ID=1 NAME=A >\n%s\nEMC MAX_FREQ -1\n",
			 lines[i]);
		parse(&conf, text);
		assert_int_equal(conf.bad_lines, 1);
		assert_int_equal(conf.nmodes, 1);
		assert_true(isinf(conf.modes[0].emc_mhz));
	}
}

static void test_conf_bad_headers(void **state)
{
	static const char *const lines[] = {
		"< POWER_MODEL ID=1 NAME=A",	"< POWER_MODEL ID=x NAME=A >",
		"< POWER_MODEL ID=-1 NAME=A >", "< POWER_MODEL ID=1000 NAME=A >",
		"< POWER_MODEL NAME=A >",	"< POWER_MODEL ID=1 >",
		"< POWER_MODEL ID=1 NAME= >",	"< POWER_MODEL ID=0 NAME=AGAIN >",
		"< PM_CONFIG DEFAULT=max >",	"< PM_CONFIG >",
		"< PARAM TYPE=CLOCK >",		"<>",
	};
	struct power_conf conf;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(text, sizeof(text),
			 "< POWER_MODEL ID=0 NAME=FIRST >\nGPU MAX_FREQ 5000000\n%s\n"
			 "GPU MAX_FREQ 7000000\n",
			 lines[i]);
		parse(&conf, text);
		assert_int_equal(conf.bad_lines, 1);
		assert_int_equal(conf.nmodes, 1);
		assert_close(conf.modes[0].gpu_mhz, 5);
		assert_int_equal(conf.default_id, -1);
	}
}

/* Only paths below /sys are believed. */
static void test_conf_paths(void **state)
{
	struct power_conf conf;
	char text[512];

	(void)state;
	parse(&conf, "< PARAM TYPE=CLOCK NAME=EMC >\nMAX_FREQ /etc/shadow\n"
		     "MAX_FREQ /sys/../etc/shadow\nMAX_FREQ sys/x\nMAX_FREQ\n"
		     "MAX_FREQ_KNEXT /sys/kernel/cap\n");
	assert_int_equal(conf.bad_lines, 4);
	assert_string_equal(conf.emc_max_freq.path[0], "");
	assert_string_equal(conf.emc_max_freq.path[1], "/sys/kernel/cap");
	snprintf(text, sizeof(text), "< PARAM TYPE=CLOCK NAME=EMC >\nMAX_FREQ /sys/%0300d\n", 0);
	parse(&conf, text);
	assert_int_equal(conf.bad_lines, 1);
	assert_string_equal(conf.emc_max_freq.path[0], "");
}

static void test_conf_bounds(void **state)
{
	static char text[8192];
	struct power_conf conf;
	size_t n = 0;

	(void)state;
	for (int id = 0; id < POWER_CONF_MODES + 9; id++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "<POWER_MODEL ID=%d NAME=M>\n",
				      id);
	parse(&conf, text);
	assert_int_equal(conf.nmodes, POWER_CONF_MODES);
	assert_int_equal(conf.bad_lines, 9);
	memset(text, 'A', sizeof(text) - 1);
	parse(&conf, text);
	assert_int_equal(conf.bad_lines, 1);
	power_conf_parse(&conf, "#\0\n# a < b\n\0", 12);
	assert_int_equal(conf.bad_lines, 2);
	power_conf_parse(&conf, "", 0);
	assert_int_equal(conf.bad_lines, 0);
	snprintf(text, sizeof(text), "< POWER_MODEL ID=1 NAME=%0200d >\n", 7);
	parse(&conf, text);
	assert_int_equal(conf.nmodes, 1);
}

/* Cut at every byte and with every byte damaged: no crash, no mode made up. */
static void test_conf_damage(void **state)
{
	static char text[16384];
	struct power_conf conf;
	FILE *file = fopen(BOARDS "orin-nano-super-r36/etc/nvpmodel.conf", "re");
	size_t n;

	(void)state;
	assert_non_null(file);
	n = fread(text, 1, sizeof(text), file);
	fclose(file);
	assert_in_range(n, 2000, sizeof(text) - 1);
	for (size_t len = 0; len <= n; len++) {
		char *copy = malloc(len + !len);

		memcpy(copy, text, len);
		power_conf_parse(&conf, copy, len);
		assert_true(conf.nmodes <= 4);
		free(copy);
	}
	for (size_t i = 0; i < n; i++) {
		char byte = text[i];

		text[i] = (char)(byte ^ (1 << i % 8));
		power_conf_parse(&conf, text, n);
		assert_true(conf.nmodes >= 3 && conf.nmodes <= 4);
		text[i] = byte;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conf),
		cmocka_unit_test(test_conf_bad_lines),
		cmocka_unit_test(test_conf_bad_headers),
		cmocka_unit_test(test_conf_paths),
		cmocka_unit_test(test_conf_bounds),
		cmocka_unit_test(test_conf_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
