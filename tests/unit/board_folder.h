/* SPDX-License-Identifier: GPL-2.0-only */
/* A copy of a board of tests/fixtures/boards, below TEGRATRACE_ROOT, that a test may change. */
#ifndef TEGRATRACE_TEST_BOARD_FOLDER_H
#define TEGRATRACE_TEST_BOARD_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tegra/sysfs.h"

#define PATH_SIZE   512
#define NANO_EMC    "/sys/kernel/debug/clk/override.emc/clk_rate"
#define BPMP_EMC    "/sys/kernel/debug/bpmp/debug/clk/emc/rate"
#define ORIN_GPU    "/sys/class/devfreq/17000000.gpu"
#define ORIN_MC_ALL "/sys/kernel/debug/cactmon/mc_all"
#define LOAD	    "/sys/devices/platform/gpu.0/load"
#define ZONE(n)	    "/sys/class/thermal/thermal_zone" #n

static char root[128];

static inline void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void put(const char *path, const char *text, ...)
	__attribute__((format(printf, 2, 3)));

static inline void run(const char *format, ...)
{
	char command[PATH_SIZE * 2];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

/* Rewrites a file of the copy in place, so that open descriptors see the new text. */
static inline void put(const char *path, const char *text, ...)
{
	char full[PATH_SIZE];
	va_list args;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, "w");
	if (!file) {
		run("mkdir -p '%.*s'", (int)(strrchr(full, '/') - full), full);
		file = fopen(full, "w");
	}
	assert_non_null(file);
	va_start(args, text);
	vfprintf(file, text, args);
	va_end(args);
	assert_int_equal(fclose(file), 0);
}

static inline void drop(const char *path)
{
	run("rm -rf '%s%s'", root, path);
}

/* A fresh root with a copy of that board, or an empty one. */
static inline void board(const char *name)
{
	snprintf(root, sizeof(root), "/tmp/tegratrace-sysfs-XXXXXX");
	assert_non_null(mkdtemp(root));
	chmod(root, 0755);
	if (name)
		run("cp -a tests/fixtures/boards/%s/. '%s'", name, root);
	setenv("TEGRATRACE_ROOT", root, 1);
}

/* In the folder that the board's own files make the GPU's. */
static inline void put_gpu(const char *fallback, const char *name, const char *value)
{
	char dir[1][SYSFS_PATH_SIZE], path[PATH_SIZE];
	bool found = sysfs_gpu_devfreq(dir, 1);

	snprintf(path, sizeof(path), "%s/%s", found ? dir[0] : fallback, name);
	put(path, "%s\n", value);
}

/* Whether there is a copy or not. */
static inline void remove_board(void)
{
	if (root[0])
		run("rm -rf '%s'", root);
	root[0] = '\0';
	unsetenv("TEGRATRACE_ROOT");
}

#endif
