/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_REPORT_CHROME_H
#define TEGRATRACE_REPORT_CHROME_H

#include <stdio.h>

#include "diagnose/verdict.h"
#include "session/session.h"

/* The same in the Trace Event Format of Chrome: one JSON object. Returns 0 or -errno. */
int report_chrome_write(FILE *out, const struct session *session, const struct verdict *verdict);

#endif
