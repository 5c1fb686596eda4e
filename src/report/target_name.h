/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_REPORT_TARGET_NAME_H
#define TEGRATRACE_REPORT_TARGET_NAME_H

#include <stddef.h>

#include "session/session.h"

/* "name (PID)" of the first target, sanitised, as it was last called; "" without one. */
void report_target_name(char *dst, size_t size, const struct session *session);

#endif
