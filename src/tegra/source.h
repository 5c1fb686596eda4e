/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where GPU samples come from during a run: a spawned tegrastats, its text on standard input, in a
 * FIFO or a log file, or, without any of them, the files that tegrastats reads itself. Whatever the source does, it costs samples, never the run.
 */
#ifndef TEGRATRACE_TEGRA_SOURCE_H
#define TEGRATRACE_TEGRA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/session.h"
#include "tegra/line.h"

struct tegra_source;

struct tegra_source_options {
	const char *command; /* --tegrastats CMD; NULL: tegrastats when it is on PATH */
	const char *log;     /* --tegra-log FILE, FIFO or "-"; wins over command */
	int interval_ms;
	int gpu_hz; /* of sysfs: read the GPU load that often between samples; 0 = with them */
};

/*
 * Returns 0 with *source NULL when there is no source to be had (not a Jetson board); -errno
 * with one line in `error` when the one asked for cannot be opened.
 */
int tegra_source_open(const struct tegra_source_options *options, struct tegra_source **source,
		      char *error, size_t error_size);

/* Descriptor to poll for input; -1 when there is nothing to wait for (ended, or a plain file). */
int tegra_source_fd(const struct tegra_source *source);

/* The process that prints the lines, which the source waits for itself; 0 = none. NULL is allowed. */
pid_t tegra_source_child(const struct tegra_source *source);

/* No more can come. */
bool tegra_source_ended(const struct tegra_source *source);

/* When tegra_source_read should be called without input; INT64_MAX when there is no need. */
int64_t tegra_source_next_ns(const struct tegra_source *source);

/* Take what has arrived, without blocking; now_ns (CLOCK_MONOTONIC) is the arrival time. */
void tegra_source_read(struct tegra_source *source, int64_t now_ns);

/* The window begins: samples so far are older than it. */
void tegra_source_begin(struct tegra_source *source, int64_t now_ns);

/*
 * Called for each sample of the window from now on, with its text where it has one. Its time is
 * that of tegra_source_read().
 */
typedef void (*tegra_sample_fn)(void *ctx, const struct tegra_sample *sample, const char *text,
				size_t len, int64_t now_ns);
void tegra_source_on_sample(struct tegra_source *source, tegra_sample_fn fn, void *ctx);

/* Latest values for the status line; NULL before the first sample. */
const struct tegra_summary *tegra_source_latest(const struct tegra_source *source);

/*
 * The window ended at now_ns: stop what was spawned, fill the summary, free the source. With a
 * NULL source the summary says that there was none.
 */
void tegra_source_close(struct tegra_source *source, int64_t now_ns, struct tegra_summary *out);

#endif
