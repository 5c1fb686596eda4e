/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one description of how a session lies in a recording: which table holds which struct, which
 * column which field. Writer, reader and printed schema all follow it, so they cannot drift apart.
 */
#ifndef TEGRATRACE_RECORDING_TABLES_H
#define TEGRATRACE_RECORDING_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

enum column_type {
	COLUMN_I32,
	COLUMN_I32_OR, /* -1 is unknown */
	COLUMN_U32,
	COLUMN_I64,	  /* UNKNOWN_NS is unknown */
	COLUMN_I64_KNOWN, /* always known, never below 0 */
	COLUMN_I64_OR,
	COLUMN_SIZE,
	COLUMN_BOOL,
	COLUMN_F32, /* NAN is unknown */
	COLUMN_F64,
	COLUMN_TEXT,   /* char[], sanitised; "" is unknown */
	COLUMN_BYTES,  /* char[] from the kernel, hostile: text, or a blob when it is no text */
	COLUMN_STRING, /* char *, malloc'd, sanitised */
	COLUMN_LABEL,  /* const char * of the program: written for people, not read back */
	COLUMN_ENUM,   /* by name */
	COLUMN_HIST,   /* uint32_t[]: JSON array, without the zeros at its end */
	COLUMN_SHARES, /* float[]: JSON array, without the nulls at its end */
};

struct column {
	const char *name; /* ends in its unit where it has one */
	enum column_type type;
	size_t offset, size; /* of the field in the row */
	const char *(*name_of)(int value);
	int names; /* values of the enum */
};

/* Of one table. */
#define COLUMNS_MAX 96

enum table_kind {
	TABLE_ONE,     /* a struct: one row */
	TABLE_FIXED,   /* array of `max` rows, all of them used */
	TABLE_COUNTED, /* array of `max` rows, an int says how many are used; -1 unknown */
	TABLE_HEAP,    /* pointer to an array, a size_t says how long it is */
	TABLE_MAYBE,   /* pointer to one row, or NULL */
	TABLE_INSIDE,  /* array of `max` rows in its owner, a size_t says how many are used */
};

struct table {
	const char *name;
	const char *comment;
	const struct column *columns;
	int ncolumns;
	enum table_kind kind;
	size_t row_size;
	size_t offset;	     /* of the row, the array or the pointer to it in the session */
	size_t count_offset; /* of the count, likewise */
	size_t max;	     /* rows at most */
	/* The count may say more than there are rows. */
	bool may_exceed;
	int since; /* schema version that has it; 0: all have */
	/* Offset of a pointer in the session: offsets above are in what that points to. 0 = none. */
	size_t owner;
};

/* The tables by number; NULL behind the last. */
const struct table *recording_table(int number);

/* Those of the board, GPU and memory. */
extern const struct table recording_board_tables[];
extern const int recording_board_ntables;

/* What the offsets of a table count from; NULL when its owner is not there. */
char *table_base(const struct table *table, const struct session *session);

/* The rows and their number. */
const char *table_rows(const struct table *table, const struct session *session, size_t *n);

#define FIELD_TYPE(S, field) \
	_Generic(((S *)0)->field,        \
		int: COLUMN_I32,         \
		unsigned int: COLUMN_U32, \
		long: COLUMN_I64,        \
		unsigned long: COLUMN_SIZE, \
		_Bool: COLUMN_BOOL,      \
		float: COLUMN_F32,       \
		double: COLUMN_F64,      \
		const char *: COLUMN_LABEL, \
		char *: COLUMN_TEXT)

#define COLUMN(text, kind, S, field)                                      \
	{                                                                 \
		.name = text, .type = kind, .offset = offsetof(S, field), \
		.size = sizeof(((S *)0)->field)                           \
	}
/* A field of the type that its declaration says, under its own name or another. */
#define AS(text, S, field)	 COLUMN(text, FIELD_TYPE(S, field), S, field)
#define F(S, field)		 AS(#field, S, field)
#define OR_UNKNOWN(S, field)	 COLUMN(#field, COLUMN_I32_OR, S, field)
#define KNOWN_AS(text, S, field) COLUMN(text, COLUMN_I64_KNOWN, S, field)
#define KNOWN(S, field)		 KNOWN_AS(#field, S, field)
#define BYTES(S, field)		 COLUMN(#field, COLUMN_BYTES, S, field)
#define STRING(S, field)	 COLUMN(#field, COLUMN_STRING, S, field)
#define HIST(text, S, field)	 COLUMN(text, COLUMN_HIST, S, field)
#define ENUM(text, S, field, of, n)                                              \
	{                                                                        \
		.name = text, .type = COLUMN_ENUM, .offset = offsetof(S, field), \
		.size = sizeof(((S *)0)->field), .name_of = of, .names = n       \
	}

/* The columns and the place of a table. */
#define COLUMNS(set) .columns = set, .ncolumns = COUNT_OF(set)
/* Fields of the session itself. */
#define ONE(set) COLUMNS(set), .kind = TABLE_ONE, .row_size = sizeof(struct session), .max = 1
#define ROWS_OF(array)                             \
	.offset = offsetof(struct session, array), \
	.row_size = sizeof(((struct session *)0)->array[0])
#define ROWS_IN(array)                                                \
	ROWS_OF(array), .max = sizeof(((struct session *)0)->array) / \
			       sizeof(((struct session *)0)->array[0])
#define FIXED(set, array) COLUMNS(set), .kind = TABLE_FIXED, ROWS_IN(array)
#define COUNTED(set, array, n)                               \
	COLUMNS(set), .kind = TABLE_COUNTED, ROWS_IN(array), \
		      .count_offset = offsetof(struct session, n)
#define HEAP(set, array, n, limit)                        \
	COLUMNS(set), .kind = TABLE_HEAP, ROWS_OF(array), \
		      .count_offset = offsetof(struct session, n), .max = limit

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

#endif
