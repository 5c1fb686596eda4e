/* SPDX-License-Identifier: GPL-2.0-only */
/* The recording of a run: where it goes, and when what is written to it. */
#ifndef TEGRATRACE_RECORD_H
#define TEGRATRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct record;

/*
 * Looks before the run whether it can be, so that a bad path costs no measurement. *record is NULL
 * without a path. Returns an exit status.
 */
int record_open(struct record **record, const char *path);

/*
 * Makes the file, when the window is about to begin: a run that cannot leaves an older recording
 * alone. One of that name is replaced; any other file, and one that is being recorded to, is not.
 * Returns an exit status.
 */
int record_begin(struct record *record);

/* From here on. All take a NULL record. What goes wrong is said once, and costs the recording, never the run. */

/* A line of tegrastats, `t_ns` after the window's begin. */
void record_line(struct record *record, int64_t t_ns, const char *text, size_t len);

/*
 * True once a second, later when the disk is far behind: then record_batch() is due, which may leave
 * the threads as they are.
 */
bool record_due(const struct record *record, int64_t now_ns);
void record_batch(struct record *record, const struct session *session, int64_t now_ns,
		  bool with_threads);

/* The whole session. Returns an exit status. */
int record_finish(struct record *record, const struct session *session);

/* One that holds nothing, since the run did not begin, is removed. */
void record_close(struct record *record);

#endif
