/* SPDX-License-Identifier: GPL-2.0-only */
/* A tegrastats log as the whole of a session: no threads, no window of ours. */
#ifndef TEGRATRACE_TEGRA_LOG_H
#define TEGRATRACE_TEGRA_LOG_H

#include <stddef.h>

#include "session/session.h"
#include "tegra/reader.h"

struct tegra_log_options {
	double interval_ms; /* between lines, when they carry no date; NAN unknown */
	/* Called for every record, before it is added up; may be NULL. False ends the reading. */
	tegra_record_fn on_record;
	void *ctx;
};

/*
 * Read a log ("-" is standard input) into a fresh session in memory that does not grow with it.
 * Returns 0; -ENODATA when no line is a record; -EISDIR, -ENOENT ...; then `error` has one line.
 */
int tegra_log_read(struct session *session, const char *path,
		   const struct tegra_log_options *options, char *error, size_t error_size);

#endif
