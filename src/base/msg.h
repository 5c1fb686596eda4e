/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one place that prints messages, always to standard error, one line each: what failed, on
 * what, why, what to do. A live status line, if one stands, is cleared first.
 */
#ifndef TEGRATRACE_MSG_H
#define TEGRATRACE_MSG_H

#include <stdarg.h>
#include <stdbool.h>

/* "tegratrace: error: ..." */
void msg_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "tegratrace: warning: ...": the run goes on with less. */
void msg_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "tegratrace: ...": dropped with msg_set_quiet. */
void msg_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, also when quiet: what was asked for. */
void msg_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Only with -v. */
void msg_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void msg_vdebug(const char *format, va_list args);

void msg_set_verbose(bool verbose);
bool msg_verbose(void);
void msg_set_quiet(bool quiet);

/*
 * Room for a status line, which leaves the last column free; 0: it would not be shown, as messages are
 * quiet, or standard error is no terminal that can take a line back.
 */
int msg_status_columns(void);

/* Replace the status line on a terminal; "" removes it. No effect when standard error is none. */
void msg_status(const char *line);

#endif
