/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/recording_rows.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define SQL_SIZE  8192
#define LIST_SIZE 1024

/* Two years in ns, 64 PiB: what is beyond is no measurement, and sums would overflow. */
#define COUNT_MAX (1LL << 56)
/* ns since 1970: to 2043 */
#define DATE_MAX (1LL << 61)

static int64_t greatest(const struct column *column)
{
	return strstr(column->name, "_unix_ns") ? DATE_MAX : COUNT_MAX;
}

/* Plain text: valid UTF-8 without control characters. */
static bool is_text(const char *bytes, size_t len)
{
	char *copy = malloc(TEXT_SANITIZED_SIZE(len));
	bool same;

	if (!copy)
		return false;
	same = text_sanitize(copy, TEXT_SANITIZED_SIZE(len), bytes, len) == len &&
	       !memcmp(copy, bytes, len);
	free(copy);
	return same;
}

int bind_bytes(sqlite3_stmt *insert, int place, const char *bytes, size_t len)
{
	if (is_text(bytes, len))
		return sqlite3_bind_text(insert, place, bytes, (int)len, SQLITE_TRANSIENT);
	return sqlite3_bind_blob(insert, place, bytes, (int)len, SQLITE_TRANSIENT);
}

/* Sanitised text is valid UTF-8 but for a character that a field's end may have cut. */
static int bind_text(sqlite3_stmt *insert, int place, const char *text, size_t len)
{
	char *safe;
	int err;

	if (is_text(text, len))
		return sqlite3_bind_text(insert, place, text, (int)len, SQLITE_TRANSIENT);
	safe = malloc(TEXT_SANITIZED_SIZE(len));
	if (!safe)
		return SQLITE_NOMEM;
	text_sanitize(safe, len + 1, text, len);
	err = sqlite3_bind_text(insert, place, safe, -1, SQLITE_TRANSIENT);
	free(safe);
	return err;
}

