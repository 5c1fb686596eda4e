/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "session/recording_rows.h"

/* What a hostile file may make SQLite do: bytes of one value, and steps of its machine in all. */
#define VALUE_BYTES   (16 << 20)
#define STEPS_AT_ONCE 100000
#define STEPS_MAX     20000 /* times STEPS_AT_ONCE */

#define MAGIC "SQLite format 3"
/* https://www.sqlite.org/fileformat.html#the_database_header */
#define PAGE_SIZE_AT 16
#define VERSION_AT   18 /* to write: 1, or 2 in WAL mode */
#define PAGES_AT     28
#define APP_ID_AT    68
#define HEADER_LEN   100

struct reader {
	const char *path;
	bool but_timeline;
	char shown[256];
	sqlite3 *db;
	int steps;
	char *error;
};

static int refuse(struct reader *reader, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct reader *reader, int err, const char *format, ...)
{
	va_list args;

	reader->error[0] = 0;
	va_start(args, format);
	text_vappendf(reader->error, RECORDING_LINE_SIZE, format, args);
	va_end(args);
	return err;
}

/* Of the header, whose numbers are big-endian. */
static uint32_t number_at(const unsigned char *header, int at, int bytes)
{
	uint32_t number = 0;

	for (int i = 0; i < bytes; i++)
		number = number << 8 | header[at + i];
	return number;
}

