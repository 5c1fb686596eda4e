/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The account of one thread from the kernel's own books, read now and then. Pure. Private to src/probe.
 *
 * On-CPU and run-queue time are exact, sleep is the rest: it is charged when the thread is found
 * asleep, for then the books are up to date. Of one that is found runnable the books are late by up to
 * a tick and leave out interrupts and the delay under way: its rest stays unknown until it sleeps, or,
 * when the books stand still, is that delay.
 */
#ifndef TEGRATRACE_PROC_BOOKS_H
#define TEGRATRACE_PROC_BOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "abi.h"

/* /proc/PID/task/TID/schedstat */
struct proc_reading {
	uint64_t oncpu_ns, runq_ns, slices;
};

struct proc_account {
	struct proc_reading base; /* at the begin */
	struct proc_reading last;
	uint64_t begin_ns;
	uint64_t asleep_ns, stopped_ns; /* charged so far */
	uint64_t rest_ns;		/* not told, when the books moved last */
};

void proc_account_begin(struct proc_account *account, const struct proc_reading *reading,
			uint64_t begin_ns);

/* The bucket of a state letter; TT_UNKNOWN for runnable, TT_DEAD. */
__u32 proc_bucket(char state);

/* Longer than any tick: the books of a thread that runs do not stand still for so long. */
#define PROC_TICKS_NS 12000000

/*
 * The thread was found in `bucket` at now_ns. Sets the sums of the record, which add up to
 * now_ns - begin_ns, and what it holds now. Returns the sleep that this reading has brought.
 */
uint64_t proc_account_read(struct proc_account *account, struct tt_thread *t,
			   const struct proc_reading *reading, __u32 bucket, uint64_t now_ns);

/*
 * The books do not say whether a delay followed a wakeup or a preemption: in proportion to the
 * switches of either kind, each of which is followed by one.
 */
void proc_account_split(struct tt_thread *t, uint64_t voluntary, uint64_t involuntary);

#endif
