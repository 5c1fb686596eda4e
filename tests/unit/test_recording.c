/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings: every field survives, and no file harms the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report/trace/chrome.h"
#include "report/json/json.h"
#include "report/trace/perfetto.h"
#include "report/text/text.h"
#include "session/recording.h"
#include "session/recording_tables.h"
#include "unit/recorded_session.h"

static char path[64];

static int make_path(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/recording-XXXXXX");
	fd = mkstemp(path);
	close(fd);
	return fd < 0;
}

static int remove_path(void **state)
{
	char beside[80];

	(void)state;
	unlink(path);
	snprintf(beside, sizeof(beside), "%s-wal", path);
	unlink(beside);
	snprintf(beside, sizeof(beside), "%s-shm", path);
	unlink(beside);
	return 0;
}

static bool same_field(const struct column *column, const char *a, const char *b)
{
	switch (column->type) {
	case COLUMN_F32:
		return *(const float *)a == *(const float *)b ||
		       (isnan(*(const float *)a) && isnan(*(const float *)b));
	case COLUMN_F64:
		return *(const double *)a == *(const double *)b ||
		       (isnan(*(const double *)a) && isnan(*(const double *)b));
	case COLUMN_SHARES:
		for (size_t i = 0; i < column->size / sizeof(float); i++) {
			float x = ((const float *)a)[i], y = ((const float *)b)[i];

			if (x != y && !(isnan(x) && isnan(y)))
				return false;
		}
		return true;
	case COLUMN_STRING:
	case COLUMN_LABEL:
		return !strcmp(*(char *const *)a, *(char *const *)b);
	default:
		return !memcmp(a, b, column->size);
	}
}

static void assert_same(const struct session *a, const struct session *b)
{
	const struct table *table;

	for (int i = 0; (table = recording_table(i)); i++) {
		size_t na, nb;
		const char *x = table_rows(table, a, &na), *y = table_rows(table, b, &nb);

		if (na != nb)
			fail_msg("%s: %zu and %zu rows", table->name, na, nb);
		for (size_t row = 0; row < na; row++) {
			for (int k = 0; k < table->ncolumns; k++) {
				const struct column *column = &table->columns[k];
				size_t at = row * table->row_size + column->offset;

				if (!same_field(column, x + at, y + at))
					fail_msg("%s.%s of row %zu", table->name, column->name,
						 row);
			}
		}
	}
}

static void write_session(const struct session *session)
{
	struct recording *recording;
	char line[RECORDING_LINE_SIZE];

	assert_int_equal(recording_create(path, "test 1", &recording, line), 0);
	assert_int_equal(recording_finish(recording, session), 0);
	recording_close(recording);
}

static int read_session(struct session *session, char line[RECORDING_LINE_SIZE])
{
	struct recording_info info;

	session_init(session);
	return recording_read(path, session, &info, line);
}

static void every_field_survives(void **state)
{
	struct session *written = malloc(sizeof(*written)), *read = malloc(sizeof(*read));
	char line[RECORDING_LINE_SIZE];

	(void)state;
	fill_session(written);
	write_session(written);
	if (read_session(read, line))
		fail_msg("%s", line);
	assert_same(written, read);
	session_free(written);
	session_free(read);
	free(written);
	free(read);
}

/* As a rung that polls leaves them. */
static void forget_delays(struct thread_account *thread)
{
	thread->runq.count = UNKNOWN_COUNT;
	thread->runq.max_ns = UNKNOWN_NS;
}

static void nothing_known_survives(void **state)
{
	struct session *written = malloc(sizeof(*written)), *read = malloc(sizeof(*read));
	char line[RECORDING_LINE_SIZE];

	(void)state;
	session_init(written);
	forget_delays(session_add_thread(written));
	written->pressure.total_bytes = INT64_MAX / 4; /* beyond what a reader takes */
	write_session(written);
	if (read_session(read, line))
		fail_msg("%s", line);
	written->pressure.total_bytes = UNKNOWN_COUNT;
	assert_same(written, read);
	assert_int_equal(read->threads[0].runq.count, UNKNOWN_COUNT);
	assert_int_equal(read->ntop_processes, -1);
	assert_int_equal(read->pressure.nswaps, -1);
	assert_null(read->faults.series);
	session_free(written);
	session_free(read);
	free(written);
	free(read);
}

