/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of a recording's tables from and to structs. Everything returns 0 or a SQLite code. */
#ifndef TEGRATRACE_RECORDING_ROWS_H
#define TEGRATRACE_RECORDING_ROWS_H

#include <sqlite3.h>

#include "session/recording_tables.h"

/* Insert rows [from, to) of an array. */
int rows_insert(sqlite3 *db, const struct table *table, const char *rows, size_t from, size_t to);

/*
 * Read a table into the session, whose arrays for it are empty. On SQLITE_MISMATCH `what` names the
 * column that does not hold what it must, or says what else is wrong with the table.
 */
int rows_read(sqlite3 *db, const struct table *table, struct session *session, char *what,
	      size_t what_size);

/* Text as TEXT, anything else as BLOB. */
int bind_bytes(sqlite3_stmt *insert, int place, const char *bytes, size_t len);

#endif
