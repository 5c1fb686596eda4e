/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session kept in a file: a SQLite database with one table for each kind of row (see
 * recording_tables.h; recording_print_schema() prints them), written during the run in batches.
 *
 * The file is in WAL mode while the run goes on. A batch is one transaction, and a thread of its
 * own brings it to the disk (see recording_sync.h), so that a slow disk never holds the measurement
 * up: SIGKILL costs what came after the last batch, loss of power that and what the disk had not
 * taken. At the end one transaction replaces the snapshots by the whole session, and the file is one
 * file again.
 */
#ifndef TEGRATRACE_RECORDING_H
#define TEGRATRACE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "session/session.h"

/*
 * Grows when a table comes, changes its meaning or goes, or a column does the latter. A new column
 * needs no new version: readers leave out what they do not know, and what a file lacks is unknown.
 * 2: timeline_requests, timeline_faults and timeline_calls.
 */
#define RECORDING_VERSION 2

/* PRAGMA application_id: "TgTr" */
#define RECORDING_APPLICATION_ID 0x54675472

#define RECORDING_LINE_SIZE 512

struct recording;

/*
 * Begin a recording in the empty file `path`, which the caller has just made and nobody else
 * touches (see output_new_file()). Returns 0, or -errno with one line in `error`.
 */
int recording_create(const char *path, const char *tool, struct recording **recording,
		     char error[RECORDING_LINE_SIZE]);

/*
 * All of these return 0, or -errno with one line in recording_error(). After a failure the
 * recording takes nothing more until recording_finish() tries once again; what was written before
 * stays readable.
 */

/* A line of tegrastats as it came, `t_ns` after the window's begin; kept for the next batch. */
int recording_line(struct recording *recording, int64_t t_ns, const char *text, size_t len);

/*
 * Whether recording_batch() would not wait now: it does while the log is cut, which takes a moment,
 * and it should not add to a log that the disk is far behind with. Asked just before.
 */
bool recording_ready(struct recording *recording);

/*
 * What is measured so far, as one transaction with the lines before it; the threads, which may be
 * very many, only when asked for.
 */
int recording_batch(struct recording *recording, const struct session *session, bool with_threads);

/* The whole session, as one transaction. */
int recording_finish(struct recording *recording, const struct session *session);

const char *recording_error(const struct recording *recording);

/* NULL is fine. */
void recording_close(struct recording *recording);

struct recording_info {
	bool finished; /* false: the run was cut off, or goes on */
	int version;
	char tool[64]; /* that wrote it, sanitised */
};

/*
 * Read a session. The file is hostile: whatever is in it, this returns 0 with a session that is
 * safe to report, or -errno with one line in `error` and an empty session.
 */
int recording_read(const char *path, struct session *session, struct recording_info *info,
		   char error[RECORDING_LINE_SIZE]);

/* The same without the timeline: millions of rows that only traces show. */
int recording_read_but_timeline(const char *path, struct session *session,
				struct recording_info *info, char error[RECORDING_LINE_SIZE]);

/* The schema as SQL with comments. Returns 0 or -errno. */
int recording_print_schema(FILE *out);

#endif