/* Bytes of a struct that no column covers are padding, or a field was forgotten. */
static void check_gaps(const char *name, const unsigned char *covered, size_t size)
{
	size_t from = 0;

	while (from < size) {
		size_t to = from;

		while (to < size && !covered[to])
			to++;
		/* padding ends where something is aligned, and is shorter than that alignment */
		if (to - from >= 8 || (to > from && to % 4) || (to - from >= 4 && to % 8))
			fail_msg("%s: bytes %zu to %zu are in no column", name, from, to);
		from = to + 1;
		while (from < size && covered[from])
			from++;
	}
}

static void cover(unsigned char *covered, size_t offset, size_t size)
{
	memset(covered + offset, 1, size);
}

static void every_field_has_a_column(void **state)
{
	unsigned char *whole = calloc(1, sizeof(struct session));
	const struct table *table;

	(void)state;
	for (int i = 0; (table = recording_table(i)); i++) {
		unsigned char *row = calloc(1, table->row_size);

		for (int k = 0; k < table->ncolumns; k++) {
			const struct column *column = &table->columns[k];

			assert_true(column->offset + column->size <= table->row_size);
			cover(table->kind == TABLE_ONE ? whole : row, column->offset, column->size);
		}
		if (table->kind ==
		    TABLE_MAYBE) /* its rows and their count are a table of their own */
			cover(row, offsetof(struct fault_series, n),
			      sizeof(struct fault_series) - offsetof(struct fault_series, n));
		if (table->kind != TABLE_ONE)
			check_gaps(table->name, row, table->row_size);
		free(row);
		if (table->kind == TABLE_COUNTED || table->kind == TABLE_FIXED)
			cover(whole, table->offset, table->max * table->row_size);
		if (table->kind == TABLE_COUNTED)
			cover(whole, table->count_offset, sizeof(int));
		if (table->kind == TABLE_HEAP || table->kind == TABLE_MAYBE)
			cover(whole, table->offset, sizeof(void *));
		if (table->kind == TABLE_HEAP)
			cover(whole, table->count_offset, sizeof(size_t));
	}
	/* what waits to be merged is part of a series only while it grows */
	cover(whole, offsetof(struct session, series.pending),
	      sizeof(struct tegra_series) - offsetof(struct tegra_series, pending));
	cover(whole, offsetof(struct session, host_series.pending),
	      sizeof(struct host_series) - offsetof(struct host_series, pending));
	cover(whole, offsetof(struct session, timeline.limit_bytes),
	      sizeof(struct timeline) - offsetof(struct timeline, limit_bytes));
	check_gaps("session", whole, sizeof(struct session));
	free(whole);
}

static void sql(const char *statements)
{
	sqlite3 *db;
	char *error = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	if (sqlite3_exec(db, statements, NULL, NULL, &error))
		fail_msg("%s: %s", statements, error);
	sqlite3_close(db);
}

/* One line that says what is wrong, and nothing of the session is left. */
static void assert_refused(const char *says)
{
	struct session *session = malloc(sizeof(*session));
	char line[RECORDING_LINE_SIZE];
	int err = read_session(session, line);

	if (!err)
		fail_msg("was read, instead of: %s", says);
	if (!strstr(line, says))
		fail_msg("'%s' does not say '%s'", line, says);
	assert_null(strchr(line, '\n'));
	assert_int_equal(session->nthreads, 0);
	assert_null(session->threads);
	free(session);
}

static void write_filled(void)
{
	struct session *session = malloc(sizeof(*session));

	fill_session(session);
	write_session(session);
	session_free(session);
	free(session);
}

