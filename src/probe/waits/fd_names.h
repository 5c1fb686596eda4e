/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What descriptors of other processes are, below the root of procfs.h. What is asked for is the
 * present: a descriptor closed since its use, and reused, is called by its new name. So callers ask
 * while it is used, and forget before they ask again.
 */
#ifndef TEGRATRACE_FD_NAMES_H
#define TEGRATRACE_FD_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

struct fd_names;

/* NULL when out of memory. */
struct fd_names *fd_names_new(void);
void fd_names_free(struct fd_names *names);

/*
 * As readlink tells, sanitised: "/dev/nvhost-ctrl", "pipe:[4711]", "anon_inode:[eventfd]"; a socket
 * by its protocol where the kernel tells: "socket unix", "socket tcp", "socket udp", else
 * "socket:[4711]". NULL: closed, or not allowed. Asked once for each descriptor until they are
 * forgotten; valid until the next call.
 */
const char *fd_names_get(struct fd_names *names, pid_t pid, int fd);

/* Time has passed: a number may be that of another file by now, a PID that of another process. */
void fd_names_forget(struct fd_names *names);

/* Names of the same kind of object: all pipes are alike, and files by their path. */
bool fd_names_alike(const char *a, const char *b);

#endif
