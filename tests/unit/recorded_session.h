/* SPDX-License-Identifier: GPL-2.0-only */
/* A session with a row, or a few, in every table and a value in every field. */
#ifndef TEGRATRACE_TESTS_RECORDED_SESSION_H
#define TEGRATRACE_TESTS_RECORDED_SESSION_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/recording_tables.h"

/* Values that no other field has. */
static int counter;

static void fill_text(char *field, size_t size, bool hostile)
{
	memset(field, 0, size);
	snprintf(field, size, "%st%d \xc3\xa4", hostile ? "\x1b\xff" : "", counter);
	if (size > 12 && counter % 3 == 0)
		memset(field, 'x', size - 1);
}

static void fill_field(const struct column *column, char *field, bool unknown)
{
	counter++;
	switch (column->type) {
	case COLUMN_I32:
		*(int *)field = counter;
		break;
	case COLUMN_I32_OR:
		*(int *)field = unknown ? -1 : counter;
		break;
	case COLUMN_U32:
		*(uint32_t *)field = UINT32_MAX - (uint32_t)counter;
		break;
	case COLUMN_I64:
		*(int64_t *)field = unknown ? UNKNOWN_NS : (1LL << 44) + counter;
		break;
	case COLUMN_I64_KNOWN:
		*(int64_t *)field = (1LL << 40) + counter;
		break;
	case COLUMN_I64_OR:
		*(long long *)field = unknown ? -1 : counter;
		break;
	case COLUMN_SIZE:
		*(size_t *)field = (size_t)counter;
		break;
	case COLUMN_BOOL:
		*(bool *)field = counter % 2;
		break;
	case COLUMN_F32:
		*(float *)field = unknown ? NAN : (float)counter / 3;
		break;
	case COLUMN_F64:
		*(double *)field = unknown ? NAN : counter / 3.0;
		break;
	case COLUMN_TEXT:
	case COLUMN_BYTES:
		fill_text(field, column->size, column->type == COLUMN_BYTES);
		if (unknown)
			memset(field, 0, column->size);
		break;
	case COLUMN_STRING:
		if (asprintf((char **)field, "main;frame%d_[k]", counter) < 0)
			abort();
		break;
	case COLUMN_LABEL:
		break;
	case COLUMN_ENUM:
		*(unsigned int *)field = (unsigned int)(counter % column->names);
		break;
	case COLUMN_HIST:
		for (size_t i = 0; i < column->size / sizeof(uint32_t); i++)
			((uint32_t *)field)[i] = i % 3 ? UINT32_MAX - (uint32_t)i : 0;
		break;
	case COLUMN_SHARES:
		for (size_t i = 0; i < column->size / sizeof(float); i++)
			((float *)field)[i] = i % 3 ? (float)(counter + (int)i) / 7 : NAN;
		break;
	}
}

#define ROWS 3

static void fill_row(const struct table *table, char *row, size_t number)
{
	/* each field that can be is unknown in one of the rows, and in the single row every fifth */
	for (int i = 0; i < table->ncolumns; i++)
		fill_field(&table->columns[i], row + table->columns[i].offset,
			   table->kind == TABLE_ONE ? i % 5 == 0
						    : (number + (size_t)i) % ROWS == 0);
}

/* Room for the rows of a table, and their number. */
static char *make_rows(const struct table *table, struct session *session, size_t *n)
{
	char *base = table_base(table, session);
	char **heap = (char **)(base + table->offset);

	*n = table->max < ROWS ? table->max : ROWS;
	switch (table->kind) {
	case TABLE_COUNTED:
		*(int *)(base + table->count_offset) = (int)*n;
		break;
	case TABLE_FIXED:
		*n = table->max;
		break;
	case TABLE_HEAP:
	case TABLE_MAYBE:
		*heap = calloc(*n, table->row_size);
		if (!*heap)
			abort();
		if (table->kind == TABLE_HEAP)
			*(size_t *)(base + table->count_offset) = *n;
		return *heap;
	case TABLE_INSIDE:
		*(size_t *)(base + table->count_offset) = *n;
		break;
	case TABLE_ONE:
		break;
	}
	return base + table->offset;
}

static void fill_session(struct session *session)
{
	const struct table *table;

	session_init(session);
	counter = 0;
	/* counts of other tables stand in some of the single rows: those first */
	for (int single = 1; single >= 0; single--) {
		for (int i = 0; (table = recording_table(i)); i++) {
			char *rows;
			size_t n;

			if ((table->kind == TABLE_ONE) != single)
				continue;
			rows = make_rows(table, session, &n);
			for (size_t row = 0; row < n; row++)
				fill_row(table, rows + row * table->row_size, row);
		}
	}
	session->edges[0].stack = -1;
	session->edges[1].stack = 2;
	session->edges[2].stack = 0;
	session->cuda.feeder_kind = 4;
	session->faults.series->interval_ns = 1000;
	session->cpu_holders_measured = true;
	for (size_t i = 0; i < session->timeline.nrequests; i++)
		session->timeline.requests[i].queue_ns = i ? (int64_t)i : UNKNOWN_NS;
	for (size_t i = 0; i < session->series.n; i++)
		session->series.points[i].t_ns = (int64_t)i * 1000;
}

#endif