/* Legal SQL that makes something else of a recording. */
static void hostile_contents(void **state)
{
	static const struct {
		const char *sql, *says;
	} cases[] = {
		{"UPDATE meta SET value = 99 WHERE key = 'schema_version'", "newer"},
		{"UPDATE meta SET value = 'x' WHERE key = 'schema_version'", "no schema version"},
		{"DELETE FROM meta", "no schema version"},
		{"DROP TABLE edges", "no table edges"},
		{"DROP TABLE edges; CREATE VIEW edges AS SELECT 1 AS row", "edges is no table"},
		{"DROP TABLE edges; CREATE VIRTUAL TABLE edges USING fts5(row)",
		 "edges is no table"},
		{"DROP TABLE cpus; CREATE TABLE cpus(row INTEGER PRIMARY KEY, id); "
		 "INSERT INTO cpus VALUES(0, 'seven')",
		 "cpus.id"},
		{"DROP TABLE cpus; CREATE TABLE cpus(row INTEGER PRIMARY KEY, id); "
		 "INSERT INTO cpus VALUES(0, 99999999999)",
		 "cpus.id"},
		{"UPDATE edges SET stack = 77", "stack that is not there"},
		{"UPDATE edges SET class = 'gpus'", "edges.class"},
		{"UPDATE edges SET waker_pid = -99999999999", "edges.waker_pid"},
		{"UPDATE edges SET site = printf('%1000s', 'x')", "edges.site"},
		{"UPDATE edges SET site = 'a' || char(0) || 'b'", "edges.site"},
		{"UPDATE stacks SET frames = NULL", "stacks.frames"},
		{"UPDATE threads SET runq_hist = '[1,2'", "threads.runq_hist"},
		{"UPDATE threads SET runq_hist = '[1,-2]'", "threads.runq_hist"},
		{"UPDATE threads SET runq_hist = '[1e99]'", "threads.runq_hist"},
		{"UPDATE threads SET runq_hist = '[' || printf('%.*c', 60, ',') || ']'",
		 "threads.runq_hist"},
		{"UPDATE threads SET exited = 2", "threads.exited"},
		{"UPDATE edges SET ns = -1", "edges.ns"},
		{"UPDATE faults SET minor = 9223372036854775807", "faults.minor"},
		{"UPDATE cuda SET feeder_kind = 50", "CUDA"},
		{"WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 99) "
		 "INSERT INTO targets SELECT i, i, 'x' FROM n",
		 "too many rows"},
		{"INSERT INTO session(row, start_ns, end_ns) VALUES(5, 0, 0)", "too many rows"},
		{"UPDATE pressure SET swaps = NULL", "rows that should not be"},
		{"UPDATE session SET cpu_holders_measured = 0", "not measured"},
		{"UPDATE fault_series SET interval_ns = -1", "no interval"},
		{"UPDATE tegra_points SET t_ns = -5", "outside of all time"},
		{"UPDATE timeline_requests SET queue_ns = issue_ns + 1", "outside of all time"},
		{"UPDATE timeline_calls SET ns = 9223372036854775807", "timeline_calls.ns"},
		{"UPDATE timeline_calls SET kind = 'cuda'", "timeline_calls.kind"},
		{"UPDATE timeline_faults SET count = -1", "timeline_faults.count"},
		{"PRAGMA application_id = 1", "no recording of tegratrace"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_filled();
		sql(cases[i].sql);
		assert_refused(cases[i].says);
		remove_path(state);
		close(open(path, O_CREAT | O_RDWR, 0600));
	}
}

/* What an older writer lacked is unknown; what a newer one added is left out. */
static void other_writers(void **state)
{
	struct session session;
	char line[RECORDING_LINE_SIZE];

	(void)state;
	write_filled();
	sql("ALTER TABLE threads DROP COLUMN io_reads; ALTER TABLE threads ADD COLUMN new TEXT; "
	    "CREATE TABLE news(row INTEGER PRIMARY KEY); "
	    "CREATE TRIGGER t AFTER INSERT ON news BEGIN DELETE FROM threads; END");
	if (read_session(&session, line))
		fail_msg("%s", line);
	assert_int_equal(session.nthreads, ROWS);
	assert_int_equal(session.threads[0].io_reads, UNKNOWN_COUNT);
	session_free(&session);
}

/* Files in which columns that took no NULL have the number that stands for unknown. */
static void old_unknowns(void **state)
{
	struct session session;
	char line[RECORDING_LINE_SIZE];

	(void)state;
	write_filled();
	sql("UPDATE threads SET runq_count = -9223372036854775807 - 1, "
	    "runq_max_ns = -9223372036854775807 - 1, runq_hist = '[]'");
	if (read_session(&session, line))
		fail_msg("%s", line);
	for (size_t i = 0; i < ROWS; i++) {
		assert_int_equal(session.threads[i].runq.count, UNKNOWN_COUNT);
		assert_int_equal(session.threads[i].runq.max_ns, UNKNOWN_NS);
	}
	session_free(&session);
	sql("UPDATE threads SET wall_ns = -9223372036854775807 - 1");
	assert_refused("threads.wall_ns");
}

/* A file of schema 1 has no tables of these, and need not. */
static void first_schema(void **state)
{
	struct session session;
	struct recording_info info;
	char line[RECORDING_LINE_SIZE];

	(void)state;
	write_filled();
	sql("DROP TABLE timeline_requests; DROP TABLE timeline_faults; DROP TABLE timeline_calls");
	assert_refused("no table timeline_requests");
	sql("UPDATE meta SET value = 1 WHERE key = 'schema_version'");
	session_init(&session);
	if (recording_read(path, &session, &info, line))
		fail_msg("%s", line);
	assert_int_equal(info.version, 1);
	assert_int_equal(session.nthreads, ROWS);
	assert_int_equal(session.timeline.n, ROWS);
	assert_null(session.timeline.requests);
	assert_int_equal(
		session.timeline.nrequests + session.timeline.nfaults + session.timeline.ncalls, 0);
	session_free(&session);
}

/* For what shows no moments. */
static void without_its_timeline(void **state)
{
	struct session *written = malloc(sizeof(*written)), *read = malloc(sizeof(*read));
	char line[RECORDING_LINE_SIZE];
	struct recording_info info;

	(void)state;
	fill_session(written);
	write_session(written);
	session_init(read);
	if (recording_read_but_timeline(path, read, &info, line))
		fail_msg("%s", line);
	assert_null(read->timeline.slices);
	assert_null(read->timeline.requests);
	assert_null(read->timeline.faults);
	assert_null(read->timeline.calls);
	timeline_free(&written->timeline);
	assert_same(written, read);
	session_free(written);
	session_free(read);
	free(written);
	free(read);
}

static void no_recordings(void **state)
{
	static const char *const contents[] = {"", "SQLite format 3",
					       "not a database at all, but "
					       "long enough to be one: "
					       "xxxxxxxxxxxxxxxxxxxxxxxxxxx"
					       "xxxxxxxxxxxxxxxxxxxxxxxx"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		FILE *file = fopen(path, "w");

		fputs(contents[i], file);
		fclose(file);
		assert_refused("no recording");
	}
	unlink(path);
	assert_refused("No such file");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_refused("not a regular file");
	rmdir(path);
}

static size_t load(unsigned char **bytes)
{
	FILE *file = fopen(path, "rb");
	size_t size;

	fseek(file, 0, SEEK_END);
	size = (size_t)ftell(file);
	rewind(file);
	*bytes = malloc(size);
	assert_int_equal(fread(*bytes, 1, size, file), size);
	fclose(file);
	return size;
}

static void store(const unsigned char *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* Refused with a line, or read and then fit to be reported. */
static bool survives(void)
{
	struct session *session = malloc(sizeof(*session));
	struct verdict *verdict = malloc(sizeof(*verdict));
	const struct report_text_options options = {.verbose = true, .explain = true};
	char line[RECORDING_LINE_SIZE];
	bool read = !read_session(session, line);

	if (read) {
		FILE *out = fopen("/dev/null", "w");
		json_t *json;

		diagnose(session, verdict);
		report_text_write(out, session, verdict, &options);
		json = report_json(session, verdict);
		assert_non_null(json);
		json_decref(json);
		report_perfetto_write(out, session, verdict);
		report_chrome_write(out, session, verdict);
		fclose(out);
		session_free(session);
	} else {
		assert_true(*line && !strchr(line, '\n'));
	}
	free(session);
	free(verdict);
	return read;
}

static void damaged_bytes(void **state)
{
	unsigned char *bytes, *copy;
	size_t size;
	int read = 0;

	(void)state;
	write_filled();
	size = load(&bytes);
	copy = malloc(size);
	assert_true(survives());
	srand(1);
	for (int round = 0; round < 400; round++) {
		memcpy(copy, bytes, size);
		for (int i = 0; i < 1 + round % 8; i++)
			copy[(size_t)rand() % (round % 2 ? size : 4096)] = (unsigned char)rand();
		store(copy, size);
		read += survives();
	}
	assert_true(read < 400); /* or nothing was damaged */
	for (size_t cut = 0; cut < size; cut += 4096 / 3) {
		store(bytes, cut);
		assert_false(survives());
	}
	free(bytes);
	free(copy);
}

/* What is committed is there after the writer was killed; the lines too. */
static void unfinished(void **state)
{
	struct session *session = malloc(sizeof(*session)), read;
	struct recording *recording;
	struct recording_info info;
	char line[RECORDING_LINE_SIZE];
	unsigned char *bytes;

	(void)state;
	fill_session(session);
	assert_int_equal(recording_create(path, "test 1", &recording, line), 0);
	assert_int_equal(recording_line(recording, 5, "RAM 1/2MB", 9), 0);
	assert_int_equal(recording_batch(recording, session, true), 0);
	session_init(&read);
	if (recording_read(path, &read, &info, line))
		fail_msg("%s", line);
	assert_false(info.finished);
	assert_int_equal(info.version, RECORDING_VERSION);
	assert_string_equal(info.tool, "test 1");
	assert_int_equal(read.nthreads, ROWS);
	assert_int_equal(read.series.n, ROWS);
	session_free(&read);

	session->series.points[2].t_ns = 777;
	assert_int_equal(recording_batch(recording, session, false), 0);
	assert_int_equal(recording_finish(recording, session), 0);
	recording_close(recording);
	if (recording_read(path, &read, &info, line))
		fail_msg("%s", line);
	assert_true(info.finished);
	assert_same(session, &read);
	/* one file, no longer in WAL mode (bytes 18 and 19 of the header) */
	load(&bytes);
	assert_int_equal(bytes[18], 1);
	free(bytes);
	session_free(&read);
	session_free(session);
	free(session);
}

/* SQLite's syncs of files come here. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool held;
	int waiting, of_writer;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int take_sync(int fd)
{
	(void)fd;
	pthread_mutex_lock(&disk.lock);
	if (syscall(SYS_gettid) == getpid()) {
		disk.of_writer++;
	} else {
		disk.waiting++;
		pthread_cond_broadcast(&disk.changed);
		while (disk.held)
			pthread_cond_wait(&disk.changed, &disk.lock);
		disk.waiting--;
	}
	pthread_mutex_unlock(&disk.lock);
	return 0;
}

int fsync(int fd)
{
	return take_sync(fd);
}

int fdatasync(int fd)
{
	return take_sync(fd);
}

static void hold_disk(bool held)
{
	pthread_mutex_lock(&disk.lock);
	disk.held = held;
	pthread_cond_broadcast(&disk.changed);
	pthread_mutex_unlock(&disk.lock);
}

static void await_sync(void)
{
	pthread_mutex_lock(&disk.lock);
	while (!disk.waiting)
		pthread_cond_wait(&disk.changed, &disk.lock);
	pthread_mutex_unlock(&disk.lock);
}

static off_t log_size(void)
{
	char log[80];
	struct stat st;

	snprintf(log, sizeof(log), "%s-wal", path);
	assert_int_equal(stat(log, &st), 0);
	return st.st_size;
}

static void write_ready(struct recording *recording, const struct session *session)
{
	while (!recording_ready(recording))
		usleep(1000);
	assert_int_equal(recording_line(recording, 5, "RAM 1/2MB", 9), 0);
	assert_int_equal(recording_batch(recording, session, true), 0);
}

/* The writer goes on, up to a limit, and its log does not grow for ever. */
static void disk_that_hangs(void **state)
{
	struct session *session = malloc(sizeof(*session)), read;
	struct recording *recording;
	char line[RECORDING_LINE_SIZE];
	off_t one, all;
	int batches = 1;

	(void)state;
	fill_session(session);
	disk.of_writer = 0;
	hold_disk(true);
	assert_int_equal(recording_create(path, "test 1", &recording, line), 0);
	write_ready(recording, session);
	await_sync();
	one = log_size();
	for (int tries = 0; tries < 100; tries++, usleep(100)) {
		if (!recording_ready(recording))
			continue;
		session->end_ns = ++batches;
		assert_int_equal(recording_batch(recording, session, true), 0);
	}
	all = log_size();
	assert_in_range(batches, 2, 10);
	assert_true(all > one);
	/* what SIGKILL would leave */
	assert_int_equal(read_session(&read, line), 0);
	assert_int_equal(read.end_ns, batches);
	session_free(&read);

	hold_disk(false);
	for (int i = 0; i < 20; i++) {
		write_ready(recording, session);
		assert_true(log_size() <= all);
	}
	while (log_size())
		usleep(1000);
	assert_int_equal(disk.of_writer, 0);
	assert_int_equal(recording_finish(recording, session), 0);
	recording_close(recording);
	assert_true(disk.of_writer > 0);
	assert_int_equal(read_session(&read, line), 0);
	assert_same(session, &read);
	session_free(&read);
	session_free(session);
	free(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_field_survives, make_path, remove_path),
		cmocka_unit_test_setup_teardown(nothing_known_survives, make_path, remove_path),
		cmocka_unit_test(every_field_has_a_column),
		cmocka_unit_test_setup_teardown(hostile_contents, make_path, remove_path),
		cmocka_unit_test_setup_teardown(other_writers, make_path, remove_path),
		cmocka_unit_test_setup_teardown(old_unknowns, make_path, remove_path),
		cmocka_unit_test_setup_teardown(first_schema, make_path, remove_path),
		cmocka_unit_test_setup_teardown(without_its_timeline, make_path, remove_path),
		cmocka_unit_test_setup_teardown(no_recordings, make_path, remove_path),
		cmocka_unit_test_setup_teardown(damaged_bytes, make_path, remove_path),
		cmocka_unit_test_setup_teardown(unfinished, make_path, remove_path),
		cmocka_unit_test_setup_teardown(disk_that_hangs, make_path, remove_path),
	};

	return cmocka_run_group_tests_name("recording", tests, NULL, NULL);
}
