/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bounded text helpers. Every function ends @dst with a NUL as long as @size is not 0 and writes
 * nothing when it is 0; none allocates.
 */
#ifndef TEGRATRACE_TEXT_H
#define TEGRATRACE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value that stands for "not known" in signed quantities printed here. */
#define TEXT_UNKNOWN INT64_MIN

/* Bytes that text_sanitize() needs at most for @n bytes of input, NUL included. */
#define TEXT_SANITIZED_SIZE(n) (4 * (n) + 1)

/* Copies @src; false when it had to be cut. The cut is at a byte: sanitize for display. */
bool text_copy(char *dst, size_t size, const char *src);

/*
 * Appends formatted text to the string in @dst; false when it had to be cut, which never leaves
 * a partial UTF-8 character at the end.
 */
bool text_appendf(char *dst, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool text_vappendf(char *dst, size_t size, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/*
 * Makes @len bytes of hostile text (thread names, paths, command lines) safe for a terminal and
 * for a JSON string writer. Valid UTF-8 passes, except control characters (C0, DEL, C1), line and
 * paragraph separators and bidirectional controls; those, and bytes that are no valid UTF-8,
 * become \xNN for each byte. The result is valid UTF-8, never cut inside a character or an
 * escape. A backslash passes as it is: the result is for reading, not for decoding.
 * Returns the length written.
 */
size_t text_sanitize(char *dst, size_t size, const char *src, size_t len);

/*
 * A duration in ns for people, rounded to 2-4 digits: "850 ns", "1.8 ms", "312 us", "2.41 s",
 * "3 min 20 s", "2 h 05 min". "unknown" for TEXT_UNKNOWN; differences may be negative.
 */
void text_duration(char *dst, size_t size, int64_t ns);

/* A size in bytes for people: "512 B", "1.5 MiB"; "unknown" for any negative value. */
void text_bytes(char *dst, size_t size, int64_t bytes);

/*
 * The group key of a thread name: every run of digits becomes one N ("preproc-3" is "preproc-N",
 * "queue12:src" is "queueN:src"). A name without digits is unchanged. Never longer than @comm.
 */
void text_fold_name(char *dst, size_t size, const char *comm);

/* Columns on a terminal: a character each. */
size_t text_columns(const char *utf8);

/* Bytes of the first `columns` characters, or of all. */
size_t text_prefix_bytes(const char *utf8, size_t columns);

#endif
