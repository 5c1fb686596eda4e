/* SPDX-License-Identifier: GPL-2.0-only */
/* A contended mutex among the waits on a futex; shared with user space. */
#ifndef __TEGRATRACE_FUTEX_H
#define __TEGRATRACE_FUTEX_H

#include <stdbool.h>

/* linux/futex.h */
#define TT_FUTEX_CMD_MASK 0x7f
#define TT_FUTEX_WAIT	  0
#define TT_FUTEX_LOCK_PI  6
#define TT_FUTEX_LOCK_PI2 13

/*
 * glibc's mutex waits with FUTEX_WAIT for the value 2 ("taken, with waiters"); its condition
 * variables, semaphores and joins wait with FUTEX_WAIT_BITSET.
 */
static inline __attribute__((always_inline)) bool tt_is_mutex(__u32 op, __u32 value)
{
	op &= TT_FUTEX_CMD_MASK;
	return (op == TT_FUTEX_WAIT && value == 2) || op == TT_FUTEX_LOCK_PI ||
	       op == TT_FUTEX_LOCK_PI2;
}

#endif /* __TEGRATRACE_FUTEX_H */
