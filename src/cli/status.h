/* SPDX-License-Identifier: GPL-2.0-only */
/* The live status line on a terminal. */
#ifndef TEGRATRACE_STATUS_H
#define TEGRATRACE_STATUS_H

#include <stdint.h>

#include "session/session.h"

/* tegra is NULL before the first sample. */
void status_show(int64_t elapsed_ns, int threads, const struct tegra_summary *tegra);
void status_clear(void);

#endif
