/* SPDX-License-Identifier: GPL-2.0-only */
/* A contended lock among the waits on a futex; shared with user space. */
#ifndef __TEGRATRACE_FUTEX_H
#define __TEGRATRACE_FUTEX_H

#include "abi.h"

/* linux/futex.h */
#define TT_FUTEX_CMD_MASK    0x7f
#define TT_FUTEX_WAIT	     0
#define TT_FUTEX_LOCK_PI     6
#define TT_FUTEX_WAIT_BITSET 9
#define TT_FUTEX_LOCK_PI2    13
#define TT_FUTEX_WAITERS     0x80000000u
#define TT_FUTEX_TID_MAX     0x400000u /* PID_MAX_LIMIT */

/*
 * What the call tells, as TT_SITE_*. glibc's mutex waits with FUTEX_WAIT for the value 2 ("taken,
 * with waiters"), a robust one for its owner's tid with the bit of waiters. Its read-write lock (since
 * 2.25) waits with FUTEX_WAIT_BITSET for 2 or 3 (PTHREAD_RWLOCK_FUTEX_USED, or that and 1), and a
 * mutex with a time-out for 2; but so does whatever waits for a counter that is there just now, so
 * that is only a lock where it stays so (src/probe/waits/wait_futex.c). Condition variables (up to
 * glibc 2.40) and semaphores wait for 0.
 */
static inline __attribute__((always_inline)) __u16 tt_futex_flags(__u32 op, __u32 value)
{
	switch (op & TT_FUTEX_CMD_MASK) {
	case TT_FUTEX_LOCK_PI:
	case TT_FUTEX_LOCK_PI2:
		return TT_SITE_FUTEX_LOCK;
	case TT_FUTEX_WAIT:
		if (value == 2 || value - TT_FUTEX_WAITERS - 1 < TT_FUTEX_TID_MAX)
			return TT_SITE_FUTEX_LOCK;
		return 0;
	case TT_FUTEX_WAIT_BITSET:
		return value == 2 || value == 3 ? TT_SITE_FUTEX_MAYBE : 0;
	default:
		return 0;
	}
}

#endif /* __TEGRATRACE_FUTEX_H */
