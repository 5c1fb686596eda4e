/* SPDX-License-Identifier: GPL-2.0-only */
/* Which board this is. All paths lie below TEGRATRACE_ROOT when that is set. */
#ifndef TEGRATRACE_TEGRA_BOARD_H
#define TEGRATRACE_TEGRA_BOARD_H

#include "session/session.h"

/* Kernel, architecture, online CPUs and, from the device tree, the model; sanitised. */
void board_read(struct host_info *host);

#endif
