/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/recording.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "session/recording_rows.h"
#include "session/recording_schema.h"
#include "session/recording_sync.h"

/* Rewritten with every batch; the series grow, and the rest stays as the first batch had it. */
static const char *const snapshots[] = {"session", "targets", "tegra", "temps", "rails"};

/* They only grow, and their rows stay as they are. */
static const char *const timeline_tables[] = {"timeline", "timeline_requests", "timeline_faults",
					      "timeline_calls"};

#define TIMELINE_TABLES ((int)(sizeof(timeline_tables) / sizeof(timeline_tables[0])))

struct line {
	struct line *next;
	int64_t t_ns;
	size_t len;
	char text[];
};

struct recording {
	sqlite3 *db;
	char *path;
	char error[RECORDING_LINE_SIZE];
	bool failed;
	bool in_transaction;
	bool have_first;
	sqlite3_stmt *insert_line;
	/* Those of the next batch: a transaction that they began would be open until then. */
	struct line *first_line, **last_line;
	int64_t lines; /* in the file */
	/* Of each series, what lies in the file. */
	size_t tegra_points, host_points;
	unsigned int tegra_merged, host_merged;
	size_t timeline_rows[TIMELINE_TABLES];
	struct recording_sync *sync; /* NULL: there is no thread for it */
};

static int code_of(int err)
{
	switch (err & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
		return -EACCES;
	default:
		return -EIO;
	}
}

static void say(struct recording *recording, const char *what)
{
	char shown[256];

	text_sanitize(shown, sizeof(shown), recording->path, strlen(recording->path));
	recording->error[0] = 0;
	text_appendf(recording->error, sizeof(recording->error), "cannot %s %s: %s", what, shown,
		     recording->db && sqlite3_errcode(recording->db) != SQLITE_OK
			     ? sqlite3_errmsg(recording->db)
			     : "out of memory");
}

static int run(struct recording *recording, const char *sql)
{
	return sqlite3_exec(recording->db, sql, NULL, NULL, NULL);
}

/* What was written before stays; nothing more is taken. */
static int fail(struct recording *recording, int err)
{
	if (!recording->failed)
		say(recording, "write");
	recording->failed = true;
	if (recording->in_transaction)
		run(recording, "ROLLBACK");
	recording->in_transaction = false;
	for (int i = 0; i < TIMELINE_TABLES; i++)
		recording->timeline_rows[i] = SIZE_MAX; /* not known: all of it anew */
	return code_of(err);
}

static int begin(struct recording *recording)
{
	int err = run(recording, "BEGIN IMMEDIATE");

	recording->in_transaction = !err;
	return err;
}

static int commit(struct recording *recording)
{
	int err = run(recording, "COMMIT");

	recording->in_transaction = err;
	return err;
}

static void stop_sync(struct recording *recording)
{
	recording_sync_stop(recording->sync);
	recording->sync = NULL;
}

/* Without it SQLite checkpoints by itself, in the writer. */
static void start_sync(struct recording *recording)
{
	recording->sync = recording_sync_start(recording->path);
	if (recording->sync)
		run(recording, "PRAGMA wal_autocheckpoint=0");
}

static int put_meta(struct recording *recording, const char *key, const char *text, int64_t number)
{
	sqlite3_stmt *insert;
	int err = sqlite3_prepare_v2(recording->db, "INSERT OR REPLACE INTO meta VALUES(?,?)", -1,
				     &insert, NULL);

	if (!err)
		err = sqlite3_bind_text(insert, 1, key, -1, SQLITE_STATIC);
	if (!err)
		err = text ? sqlite3_bind_text(insert, 2, text, -1, SQLITE_STATIC)
			   : sqlite3_bind_int64(insert, 2, number);
	if (!err && sqlite3_step(insert) != SQLITE_DONE)
		err = sqlite3_errcode(recording->db);
	sqlite3_finalize(insert);
	return err;
}

