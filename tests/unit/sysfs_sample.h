/* SPDX-License-Identifier: GPL-2.0-only */
/* One sample of a board folder, and what it must hold. Include it after cmocka.h. */
#ifndef TEGRATRACE_TEST_SYSFS_SAMPLE_H
#define TEGRATRACE_TEST_SYSFS_SAMPLE_H

#include "board_folder.h"
#include "tegra/sysfs.h"

static struct sysfs *sysfs;
static struct tegra_sample sample;

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
	remove_board();
	return 0;
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

#endif
