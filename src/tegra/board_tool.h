/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NVIDIA's programs that change clocks. They run as root, so they are looked for in the system's own
 * folders (below TEGRATRACE_ROOT when that is set), never on PATH.
 */
#ifndef TEGRATRACE_TEGRA_BOARD_TOOL_H
#define TEGRATRACE_TEGRA_BOARD_TOOL_H

#include <stdbool.h>
#include <stddef.h>

/* Fills the path of "nvpmodel" or "jetson_clocks". Returns 0 or -ENOENT. */
int board_tool_find(const char *name, char *path, size_t size);

struct board_tool_result {
	int status;	 /* of waitpid */
	char first[160]; /* the first line that it printed; of those that begin so: "Error" */
	bool error;	 /* such a line was there; jetson_clocks then still exits with 0 */
	bool reboot;	 /* it spoke of a reboot */
};

/*
 * Runs it to its end, without input and out of reach of the terminal's Ctrl-C, with `home` as its
 * HOME. `args` ends with NULL and leaves the name out. It goes on to its end when we are killed, and
 * as long keeps `lock` open. Returns 0, -errno, or -ETIMEDOUT: killed.
 */
int board_tool_run(const char *path, const char *const *args, const char *home, int lock,
		   struct board_tool_result *result);

#endif
