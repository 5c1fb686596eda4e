/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel stacks of the `stacks` table with the names of their functions. Private to src/probe. */
#ifndef TEGRATRACE_KERNEL_STACKS_H
#define TEGRATRACE_KERNEL_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "abi.h"
#include "probe/tracer.h"

struct kernel_stacks;

struct kernel_stack {
	const char *frames[TT_STACK_DEPTH]; /* innermost first */
	int n;
};

/*
 * Read the stacks with these keys (0 and repeats are fine) and name their functions. Returns 0;
 * -EACCES when the kernel hides its symbols (then every stack has 0 frames), -ENOMEM.
 */
int kernel_stacks_read(struct kernel_stacks **stacks, const struct tracer *tracer,
		       const uint64_t *keys, size_t n);
void kernel_stacks_free(struct kernel_stacks *stacks);

/* Zero frames for an unknown key. */
void kernel_stacks_get(const struct kernel_stacks *stacks, uint64_t key,
		       struct kernel_stack *stack);

#endif
