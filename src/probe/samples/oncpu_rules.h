/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is a thread that is on the CPU at work, or does it burn the CPU to wait? Told by the library and
 * function that it is in.
 */
#ifndef TEGRATRACE_ONCPU_RULES_H
#define TEGRATRACE_ONCPU_RULES_H

#include <stddef.h>

#include "session/oncpu.h"

struct oncpu_frame {
	const char *library;  /* file name: "libcuda.so.1" */
	const char *function; /* demangled; "" unknown */
};

struct oncpu_rule {
	const char *library;  /* patterns of fnmatch(3); "|" between alternatives */
	const char *function; /* "" = also where the function is not known */
	enum oncpu_kind kind;
	const char *reason;
};

/*
 * The first rule that matches decides, NULL when none does: that is work. Frames are innermost
 * first, at least the innermost. `kernel` is the kernel function; NULL when in user mode or unknown.
 */
const struct oncpu_rule *oncpu_rule_for(const struct oncpu_frame *frames, size_t n,
					const char *kernel);

enum oncpu_kind oncpu_kind_of(const struct oncpu_frame *frames, size_t n, const char *kernel);

/* All rules, for tests and --explain; *n gets their number. */
const struct oncpu_rule *oncpu_rules(size_t *n);

#endif
