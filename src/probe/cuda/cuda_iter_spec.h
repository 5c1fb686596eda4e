/* SPDX-License-Identifier: GPL-2.0-only */
/* What --iter names: a function, or a user-space tracepoint, each call of which is an iteration. */
#ifndef TEGRATRACE_CUDA_ITER_SPEC_H
#define TEGRATRACE_CUDA_ITER_SPEC_H

#include <stdbool.h>

struct iter_spec {
	bool given;
	bool usdt;
	char symbol[128];  /* or the tracepoint's name */
	char provider[64]; /* of a tracepoint */
	char library[192]; /* base name or absolute path in the target; empty: its program */
};

/* "SYMBOL[@LIB]" or "usdt:PROVIDER:NAME[@LIB]". Returns 0 or -EINVAL. */
int iter_spec_parse(const char *text, struct iter_spec *spec);

#endif