static int bind_hist(sqlite3_stmt *insert, int place, const uint32_t *hist, size_t n)
{
	char list[LIST_SIZE] = "[";

	while (n && !hist[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		text_appendf(list, sizeof(list), "%s%u", i ? "," : "", hist[i]);
	text_appendf(list, sizeof(list), "]");
	return sqlite3_bind_text(insert, place, list, -1, SQLITE_TRANSIENT);
}

static int bind_shares(sqlite3_stmt *insert, int place, const float *shares, size_t n)
{
	char list[LIST_SIZE] = "[";

	while (n && !isfinite(shares[n - 1]))
		n--;
	for (size_t i = 0; i < n; i++) {
		text_appendf(list, sizeof(list), i ? "," : "");
		if (isfinite(shares[i]))
			text_appendf(list, sizeof(list), "%.9g", (double)shares[i]);
		else
			text_appendf(list, sizeof(list), "null");
	}
	text_appendf(list, sizeof(list), "]");
	return sqlite3_bind_text(insert, place, list, -1, SQLITE_TRANSIENT);
}

static int bind_known(sqlite3_stmt *insert, int place, int64_t value, int64_t unknown)
{
	return value == unknown ? sqlite3_bind_null(insert, place)
				: sqlite3_bind_int64(insert, place, value);
}

/* One that the reader would refuse the whole file for is unknown: a memory limit of an exbibyte. */
static int bind_count(sqlite3_stmt *insert, int place, int64_t value, int64_t max)
{
	return value < -COUNT_MAX || value > max ? sqlite3_bind_null(insert, place)
						 : sqlite3_bind_int64(insert, place, value);
}

static int bind_enum(sqlite3_stmt *insert, int place, const struct column *column,
		     unsigned int value)
{
	if (value >= (unsigned int)column->names)
		return sqlite3_bind_null(insert, place);
	return sqlite3_bind_text(insert, place, column->name_of((int)value), -1, SQLITE_STATIC);
}

static int bind_string(sqlite3_stmt *insert, int place, const char *text)
{
	return text ? bind_text(insert, place, text, strlen(text))
		    : sqlite3_bind_null(insert, place);
}

static int bind_field(sqlite3_stmt *insert, int place, const struct column *column,
		      const char *field)
{
	switch (column->type) {
	case COLUMN_I32:
		return sqlite3_bind_int(insert, place, *(const int *)field);
	case COLUMN_I32_OR:
		return bind_known(insert, place, *(const int *)field, -1);
	case COLUMN_U32:
		return sqlite3_bind_int64(insert, place, *(const uint32_t *)field);
	case COLUMN_I64_KNOWN: /* one that is not is refused here, by its table, not by the reader */
		return bind_known(insert, place, *(const int64_t *)field, UNKNOWN_COUNT);
	case COLUMN_I64:
		return bind_count(insert, place, *(const int64_t *)field, greatest(column));
	case COLUMN_I64_OR:
		return bind_known(insert, place, *(const long long *)field, -1);
	case COLUMN_SIZE:
		return sqlite3_bind_int64(insert, place, (int64_t) * (const size_t *)field);
	case COLUMN_BOOL:
		return sqlite3_bind_int(insert, place, *(const bool *)field);
	case COLUMN_F32: /* NAN becomes NULL by itself */
		return sqlite3_bind_double(insert, place, *(const float *)field);
	case COLUMN_F64:
		return sqlite3_bind_double(insert, place, *(const double *)field);
	case COLUMN_TEXT:
		return *field ? bind_text(insert, place, field, strnlen(field, column->size))
			      : sqlite3_bind_null(insert, place);
	case COLUMN_BYTES:
		return *field ? bind_bytes(insert, place, field, strnlen(field, column->size))
			      : sqlite3_bind_null(insert, place);
	case COLUMN_STRING:
	case COLUMN_LABEL:
		return bind_string(insert, place, *(const char *const *)field);
	case COLUMN_ENUM:
		return bind_enum(insert, place, column, *(const unsigned int *)field);
	case COLUMN_HIST:
		return bind_hist(insert, place, (const uint32_t *)field,
				 column->size / sizeof(uint32_t));
	case COLUMN_SHARES:
		return bind_shares(insert, place, (const float *)field,
				   column->size / sizeof(float));
	}
	return SQLITE_ERROR;
}

static int prepare_insert(sqlite3 *db, const struct table *table, sqlite3_stmt **insert)
{
	char sql[SQL_SIZE] = "";

	text_appendf(sql, sizeof(sql), "INSERT INTO %s(row", table->name);
	for (int i = 0; i < table->ncolumns; i++)
		text_appendf(sql, sizeof(sql), ",%s", table->columns[i].name);
	text_appendf(sql, sizeof(sql), ") VALUES(?");
	for (int i = 0; i < table->ncolumns; i++)
		text_appendf(sql, sizeof(sql), ",?");
	text_appendf(sql, sizeof(sql), ")");
	return sqlite3_prepare_v2(db, sql, -1, insert, NULL);
}

int rows_insert(sqlite3 *db, const struct table *table, const char *rows, size_t from, size_t to)
{
	sqlite3_stmt *insert;
	int err;

	if (from >= to)
		return SQLITE_OK;
	err = prepare_insert(db, table, &insert);
	for (size_t row = from; !err && row < to; row++) {
		const char *base = rows + row * table->row_size;

		err = sqlite3_bind_int64(insert, 1, (int64_t)row);
		for (int i = 0; !err && i < table->ncolumns; i++)
			err = bind_field(insert, i + 2, &table->columns[i],
					 base + table->columns[i].offset);
		if (!err && sqlite3_step(insert) != SQLITE_DONE)
			err = sqlite3_errcode(db);
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
	return err;
}

static int read_integer(sqlite3_stmt *select, int place, int64_t min, int64_t max, int64_t *value)
{
	if (sqlite3_column_type(select, place) != SQLITE_INTEGER)
		return SQLITE_MISMATCH;
	*value = sqlite3_column_int64(select, place);
	return *value < min || *value > max ? SQLITE_MISMATCH : SQLITE_OK;
}

static int read_real(sqlite3_stmt *select, int place, double *value)
{
	int type = sqlite3_column_type(select, place);

	if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
		return SQLITE_MISMATCH;
	*value = sqlite3_column_double(select, place);
	return SQLITE_OK;
}

/* The bytes of a text or a blob, which hold no NUL. */
static const char *read_bytes(sqlite3_stmt *select, int place, size_t *len)
{
	int type = sqlite3_column_type(select, place);
	const char *bytes;

	if (type != SQLITE_TEXT && type != SQLITE_BLOB)
		return NULL;
	bytes = sqlite3_column_blob(select, place);
	*len = (size_t)sqlite3_column_bytes(select, place);
	if (!bytes)
		return *len ? NULL : "";
	return memchr(bytes, 0, *len) ? NULL : bytes;
}

static int read_text(sqlite3_stmt *select, int place, const struct column *column, char *field)
{
	size_t len;
	const char *bytes = read_bytes(select, place, &len);

	if (!bytes || len >= column->size)
		return SQLITE_MISMATCH;
	memset(field, 0, column->size);
	if (column->type == COLUMN_BYTES)
		memcpy(field, bytes, len);
	else
		text_sanitize(field, column->size, bytes, len);
	return SQLITE_OK;
}

static int read_string(sqlite3_stmt *select, int place, char **field)
{
	size_t len;
	const char *bytes = read_bytes(select, place, &len);

	if (!bytes)
		return SQLITE_MISMATCH;
	*field = malloc(TEXT_SANITIZED_SIZE(len));
	if (!*field)
		return SQLITE_NOMEM;
	text_sanitize(*field, TEXT_SANITIZED_SIZE(len), bytes, len);
	return SQLITE_OK;
}

static int read_enum(sqlite3_stmt *select, int place, const struct column *column,
		     unsigned int *field)
{
	size_t len;
	const char *bytes = read_bytes(select, place, &len);

	for (int i = 0; bytes && i < column->names; i++) {
		const char *name = column->name_of(i);

		if (strlen(name) == len && !memcmp(name, bytes, len)) {
			*field = (unsigned int)i;
			return SQLITE_OK;
		}
	}
	return SQLITE_MISMATCH;
}

/* A JSON array of at most n numbers, or nulls; the rest becomes `none`. */
static int read_list(sqlite3_stmt *select, int place, double *values, size_t n, double none)
{
	char list[LIST_SIZE], *at = list;
	size_t len, i = 0;
	const char *bytes = read_bytes(select, place, &len);

	if (!bytes || len < 2 || len >= sizeof(list) || bytes[0] != '[' || bytes[len - 1] != ']')
		return SQLITE_MISMATCH;
	memcpy(list, bytes, len);
	list[len - 1] = 0;
	for (at++; *at; at += *at == ',') {
		char *end = at;

		if (i == n)
			return SQLITE_MISMATCH;
		if (!strncmp(at, "null", 4)) {
			values[i++] = NAN;
			end = at + 4;
		} else {
			values[i++] = strtod(at, &end);
		}
		if (end == at || (*end && *end != ','))
			return SQLITE_MISMATCH;
		at = end;
	}
	while (i < n)
		values[i++] = none;
	return SQLITE_OK;
}

#define LIST_MAX 64

static int read_hist(sqlite3_stmt *select, int place, uint32_t *hist, size_t n)
{
	double values[LIST_MAX];
	int err = read_list(select, place, values, n, 0);

	for (size_t i = 0; !err && i < n; i++) {
		if (!(values[i] >= 0 && values[i] <= UINT32_MAX))
			return SQLITE_MISMATCH;
		hist[i] = (uint32_t)values[i];
	}
	return err;
}

static int read_shares(sqlite3_stmt *select, int place, float *shares, size_t n)
{
	double values[LIST_MAX];
	int err = read_list(select, place, values, n, NAN);

	for (size_t i = 0; !err && i < n; i++)
		shares[i] = fabs(values[i]) <= 1e9 ? (float)values[i] : NAN;
	return err;
}

static void set_unknown(const struct column *column, char *field)
{
	switch (column->type) {
	case COLUMN_I32_OR:
		*(int *)field = -1;
		break;
	case COLUMN_I64:
		*(int64_t *)field = UNKNOWN_COUNT;
		break;
	case COLUMN_I64_OR:
		*(long long *)field = -1;
		break;
	case COLUMN_F32:
		*(float *)field = NAN;
		break;
	case COLUMN_F64:
		*(double *)field = NAN;
		break;
	case COLUMN_SHARES:
		for (size_t i = 0; i < column->size / sizeof(float); i++)
			((float *)field)[i] = NAN;
		break;
	case COLUMN_LABEL:
		break;
	default:
		memset(field, 0, column->size);
	}
}

/* Neither infinite nor so large that a sum or a conversion to an integer would overflow. */
static bool is_sane(double value)
{
	return fabs(value) <= 1e30;
}

static int read_float(sqlite3_stmt *select, int place, const struct column *column, char *field)
{
	double value;
	int err = read_real(select, place, &value);

	if (err)
		return err;
	if (!is_sane(value))
		value = NAN;
	if (column->type == COLUMN_F32)
		*(float *)field = (float)value;
	else
		*(double *)field = value;
	return SQLITE_OK;
}

/* Columns that held no NULL until some were found to need it have this in files of then. */
static bool is_old_unknown(sqlite3_stmt *select, int place)
{
	return sqlite3_column_type(select, place) == SQLITE_INTEGER &&
	       sqlite3_column_int64(select, place) == UNKNOWN_COUNT;
}

static int read_whole(sqlite3_stmt *select, int place, const struct column *column, char *field)
{
	int64_t value, min, max;
	int err;

	switch (column->type) {
	case COLUMN_I32:
	case COLUMN_I32_OR:
		err = read_integer(select, place, INT_MIN, INT_MAX, &value);
		if (!err)
			*(int *)field = (int)value;
		return err;
	case COLUMN_U32:
		err = read_integer(select, place, 0, UINT32_MAX, &value);
		if (!err)
			*(uint32_t *)field = (uint32_t)value;
		return err;
	case COLUMN_BOOL:
		err = read_integer(select, place, 0, 1, &value);
		if (!err)
			*(bool *)field = value;
		return err;
	case COLUMN_SIZE:
		err = read_integer(select, place, 0, INT64_MAX, &value);
		if (!err)
			*(size_t *)field = (size_t)value;
		return err;
	default:
		min = column->type == COLUMN_I64_KNOWN ? 0 : -COUNT_MAX;
		max = greatest(column);
		if (column->type == COLUMN_I64 && is_old_unknown(select, place)) {
			*(int64_t *)field = UNKNOWN_COUNT;
			return SQLITE_OK;
		}
		err = read_integer(select, place, min, max, &value);
		if (!err)
			*(int64_t *)field = value;
		return err;
	}
}

static int read_field(sqlite3_stmt *select, int place, const struct column *column, char *field)
{
	if (place < 0 || sqlite3_column_type(select, place) == SQLITE_NULL) {
		/* others rely on them */
		if (column->type == COLUMN_STRING || column->type == COLUMN_I64_KNOWN)
			return SQLITE_MISMATCH;
		set_unknown(column, field);
		return SQLITE_OK;
	}
	switch (column->type) {
	case COLUMN_F32:
	case COLUMN_F64:
		return read_float(select, place, column, field);
	case COLUMN_TEXT:
	case COLUMN_BYTES:
		return read_text(select, place, column, field);
	case COLUMN_STRING:
		return read_string(select, place, (char **)field);
	case COLUMN_LABEL:
		return SQLITE_OK;
	case COLUMN_ENUM:
		return read_enum(select, place, column, (unsigned int *)field);
	case COLUMN_HIST:
		return read_hist(select, place, (uint32_t *)field, column->size / sizeof(uint32_t));
	case COLUMN_SHARES:
		return read_shares(select, place, (float *)field, column->size / sizeof(float));
	default:
		return read_whole(select, place, column, field);
	}
}

/* Where the file has each column; -1: this file lacks it. */
static void find_columns(sqlite3_stmt *select, const struct table *table, int *places)
{
	int n = sqlite3_column_count(select);

	for (int i = 0; i < table->ncolumns; i++) {
		places[i] = -1;
		for (int k = 0; k < n && places[i] < 0; k++) {
			const char *name = sqlite3_column_name(select, k);

			if (name && !strcmp(name, table->columns[i].name))
				places[i] = k;
		}
	}
}

/* The place of row `row`, made when the table is on the heap; NULL when there is none to be had. */
static char *row_place(const struct table *table, struct session *session, size_t row)
{
	char *base = table_base(table, session), **heap;

	if (!base)
		return NULL;
	heap = (char **)(base + table->offset);
	switch (table->kind) {
	case TABLE_ONE:
	case TABLE_FIXED:
	case TABLE_COUNTED:
	case TABLE_INSIDE:
		break;
	case TABLE_MAYBE:
		if (!*heap)
			*heap = calloc(1, table->row_size);
		return *heap;
	case TABLE_HEAP:
		/* powers of two, as session_add_thread() and series_add() have them */
		if (!row || (row >= 256 && !(row & (row - 1)))) {
			char *grown = reallocarray(*heap, row ? 2 * row : 256, table->row_size);

			if (!grown)
				return NULL;
			*heap = grown;
		}
		memset(*heap + row * table->row_size, 0, table->row_size);
		*(size_t *)(base + table->count_offset) = row + 1;
		return *heap + row * table->row_size;
	}
	return base + table->offset + row * table->row_size;
}

static int read_row(sqlite3_stmt *select, const struct table *table, const int *places, char *row,
		    char *what, size_t what_size)
{
	for (int i = 0; i < table->ncolumns; i++) {
		const struct column *column = &table->columns[i];
		int err = read_field(select, places[i], column, row + column->offset);

		if (err == SQLITE_MISMATCH)
			snprintf(what, what_size, "%s.%s", table->name, column->name);
		if (err)
			return err;
	}
	return SQLITE_OK;
}

/* The count that another table holds, against the rows that there are. */
static int check_count(const struct table *table, struct session *session, size_t rows)
{
	char *base = table_base(table, session);
	int *count;

	if (!base || (table->kind != TABLE_COUNTED && table->kind != TABLE_INSIDE))
		return SQLITE_OK;
	if (table->kind == TABLE_INSIDE) {
		*(size_t *)(base + table->count_offset) = rows;
		return SQLITE_OK;
	}
	count = (int *)(base + table->count_offset);
	if (*count < 0 && !rows)
		return SQLITE_OK;
	if (*count < 0)
		return SQLITE_MISMATCH;
	if (!table->may_exceed || *count < (int)rows)
		*count = (int)rows;
	return SQLITE_OK;
}

int rows_read(sqlite3 *db, const struct table *table, struct session *session, char *what,
	      size_t what_size)
{
	int places[COLUMNS_MAX], err, step = SQLITE_DONE;
	sqlite3_stmt *select = NULL;
	char sql[128];
	size_t n = 0;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY row", table->name);
	err = sqlite3_prepare_v2(db, sql, -1, &select, NULL);
	if (err)
		return err;
	find_columns(select, table, places);
	while (!err && (step = sqlite3_step(select)) == SQLITE_ROW) {
		char *row = n < table->max ? row_place(table, session, n) : NULL;

		if (!row) {
			snprintf(what, what_size, "%s, which has too many rows", table->name);
			err = n < table->max && table->kind == TABLE_HEAP ? SQLITE_NOMEM
									  : SQLITE_MISMATCH;
			break;
		}
		err = read_row(select, table, places, row, what, what_size);
		n++;
	}
	if (!err && step != SQLITE_DONE)
		err = sqlite3_errcode(db);
	sqlite3_finalize(select);
	if (!err && check_count(table, session, n)) {
		snprintf(what, what_size, "%s, which has rows that should not be", table->name);
		err = SQLITE_MISMATCH;
	}
	return err;
}
