/* SPDX-License-Identifier: GPL-2.0-only */
/* Damages a recording; what is read all the same must be fit for every writer. */
#include <stddef.h>
#include <sqlite3.h>
#include <stdint.h>
#include <unistd.h>

#include "report/trace/chrome.h"
#include "report/json/json.h"
#include "report/json/json_series.h"
#include "report/text/text.h"
#include "session/recording.h"
#include "unit/recorded_session.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];
static unsigned char *whole, *damaged;
static size_t whole_size;
static FILE *null;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char line[RECORDING_LINE_SIZE];
	struct recording *recording;
	struct session session;
	FILE *file;

	(void)argc, (void)argv;
	snprintf(path, sizeof(path), "/dev/shm/fuzz-recording-%d", getpid());
	fclose(fopen(path, "w"));
	fill_session(&session);
	if (recording_create(path, "fuzz", &recording, line) ||
	    recording_finish(recording, &session))
		abort();
	recording_close(recording);
	session_free(&session);
	file = fopen(path, "rb");
	fseek(file, 0, SEEK_END);
	whole_size = (size_t)ftell(file);
	rewind(file);
	whole = malloc(whole_size);
	damaged = malloc(whole_size);
	if (fread(whole, 1, whole_size, file) != whole_size)
		abort();
	fclose(file);
	null = fopen("/dev/null", "w");
	return 0;
}

/* Patches: three bytes of place, one byte to put there. */
static void patch(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i + 4 <= size; i += 4)
		damaged[(size_t)(data[i] << 16 | data[i + 1] << 8 | data[i + 2]) % whole_size] =
			data[i + 3];
}

static void store(void)
{
	FILE *file = fopen(path, "wb");

	fwrite(damaged, 1, whole_size, file);
	fclose(file);
}

#define EDIT 12

/* Edits that SQL allows: table, column, row, kind of value, eight bytes of it. */
static void edit(sqlite3 *db, const uint8_t *data)
{
	const struct table *table;
	const struct column *column;
	sqlite3_stmt *update;
	char sql[256];
	int64_t value;
	int tables = 0;

	while (recording_table(tables))
		tables++;
	table = recording_table(data[0] % tables);
	column = &table->columns[data[1] % table->ncolumns];
	snprintf(sql, sizeof(sql), "UPDATE %s SET %s = ?1 WHERE row %% 3 = ?2", table->name,
		 column->name);
	if (sqlite3_prepare_v2(db, sql, -1, &update, NULL))
		abort();
	memcpy(&value, data + 4, sizeof(value));
	switch (data[3] % 6) {
	case 0:
		sqlite3_bind_int64(update, 1, value);
		break;
	case 1:
		sqlite3_bind_int64(update, 1, (int8_t)data[4]);
		break;
	case 2:
		sqlite3_bind_double(update, 1, *(double *)&value);
		break;
	case 3:
		sqlite3_bind_text(update, 1, (const char *)data + 4, data[3] / 6 % 9,
				  SQLITE_TRANSIENT);
		break;
	case 4:
		sqlite3_bind_null(update, 1);
		break;
	case 5:
		if (column->names)
			sqlite3_bind_text(update, 1, column->name_of(data[4] % column->names), -1,
					  SQLITE_TRANSIENT);
		break;
	}
	sqlite3_bind_int(update, 2, data[2] % 3);
	sqlite3_step(update); /* STRICT may refuse it */
	sqlite3_finalize(update);
}

static void edit_all(const uint8_t *data, size_t size)
{
	sqlite3 *db;

	store();
	if (sqlite3_open(path, &db))
		abort();
	sqlite3_exec(db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF; BEGIN", NULL, NULL,
		     NULL);
	for (size_t i = 0; i + EDIT <= size; i += EDIT)
		edit(db, data + i);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct report_text_options options = {.verbose = true, .explain = true};
	char line[RECORDING_LINE_SIZE];
	struct recording_info info;
	struct session session;
	struct verdict verdict;

	memcpy(damaged, whole, whole_size);
	if (size && data[0] % 4 == 0) {
		patch(data + 1, size - 1);
		store();
	} else if (size) {
		edit_all(data + 1, size - 1);
	}
	session_init(&session);
	if (recording_read(path, &session, &info, line))
		return 0;
	diagnose(&session, &verdict);
	report_text_write(null, &session, &verdict, &options);
	json_decref(report_json(&session, &verdict));
	json_decref(json_series(&session, &verdict));
	report_chrome_write(null, &session, &verdict);
	session_free(&session);
	return 0;
}
