/* SPDX-License-Identifier: GPL-2.0-only */
/* Several runs of one command side by side: the object of `tegratrace run --summary`. */
#ifndef TEGRATRACE_REPORT_JSON_REPEATS_H
#define TEGRATRACE_REPORT_JSON_REPEATS_H

#include <stdio.h>

#include "report/repeats_report.h"

/* The object on one line; unknown is null. 0, -ENOMEM, or -errno of a failed write. */
int report_repeats_json_write(FILE *out, const struct repeats_report *report);

#endif