/* Before SQLite sees it: a regular file that calls itself a recording. */
static int check_file(struct reader *reader)
{
	unsigned char header[HEADER_LEN];
	struct stat st;
	ssize_t n;
	int fd = open(reader->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return refuse(reader, -errno, "cannot read %s: %s", reader->shown, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return refuse(reader, -EBADMSG, "%s is no recording: it is not a regular file",
			      reader->shown);
	}
	n = read(fd, header, sizeof(header));
	close(fd);
	if (n != sizeof(header) || memcmp(header, MAGIC, sizeof(MAGIC)))
		return refuse(reader, -EBADMSG,
			      "%s is no recording of tegratrace: -o FILE of a run makes one",
			      reader->shown);
	if (number_at(header, APP_ID_AT, 4) != RECORDING_APPLICATION_ID)
		return refuse(reader, -EBADMSG,
			      "%s is a SQLite database, but no recording of tegratrace",
			      reader->shown);
	/* with a log beside it the file may still be short */
	if (header[VERSION_AT] == 1 &&
	    st.st_size < (off_t)number_at(header, PAGES_AT, 4) * number_at(header, PAGE_SIZE_AT, 2))
		return refuse(reader, -EBADMSG, "%s is damaged: its end is missing", reader->shown);
	return 0;
}

static int count_steps(void *ctx)
{
	struct reader *reader = ctx;

	return ++reader->steps > STEPS_MAX;
}

/* Nothing but reading tables: no function, no view's or trigger's own wishes. */
static int allow(void *ctx, int action, const char *a, const char *b, const char *database,
		 const char *trigger)
{
	(void)ctx, (void)a, (void)b, (void)database;
	if (trigger)
		return SQLITE_DENY;
	return action == SQLITE_SELECT || action == SQLITE_READ ? SQLITE_OK : SQLITE_DENY;
}

static int damaged(struct reader *reader, const char *what)
{
	return refuse(reader, -EBADMSG, "%s is damaged: %s", reader->shown, what);
}

static bool has_log(const struct reader *reader)
{
	char log[4096 + 8];

	return snprintf(log, sizeof(log), "%s-wal", reader->path) < (int)sizeof(log) &&
	       !access(log, F_OK);
}

static int sql_failed(struct reader *reader, int err)
{
	char why[128];
	const char *message = sqlite3_errmsg(reader->db);

	switch (err & 0xff) {
	case SQLITE_NOMEM:
		return refuse(reader, -ENOMEM, "cannot read %s: out of memory", reader->shown);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return refuse(reader, -EBUSY, "cannot read %s: it is being written to, try again",
			      reader->shown);
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_PERM:
		if (!has_log(reader))
			return refuse(reader, -EACCES, "cannot open %s: its folder cannot be read",
				      reader->shown);
		return refuse(
			reader, -EACCES,
			"cannot read %s: its run was cut off, and the -wal file beside it can "
			"be read only where the folder can be written: copy both elsewhere",
			reader->shown);
	case SQLITE_INTERRUPT:
		return damaged(reader, "it takes too long to read");
	}
	text_sanitize(why, sizeof(why), message, strlen(message));
	return damaged(reader, why);
}

static int open_database(struct reader *reader)
{
	int err = sqlite3_open_v2(reader->path, &reader->db, SQLITE_OPEN_READONLY, NULL);

	if (err)
		return reader->db ? sql_failed(reader, err)
				  : refuse(reader, -ENOMEM, "out of memory");
	sqlite3_busy_timeout(reader->db, 2000);
	sqlite3_limit(reader->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES);
	sqlite3_limit(reader->db, SQLITE_LIMIT_COLUMN, 256);
	sqlite3_limit(reader->db, SQLITE_LIMIT_EXPR_DEPTH, 16);
	sqlite3_limit(reader->db, SQLITE_LIMIT_VDBE_OP, 25000);
	sqlite3_limit(reader->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(reader->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(reader->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(reader->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(reader->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(reader->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_progress_handler(reader->db, STEPS_AT_ONCE, count_steps, reader);
	err = sqlite3_exec(reader->db,
			   "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; "
			   "PRAGMA temp_store=MEMORY; BEGIN",
			   NULL, NULL, NULL);
	return err ? sql_failed(reader, err) : 0;
}

static int quick_check(struct reader *reader)
{
	sqlite3_stmt *check;
	char said[128] = "quick_check finds faults";
	int err = sqlite3_prepare_v2(reader->db, "PRAGMA quick_check(1)", -1, &check, NULL);
	bool sound = false;

	if (!err && sqlite3_step(check) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(check, 0);

		sound = text && !strcmp(text, "ok");
		if (text && !sound)
			text_sanitize(said, sizeof(said), text, strcspn(text, "\n"));
	} else if (!err) {
		err = sqlite3_errcode(reader->db);
	}
	sqlite3_finalize(check);
	if (err)
		return sql_failed(reader, err);
	return sound ? 0 : damaged(reader, said);
}

/* Whether the file of that schema version has it. */
static bool has_table(const struct table *table, int version)
{
	return table->since <= version;
}

/* Each name that is read must be a plain table; a view or a virtual one is none of ours. */
static int check_table(struct reader *reader, sqlite3_stmt *find, const char *name)
{
	const char *type;
	char what[128];
	int err = 0;

	sqlite3_bind_text(find, 1, name, -1, SQLITE_STATIC);
	if (sqlite3_step(find) != SQLITE_ROW) {
		snprintf(what, sizeof(what), "it has no table %s", name);
		err = damaged(reader, what);
	} else {
		type = (const char *)sqlite3_column_text(find, 0);
		if (!type || strcmp(type, "table") || sqlite3_column_int(find, 1) <= 0) {
			snprintf(what, sizeof(what), "%s is no table in it", name);
			err = damaged(reader, what);
		}
	}
	sqlite3_reset(find);
	return err;
}

static int prepare_find(struct reader *reader, sqlite3_stmt **find)
{
	int err = sqlite3_prepare_v2(reader->db,
				     "SELECT type, rootpage FROM sqlite_schema WHERE name = ?", -1,
				     find, NULL);

	return err ? sql_failed(reader, err) : 0;
}

static int check_meta(struct reader *reader)
{
	sqlite3_stmt *find;
	int err = prepare_find(reader, &find);

	if (err)
		return err;
	err = check_table(reader, find, "meta");
	sqlite3_finalize(find);
	return err;
}

static int check_tables(struct reader *reader, int version)
{
	const struct table *table;
	sqlite3_stmt *find;
	int err = prepare_find(reader, &find);

	if (err)
		return err;
	for (int i = 0; !err && (table = recording_table(i)); i++) {
		if (has_table(table, version))
			err = check_table(reader, find, table->name);
	}
	sqlite3_finalize(find);
	return err;
}

static int read_meta(struct reader *reader, struct recording_info *info)
{
	sqlite3_stmt *select;
	int err = sqlite3_prepare_v2(reader->db, "SELECT key, value FROM meta", -1, &select, NULL);

	*info = (struct recording_info){0};
	if (err)
		return sql_failed(reader, err);
	while (sqlite3_step(select) == SQLITE_ROW) {
		const char *key = (const char *)sqlite3_column_text(select, 0);
		const char *value = (const char *)sqlite3_column_text(select, 1);

		if (!key || !value)
			continue;
		if (!strcmp(key, "schema_version"))
			info->version = sqlite3_column_int(select, 1);
		else if (!strcmp(key, "state"))
			info->finished = !strcmp(value, "finished");
		else if (!strcmp(key, "tool"))
			text_sanitize(info->tool, sizeof(info->tool), value, strlen(value));
	}
	err = sqlite3_finalize(select);
	if (err)
		return sql_failed(reader, err);
	if (info->version < 1)
		return damaged(reader, "it tells no schema version");
	if (info->version > RECORDING_VERSION)
		return refuse(
			reader, -ENOTSUP,
			"%s was made by %s with schema %d, this tegratrace reads up to %d: use "
			"a newer one",
			reader->shown, *info->tool ? info->tool : "a newer tegratrace",
			info->version, RECORDING_VERSION);
	return 0;
}

static bool is_wanted(const struct reader *reader, const struct table *table)
{
	return !reader->but_timeline || strncmp(table->name, "timeline", strlen("timeline")) != 0;
}

static int read_tables(struct reader *reader, struct session *session, int version)
{
	const struct table *table;
	char what[128] = "a row";

	for (int i = 0; (table = recording_table(i)); i++) {
		int err = SQLITE_OK;

		if (has_table(table, version) && is_wanted(reader, table))
			err = rows_read(reader->db, table, session, what, sizeof(what));

		if (err == SQLITE_MISMATCH)
			return refuse(reader, -EBADMSG, "%s is damaged: unexpected value in %s",
				      reader->shown, what);
		if (err)
			return sql_failed(reader, err);
	}
	return 0;
}

static bool is_time(int64_t t_ns)
{
	return t_ns == UNKNOWN_NS || (t_ns >= 0 && t_ns <= INT64_MAX / 4);
}

/* What starts somewhere in the window and takes some time. */
static bool is_span(int64_t start_ns, int64_t ns)
{
	return is_time(start_ns) && is_time(ns);
}

static bool is_timeline(const struct timeline *timeline)
{
	bool sound = true;

	for (size_t i = 0; sound && i < timeline->n; i++)
		sound = is_span(timeline->slices[i].start_ns, timeline->slices[i].ns);
	for (size_t i = 0; sound && i < timeline->nrequests; i++) {
		const struct timeline_request *request = &timeline->requests[i];

		sound = is_span(request->issue_ns, request->device_ns) &&
			is_time(request->queue_ns) && request->queue_ns <= request->issue_ns;
	}
	for (size_t i = 0; sound && i < timeline->nfaults; i++)
		sound = is_span(timeline->faults[i].start_ns, timeline->faults[i].ns);
	for (size_t i = 0; sound && i < timeline->ncalls; i++)
		sound = is_span(timeline->calls[i].start_ns, timeline->calls[i].ns);
	return sound;
}

/* Numbers that others use as an index or that must not overflow in a sum. */
static int check_session(struct reader *reader, const struct session *session)
{
	for (size_t i = 0; i < session->nedges; i++) {
		if (session->edges[i].stack < -1 ||
		    session->edges[i].stack >= (int64_t)session->nstacks)
			return damaged(reader, "an edge names a stack that is not there");
	}
	if (session->cuda.feeder_kind < -1 || session->cuda.feeder_kind >= CUDA_KINDS)
		return damaged(reader, "it names a kind of CUDA call that is not there");
	for (size_t i = 0; i < session->series.n; i++) {
		if (!is_time(session->series.points[i].t_ns))
			return damaged(reader, "a sample lies outside of all time");
	}
	if (!is_timeline(&session->timeline))
		return damaged(reader, "an event of its timeline lies outside of all time");
	if (session->ncpu_holders && !session->cpu_holders_measured)
		return damaged(reader, "it has holders of CPUs, which were not measured");
	if (session->faults.series && session->faults.series->interval_ns <= 0)
		return damaged(reader, "its faults have no interval");
	return 0;
}

static int read_file(const char *path, bool but_timeline, struct session *session,
		     struct recording_info *info, char error[RECORDING_LINE_SIZE])
{
	struct reader reader = {.path = path, .but_timeline = but_timeline, .error = error};
	int err;

	error[0] = 0;
	text_sanitize(reader.shown, sizeof(reader.shown), path, strlen(path));
	err = check_file(&reader);
	if (!err)
		err = open_database(&reader);
	if (!err)
		err = quick_check(&reader);
	if (!err)
		err = check_meta(&reader);
	if (!err) {
		sqlite3_set_authorizer(reader.db, allow, NULL);
		err = read_meta(&reader, info);
	}
	if (!err)
		err = check_tables(&reader, info->version);
	if (!err)
		err = read_tables(&reader, session, info->version);
	if (!err)
		err = check_session(&reader, session);
	sqlite3_close(reader.db);
	if (err)
		session_free(session);
	return err;
}

int recording_read(const char *path, struct session *session, struct recording_info *info,
		   char error[RECORDING_LINE_SIZE])
{
	return read_file(path, false, session, info, error);
}

int recording_read_but_timeline(const char *path, struct session *session,
				struct recording_info *info, char error[RECORDING_LINE_SIZE])
{
	return read_file(path, true, session, info, error);
}
