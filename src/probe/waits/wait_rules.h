/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a sleep was for, from where the thread slept and who woke it. Pure: no kernel, no /proc. The
 * tables are in wait_calls.c (syscalls) and wait_names.c (kernel functions, files, wakers).
 *
 * Every part of the evidence may be missing: a rung without type data has no in_iowait and perhaps no
 * syscall number, a short sleep has no stack, a sleep that the window's end cut has no waker.
 *
 * Order of the decision, first that tells:
 *   1. page fault   the sleep was entered by an exception, or the fault handler is on the stack
 *   2. disk         in_iowait, the fsync family, or the block layer innermost on the stack
 *   3. gpu          inside a CUDA synchronisation call
 *   4. function     the innermost kernel function that can only mean one thing (a driver, a lock)
 *   5. lock         a futex as a contended lock waits on it
 *   6. file         what the descriptor is, where that can only mean one thing
 *   7. syscall      where it can only mean one thing (nanosleep, wait4)
 *   8. waker        where the site is a meeting place (futex, pipe, poll, socket) or not known: a
 *                   thread, a timer, an interrupt by its name. A waker thread that itself had just
 *                   been woken by the GPU, or had read from disk, only relayed that: one hop inherited
 *   9. what the site is most often for, when the waker does not tell either
 */
#ifndef TEGRATRACE_WAIT_RULES_H
#define TEGRATRACE_WAIT_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "session/waits.h"

#define WAIT_SYSCALL_UNKNOWN (-1) /* the rung cannot see it */
#define WAIT_SYSCALL_NONE    (-2) /* entered by an exception: a page fault */

/* Where the thread slept. */
struct wait_site {
	int syscall;	    /* number on this build's architecture, or WAIT_SYSCALL_* */
	unsigned int flags; /* TT_SITE_* */
	const char
		*file; /* the descriptor: as fd_names_get() gives it or as readlink does; or NULL */
	const char *const *frames; /* kernel functions, innermost first */
	int nframes;		   /* 0: no stack */
};

/*
 * Name of a task or kernel thread ("irq/233-gk20a_s"), action names of an interrupt ("nvme0q1",
 * several joined by ", "), or name of a softirq ("NET_RX"). NULL or "": not known.
 */
struct wait_waker {
	enum waker_kind kind;
	const char *name;
};

struct wait_evidence {
	struct wait_site site;
	struct wait_waker waker;
	struct wait_waker via; /* what had woken the waker a moment before; WAKER_NONE */
	bool via_disk;	       /* the waker itself had waited for a disk a moment before */
};

struct wait_judgement {
	enum wait_class class;
	bool inherited; /* via, or via_disk, gave the class */
	char site[64];	/* sanitised: "futex", "ioctl /dev/nvhost-ctrl", "page fault"; may be "" */
};

void wait_judge(const struct wait_evidence *evidence, struct wait_judgement *judgement);

/* The first argument is a descriptor. */
bool wait_syscall_takes_fd(int syscall);

/* Name of a syscall of this build's architecture that can sleep, NULL for any other. */
const char *wait_syscall_name(int syscall);

/*
 * What a futex call with this second and third argument tells, as TT_SITE_FUTEX_*: a contended mutex
 * (of glibc, or one with priority inheritance), or what may be a read-write lock. Condition
 * variables, semaphores and joins are neither.
 */
unsigned int wait_futex_flags(uint64_t op, uint64_t value);

/* A descriptor, as wait_site.file, that belongs to the GPU or to another Tegra engine. */
bool wait_is_gpu_file(const char *file);

/* The waker (interrupt, kernel thread) is the GPU's or another engine's. */
bool wait_is_gpu_waker(const struct wait_waker *waker);

#endif
