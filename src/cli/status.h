/* SPDX-License-Identifier: GPL-2.0-only */
/* The live status line on a terminal: how the board and the target do, and did in the last seconds. */
#ifndef TEGRATRACE_STATUS_H
#define TEGRATRACE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/spark.h"
#include "session/session.h"

/* Zeroed before the window. */
struct status {
	int64_t elapsed_ns, cell_end_ns; /* since the window's begin */
	int threads;
	int64_t board_samples; /* of which those of the last tick are no more new */
	size_t host_points;
	double gpu_busy, emc_busy, hottest_c, runq_threads; /* the last known; NAN unknown */
	char hottest[SESSION_NAME_LEN];
	struct spark gpu, emc, heat, runq;
};

/* What a tick brought; tegra is NULL before the first sample. */
void status_take(struct status *status, int64_t elapsed_ns, int threads,
		 const struct tegra_summary *tegra, const struct host_series *host);

/*
 * The line, of at most so many columns: without room first the spark lines get shorter, then what
 * stands last goes. Spark lines need UTF-8.
 */
void status_render(char *dst, size_t size, const struct status *status, int columns, bool utf8);

/* Whether a terminal of this LC_ALL, LC_CTYPE and LANG takes UTF-8; NULL: not set. */
bool status_is_utf8(const char *lc_all, const char *lc_ctype, const char *lang);

/* Renders it on the terminal, if there is one that wants it. */
void status_show(const struct status *status);
void status_clear(void);

#endif
