/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing to a stream that may be a full disk or a closed pipe. */
#ifndef TEGRATRACE_REPORT_OUTPUT_H
#define TEGRATRACE_REPORT_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

/* 0 or -errno. The caller ignores SIGPIPE if it wants to see -EPIPE. */
int output_write(FILE *out, const char *data, size_t size);

/* Flush: 0, or -errno of this or (as -EIO, the cause being gone) an earlier failed write. */
int output_finish(FILE *out);

/*
 * A file in a folder, made or emptied; never what a symbolic link points to, and the user's behind
 * sudo. 0 or -errno.
 */
int output_folder_file(int folder, const char *name, FILE **file);

/* Makes a file or folder the user's behind sudo, if there is one. */
void output_give_to_sudo_user(int fd);

#endif