static int make_tables(struct recording *recording, const char *tool)
{
	char *schema = recording_schema_sql();
	char pragmas[128];
	int err = schema ? SQLITE_OK : SQLITE_NOMEM;

	snprintf(pragmas, sizeof(pragmas), "PRAGMA application_id=%d; PRAGMA user_version=%d",
		 RECORDING_APPLICATION_ID, RECORDING_VERSION);
	/* the tables first, so that even a log that was never checkpointed belongs to a recording */
	if (!err)
		err = run(recording,
			  "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
			  "PRAGMA cache_size=-512");
	if (!err)
		err = run(recording, pragmas);
	if (!err)
		err = begin(recording);
	if (!err)
		err = run(recording, schema);
	if (!err)
		err = put_meta(recording, "schema_version", NULL, RECORDING_VERSION);
	if (!err)
		err = put_meta(recording, "tool", tool, 0);
	if (!err)
		err = put_meta(recording, "state", "running", 0);
	if (!err)
		err = commit(recording);
	if (!err)
		err = run(recording, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
	free(schema);
	if (!err)
		err = sqlite3_prepare_v2(recording->db,
					 "INSERT INTO tegrastats_lines VALUES(?,?,?)", -1,
					 &recording->insert_line, NULL);
	return err;
}

int recording_create(const char *path, const char *tool, struct recording **out,
		     char error[RECORDING_LINE_SIZE])
{
	struct recording *recording = calloc(1, sizeof(*recording));
	int err;

	*out = NULL;
	text_copy(error, RECORDING_LINE_SIZE, "out of memory");
	if (!recording)
		return -ENOMEM;
	recording->last_line = &recording->first_line;
	recording->path = strdup(path);
	err = !recording->path
		      ? SQLITE_NOMEM
		      : sqlite3_open_v2(path, &recording->db,
					SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL);
	if (!err)
		err = make_tables(recording, tool);
	if (err && recording->path) {
		say(recording, "record to");
		text_copy(error, RECORDING_LINE_SIZE, recording->error);
	}
	if (err) {
		recording_close(recording);
		return code_of(err);
	}
	start_sync(recording);
	*out = recording;
	return 0;
}

int recording_line(struct recording *recording, int64_t t_ns, const char *text, size_t len)
{
	struct line *line;

	if (recording->failed)
		return -EIO;
	line = malloc(sizeof(*line) + len);
	if (!line)
		return fail(recording, SQLITE_NOMEM);
	line->next = NULL;
	line->t_ns = t_ns;
	line->len = len;
	memcpy(line->text, text, len);
	*recording->last_line = line;
	recording->last_line = &line->next;
	return 0;
}

static int insert_lines(struct recording *recording)
{
	sqlite3_stmt *insert = recording->insert_line;
	int64_t row = recording->lines;
	int err = SQLITE_OK;

	for (const struct line *line = recording->first_line; !err && line; line = line->next) {
		err = sqlite3_bind_int64(insert, 1, row++);
		if (!err)
			err = sqlite3_bind_int64(insert, 2, line->t_ns);
		if (!err)
			err = bind_bytes(insert, 3, line->text, line->len);
		if (!err && sqlite3_step(insert) != SQLITE_DONE)
			err = sqlite3_errcode(recording->db);
		sqlite3_reset(insert);
	}
	return err;
}

/* They are in the file, or nobody wants them any more. */
static void drop_lines(struct recording *recording)
{
	while (recording->first_line) {
		struct line *line = recording->first_line;

		recording->first_line = line->next;
		recording->lines++;
		free(line);
	}
	recording->last_line = &recording->first_line;
}

static int clear(struct recording *recording, const struct table *table)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "DELETE FROM %s", table->name);
	return run(recording, sql);
}

static int replace(struct recording *recording, const struct table *table,
		   const struct session *session)
{
	size_t n;
	const char *rows = table_rows(table, session, &n);
	int err = clear(recording, table);

	return err ? err : rows_insert(recording->db, table, rows, 0, n);
}

/* Add what a series has got since; when it was thinned out meanwhile, all of it anew. */
static int extend(struct recording *recording, const struct table *table,
		  const struct session *session, unsigned int merged, unsigned int *known_merged,
		  size_t *known)
{
	size_t n;
	const char *rows = table_rows(table, session, &n);
	int err = SQLITE_OK;

	if (merged != *known_merged || n < *known) {
		err = clear(recording, table);
		*known = 0;
	}
	if (!err)
		err = rows_insert(recording->db, table, rows, *known, n);
	*known = n;
	*known_merged = merged;
	return err;
}

/* So many a batch keep it short: meanwhile the ring that they come from fills. */
#define TIMELINE_BATCH 20000

/* Its place among the tables of the timeline; -1: it is none. */
static int timeline_table(const struct table *table)
{
	for (int i = 0; i < TIMELINE_TABLES; i++) {
		if (!strcmp(table->name, timeline_tables[i]))
			return i;
	}
	return -1;
}

