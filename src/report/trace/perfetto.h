/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_REPORT_PERFETTO_H
#define TEGRATRACE_REPORT_PERFETTO_H

#include <stdio.h>

#include "diagnose/verdict.h"
#include "session/session.h"

/* A native trace of Perfetto (perfetto.proto). Returns 0 or -errno. */
int report_perfetto_write(FILE *out, const struct session *session, const struct verdict *verdict);

#endif
