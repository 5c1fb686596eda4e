/* SPDX-License-Identifier: GPL-2.0-only */
/* What the inference computes and how fast, as options shared by runs and logs. */
#ifndef TEGRATRACE_WORKLOAD_OPTIONS_H
#define TEGRATRACE_WORKLOAD_OPTIONS_H

#include <argp.h>

/* An argp child; its input is a struct workload that workload_init() has set up. */
extern const struct argp workload_argp;

#endif
