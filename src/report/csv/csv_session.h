/* SPDX-License-Identifier: GPL-2.0-only */
/* A session as CSV files: RFC 4180, a header with units, unknown is an empty cell. */
#ifndef TEGRATRACE_REPORT_CSV_SESSION_H
#define TEGRATRACE_REPORT_CSV_SESSION_H

#include "diagnose/verdict.h"
#include "session/session.h"

/*
 * Writes timeseries.csv, threads.csv and edges.csv into the folder of that descriptor. The columns
 * of the latter two are those of a recording. Returns 0 or -errno.
 */
int csv_session_write(int folder, const struct session *session, const struct verdict *verdict);

#endif
