/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a thread sleeps at this moment, from /proc (below the root of procfs.h). The kernel leaves the
 * scheduler and the lock functions out of these stacks: who waits for a mutex shows its caller only.
 */
#ifndef TEGRATRACE_SLEEP_SITE_H
#define TEGRATRACE_SLEEP_SITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/waits/wait_rules.h"

#define SLEEP_SITE_FRAMES 24

/* Holds pointers into itself: not to be copied. */
struct sleep_site {
	bool running;	 /* on a CPU, or queued: not asleep */
	int syscall;	 /* number, or WAIT_SYSCALL_UNKNOWN, WAIT_SYSCALL_NONE */
	bool args_known; /* of the syscall */
	uint64_t args[6];
	int nframes; /* 0 where the kernel gives neither a stack nor a wait channel */
	const char *frames[SLEEP_SITE_FRAMES]; /* innermost first, sanitised */
	char text[SLEEP_SITE_FRAMES * 64];     /* of the frames */
};

/*
 * The three files are not read at one instant: a thread that wakes in between may mix two sites. Returns
 * 0, or -ESRCH when the thread is gone, -EACCES or -EPERM when nothing of it may be read.
 */
int sleep_site_read(struct sleep_site *site, pid_t pid, pid_t tid);

/* The descriptor that it sleeps on, -1 where its syscall takes none or is not known. */
int sleep_site_fd(const struct sleep_site *site);

/* As evidence; @file (of fd_names_get()) and @site must outlive it. */
struct wait_site sleep_site_evidence(const struct sleep_site *site, const char *file);

#endif