/* What a batch leaves is written in the end. */
static int extend_timeline(struct recording *recording, const struct table *table,
			   const struct session *session, size_t limit)
{
	size_t n, *known = &recording->timeline_rows[timeline_table(table)], from = *known;
	const char *rows = table_rows(table, session, &n);
	int err = SQLITE_OK;

	if (from > n) {
		err = clear(recording, table);
		from = 0;
	}
	if (n - from > limit)
		n = from + limit;
	if (!err)
		err = rows_insert(recording->db, table, rows, from, n);
	*known = n;
	return err;
}

static bool is_snapshot(const struct table *table)
{
	for (size_t i = 0; i < sizeof(snapshots) / sizeof(snapshots[0]); i++) {
		if (!strcmp(snapshots[i], table->name))
			return true;
	}
	return false;
}

static int write_batch(struct recording *recording, const struct session *session,
		       bool with_threads)
{
	const struct table *table;
	int err = begin(recording);

	if (!err)
		err = insert_lines(recording);
	for (int i = 0; !err && (table = recording_table(i)); i++) {
		if (!strcmp(table->name, "tegra_points"))
			err = extend(recording, table, session, session->series.merged,
				     &recording->tegra_merged, &recording->tegra_points);
		else if (!strcmp(table->name, "host_points"))
			err = extend(recording, table, session, session->host_series.merged,
				     &recording->host_merged, &recording->host_points);
		else if (timeline_table(table) >= 0)
			err = extend_timeline(recording, table, session, TIMELINE_BATCH);
		else if (!strcmp(table->name, "threads")
				 ? with_threads
				 : is_snapshot(table) || !recording->have_first)
			err = replace(recording, table, session);
	}
	if (!err)
		err = commit(recording);
	if (!err)
		drop_lines(recording);
	recording->have_first = true;
	return err;
}

bool recording_ready(struct recording *recording)
{
	return !recording->sync || recording_sync_ready(recording->sync);
}

static void begin_batch(struct recording *recording)
{
	if (recording->sync && recording_sync_begin(recording->sync))
		run(recording, "PRAGMA synchronous=OFF");
	else
		run(recording, "PRAGMA synchronous=NORMAL");
}

int recording_batch(struct recording *recording, const struct session *session, bool with_threads)
{
	int err;

	if (recording->failed)
		return -EIO;
	begin_batch(recording);
	err = write_batch(recording, session, with_threads);
	if (err)
		err = fail(recording, err);
	if (recording->sync)
		recording_sync_end(recording->sync, !err);
	return err;
}

static int write_whole(struct recording *recording, const struct session *session)
{
	const struct table *table;
	int err = begin(recording);

	if (!err)
		err = insert_lines(recording);
	for (int i = 0; !err && (table = recording_table(i)); i++)
		err = timeline_table(table) >= 0
			      ? extend_timeline(recording, table, session, SIZE_MAX)
			      : replace(recording, table, session);
	if (!err)
		err = put_meta(recording, "state", "finished", 0);
	if (!err)
		err = commit(recording);
	if (!err)
		drop_lines(recording);
	return err;
}

/*
 * One file can be moved, and read from a medium that cannot be written. It stays two while somebody
 * reads it, and on a full disk: complete all the same.
 */
static void become_one_file(struct recording *recording)
{
	sqlite3_busy_timeout(recording->db, 200);
	if (run(recording, "PRAGMA synchronous=FULL; PRAGMA journal_mode=DELETE"))
		sqlite3_wal_checkpoint_v2(recording->db, NULL, SQLITE_CHECKPOINT_FULL, NULL, NULL);
}

int recording_finish(struct recording *recording, const struct session *session)
{
	int err;

	recording->failed = false;
	stop_sync(recording);
	run(recording, "PRAGMA synchronous=NORMAL");
	err = write_whole(recording, session);
	if (err)
		return fail(recording, err);
	sqlite3_finalize(recording->insert_line);
	recording->insert_line = NULL;
	become_one_file(recording);
	return 0;
}

const char *recording_error(const struct recording *recording)
{
	return recording->error;
}

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	stop_sync(recording);
	drop_lines(recording);
	sqlite3_finalize(recording->insert_line);
	sqlite3_close(recording->db);
	free(recording->path);
	free(recording);
}
