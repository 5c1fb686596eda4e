/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands at the end of a job of one or several runs: how they compare, the checklist, the files. */
#ifndef TEGRATRACE_REPORT_TEXT_REPEATS_H
#define TEGRATRACE_REPORT_TEXT_REPEATS_H

#include <stdio.h>

#include "report/repeats_report.h"

/* 0, -ENOMEM, or -errno of a failed write. */
int report_repeats_write(FILE *out, const struct repeats_report *report, bool color);

#endif
