/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Folded stacks, for flame graphs: one line a stack, "group;state;outermost;...;innermost US". The
 * state is on-CPU, on-CPU:spin, on-CPU:gpu-spin or off-CPU:CLASS; every count is of microseconds, so
 * that one graph shows both (a sample stands for its share of a second).
 */
#ifndef TEGRATRACE_REPORT_FOLDED_H
#define TEGRATRACE_REPORT_FOLDED_H

#include <stdio.h>

#include "session/session.h"

/* Returns 0, -ENOMEM, or -errno of a failed write. */
int report_folded_write(FILE *out, const struct session *session);

#endif
