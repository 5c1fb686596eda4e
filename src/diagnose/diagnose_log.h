/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_DIAGNOSE_LOG_H
#define TEGRATRACE_DIAGNOSE_LOG_H

#include "diagnose/verdict.h"

/*
 * The verdict on a plain tegrastats log: phase by phase, the headline about the steady one. It
 * never sees a thread, so what the CPU side does is told with less confidence.
 */
void diagnose_log(const struct session *session, struct verdict *verdict);

#endif
