/* SPDX-License-Identifier: GPL-2.0-only */
/* The session by time, for pages and plots. */
#ifndef TEGRATRACE_REPORT_JSON_SERIES_H
#define TEGRATRACE_REPORT_JSON_SERIES_H

#include <jansson.h>

#include "diagnose/verdict.h"
#include "session/session.h"

/*
 * One object; unknown is null, shares are 0-1:
 *
 *   interval_ms, t_ms[], gpu_busy[], gpu_mhz[], emc_busy[], emc_mhz[], temps{hottest[]},
 *   power_mw[], core_max[], ram_mb[], swap_mb[]     of the board, of one length;
 *   host{interval_ms, t_ms[], cpus{"0": busy[]}, oncpu[] (CPUs), runq[], stopped[] (threads),
 *        offcpu{disk[], other[]} (threads), minor_faults[], major_faults[], read_bytes[],
 *        write_bytes[] (a second)}                  of one length: means before t_ms;
 *   phases[]                                        as in the report.
 *
 * NULL when out of memory.
 */
json_t *json_series(const struct session *session, const struct verdict *verdict);

#endif
