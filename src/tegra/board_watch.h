/* SPDX-License-Identifier: GPL-2.0-only */
/* The board during a window: what it is, and what held its clocks back. */
#ifndef TEGRATRACE_TEGRA_BOARD_WATCH_H
#define TEGRATRACE_TEGRA_BOARD_WATCH_H

#include <stdint.h>

#include "session/session.h"

struct board_watch;

/* NULL when out of memory; every other call takes NULL. now_ns is CLOCK_MONOTONIC. */
struct board_watch *board_watch_open(void);
void board_watch_close(struct board_watch *watch);

void board_watch_begin(struct board_watch *watch, int64_t now_ns);
void board_watch_poll(struct board_watch *watch, int64_t now_ns);

/* Fills board, throttle and the board's names in host. */
void board_watch_end(struct board_watch *watch, int64_t now_ns, struct session *session);

#endif
