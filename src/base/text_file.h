/* SPDX-License-Identifier: GPL-2.0-only */
/* Small files of the kernel that hold text: one value, or lines of a key and a number. */
#ifndef TEGRATRACE_TEXT_FILE_H
#define TEGRATRACE_TEXT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What it holds, cut to the buffer and ended by a NUL: its length, or -errno and an empty text. */
ssize_t text_file_read(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The number at the beginning of the text, blanks skipped; UNKNOWN_COUNT when it is none. */
int64_t text_number(const char *text);

/* The number behind "KEY " or "KEY:" at the beginning of a line; UNKNOWN_COUNT without one. */
int64_t text_keyed(const char *text, const char *key);

#endif
