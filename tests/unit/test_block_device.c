/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of device numbers, in a /sys made for it: links point up the tree, as the kernel's do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/block_io.h"

static char root[] = "/tmp/tegratrace-block-XXXXXX";

static const char *const made[] = {"/sys", "/sys/dev", "/sys/dev/block"};

static const struct {
	const char *number, *target;
} links[] = {
	{"259:0", "../../devices/platform/14160000.pcie/nvme/nvme0/nvme0n1"},
	{"179:1", "../../devices/platform/3460000.mmc/mmcblk0/mmcblk0p1"},
	{"7:3", "loop3"},
	{"8:0", "../../devices/evil\x1b[31m"},
	{"8:16", "../../devices/"},
};

#define LINKS (sizeof(links) / sizeof(links[0]))

static void link_path(char path[PATH_MAX], size_t i)
{
	snprintf(path, PATH_MAX, "%s/sys/dev/block/%s", root, links[i].number);
}

static int make(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", root, made[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	for (size_t i = 0; i < LINKS; i++) {
		link_path(path, i);
		assert_int_equal(symlink(links[i].target, path), 0);
	}
	return 0;
}

static int unmake(void **state)
{
	char path[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < LINKS; i++) {
		link_path(path, i);
		unlink(path);
	}
	for (size_t i = 3; i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", root, made[i]);
		rmdir(path);
	}
	return rmdir(root);
}

static void expect(unsigned int major, unsigned int minor, const char *name)
{
	char got[32];

	block_device_name(root, major, minor, got, sizeof(got));
	assert_string_equal(got, name);
}

static void names(void **state)
{
	(void)state;
	expect(259, 0, "nvme0n1");
	expect(179, 1, "mmcblk0p1");
	expect(7, 3, "loop3");
	expect(8, 0, "evil\\x1b[31m");
	expect(8, 16, "8:16");
	expect(253, 1048575, "253:1048575");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names)};

	return cmocka_run_group_tests(tests, make, unmake);
}
