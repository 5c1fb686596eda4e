/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_TEGRA_READER_H
#define TEGRATRACE_TEGRA_READER_H

#include "tegra/line.h"
#include "tegra/rows.h"

/*
 * A byte stream of tegrastats text: lines that end in LF, CR LF or CR, as UTF-8 or as UTF-16 with
 * its mark, in pieces of any size. Memory is bounded by the struct itself.
 */
#define TEGRA_READER_LINE_SIZE	  65536
#define TEGRA_READER_EXAMPLE_SIZE 96
#define TEGRA_READER_MAGIC_SIZE	  6

struct tegra_record {
	const struct tegra_sample *sample;
	/* The record's own text, not terminated; gone when the callback returns. */
	const char *raw;
	size_t raw_len;
	uint64_t line_no; /* from 1; two records may share a line, one may have several */
};

/* False stops the reader: tegra_reader_push() returns false and ignores all later bytes. */
typedef bool (*tegra_record_fn)(const struct tegra_record *record, void *ctx);

struct tegra_reader_stats {
	uint64_t bytes, lines, records;
	uint64_t rejoined; /* records put together again from the rows of a terminal */
	/* Lines that are not blank and gave no record, all and by reason. */
	uint64_t rejected;
	uint64_t rejected_by[TEGRA_LINE_REASONS];
	/* The first of them, as printable ASCII, cut to the size. */
	char example[TEGRA_READER_EXAMPLE_SIZE];
	uint64_t example_line_no;
	enum tegra_line_reason example_reason;
};

enum tegra_reader_form {
	TEGRA_READER_SNIFF, /* the first bytes decide */
	TEGRA_READER_BYTES,
	TEGRA_READER_UTF16LE,
	TEGRA_READER_UTF16BE,
	TEGRA_READER_COMPRESSED,
	TEGRA_READER_STOPPED
};

struct tegra_reader {
	enum tegra_reader_form form;
	bool live; /* set after tegra_reader_init(): no line may wait for the one behind it */
	struct tegra_reader_stats stats;
	bool skip_line; /* the line was too long: drop the rest of it */
	bool last_cr;	/* the last line ended in CR: a LF right behind it ends no line */
	bool have_half; /* UTF-16: one byte of a unit waits for the other */
	unsigned char half;
	unsigned char magic[TEGRA_READER_MAGIC_SIZE];
	size_t magic_len;
	size_t line_len;
	struct tegra_rows rows;
	struct tegra_sample sample;
	char line[TEGRA_READER_LINE_SIZE];
};

void tegra_reader_init(struct tegra_reader *reader);

/* Feeds bytes; calls fn for each record. False once fn has returned false. */
bool tegra_reader_push(struct tegra_reader *reader, const void *bytes, size_t n, tegra_record_fn fn,
		       void *ctx);

/* End of the stream: a line without its end is a cut one. */
bool tegra_reader_finish(struct tegra_reader *reader, tegra_record_fn fn, void *ctx);

#endif
