/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples of tegrastats added up to the session's summary. */
#ifndef TEGRATRACE_TEGRA_SUMMARY_H
#define TEGRATRACE_TEGRA_SUMMARY_H

#include "session/session.h"
#include "tegra/line.h"

void tegra_summary_add(struct tegra_summary *summary, const struct tegra_sample *sample);

/* One point of the time series; t_ns is given through. */
void tegra_point_of(const struct tegra_sample *sample, int64_t t_ns, struct tegra_point *point);

#endif
