/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Brings what is written to a recording to the disk, on a thread and a connection of its own, so
 * that the writer never waits for one. A finished batch lies in SQLite's write-ahead log. The thread
 * syncs the log, copies it into the database, syncs that and cuts the log to nothing; then the
 * writer begins it anew.
 */
#ifndef TEGRATRACE_RECORDING_SYNC_H
#define TEGRATRACE_RECORDING_SYNC_H

#include <stdbool.h>

struct recording_sync;

/* For the database at `path`, in WAL mode, without a log yet. NULL when no thread can be had. */
struct recording_sync *recording_sync_start(const char *path);

/*
 * Whether a batch may be written now. False while the log is cut, or is long already and the disk
 * is behind: ask again later. True keeps the log as it is until recording_sync_end(). Does not wait.
 */
bool recording_sync_ready(struct recording_sync *sync);

/*
 * Before a batch, in any case: waits until it may be written. True: the log is empty, and the writer
 * needs no sync to begin it (PRAGMA synchronous=OFF). False: where SQLite finds all of the log
 * copied it begins it anew by itself, over what is there, and must sync its header
 * (synchronous=NORMAL).
 */
bool recording_sync_begin(struct recording_sync *sync);

/* After it: `written` that it was. */
void recording_sync_end(struct recording_sync *sync, bool written);

/* Waits for what it is at. NULL is fine. */
void recording_sync_stop(struct recording_sync *sync);

#endif
