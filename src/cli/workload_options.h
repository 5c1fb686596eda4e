/* SPDX-License-Identifier: GPL-2.0-only */
/* What the inference computes and how fast, as options shared by runs, logs and the roofline. */
#ifndef TEGRATRACE_WORKLOAD_OPTIONS_H
#define TEGRATRACE_WORKLOAD_OPTIONS_H

#include <argp.h>

/*
 * An argp child; its input is a struct workload that workload_init() has set up. Numbers are
 * parsed once for all commands: a ceiling or a size without an SI prefix is refused, since 16.7
 * and 102 are always meant as T and G. Ends the program (EXIT_USAGE) with one line on a bad value.
 */
extern const struct argp workload_argp;

#endif
