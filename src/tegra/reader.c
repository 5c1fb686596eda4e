/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/reader.h"

#include <string.h>

static const struct {
	const char *bytes;
	uint8_t len;
	enum tegra_reader_form form;
} magics[] = {
	{"\xff\xfe", 2, TEGRA_READER_UTF16LE},
	{"\xfe\xff", 2, TEGRA_READER_UTF16BE},
	{"\x1f\x8b", 2, TEGRA_READER_COMPRESSED},
	{"BZh", 3, TEGRA_READER_COMPRESSED},
	{"\x28\xb5\x2f\xfd", 4, TEGRA_READER_COMPRESSED},
	{"\xfd"
	 "7zXZ\0",
	 6, TEGRA_READER_COMPRESSED},
};

struct sink {
	tegra_record_fn fn;
	void *ctx;
};

void tegra_reader_init(struct tegra_reader *reader)
{
	memset(reader, 0, offsetof(struct tegra_reader, sample));
}

static void reject(struct tegra_reader *r, enum tegra_line_reason reason, const char *text,
		   size_t len)
{
	struct tegra_reader_stats *st = &r->stats;

	st->rejected_by[reason]++;
	if (st->rejected++)
		return;
	if (len > sizeof(st->example) - 1)
		len = sizeof(st->example) - 1;
	for (size_t i = 0; i < len; i++)
		st->example[i] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
	st->example[len] = '\0';
	st->example_line_no = st->lines;
	st->example_reason = reason;
}

/* One line without its end. `whole` tells whether the end was seen. */
static void read_line(struct tegra_reader *r, const struct sink *to, const char *text, size_t len,
		      bool whole, bool too_long)
{
	struct tegra_record rec = {.sample = &r->sample};
	enum tegra_line_reason reason;
	struct tegra_span span;
	uint64_t records = 0;
	size_t pos = 0;

	rec.line_no = ++r->stats.lines;
	while (r->form != TEGRA_READER_STOPPED) {
		reason = tegra_line_next(text, len, &pos, whole, &r->sample, &span);
		if (reason != TEGRA_LINE_OK) {
			if (!records && too_long)
				reason = TEGRA_LINE_TOO_LONG;
			if (!records && reason != TEGRA_LINE_BLANK)
				reject(r, reason, text, len);
			return;
		}
		records++;
		r->stats.records++;
		rec.raw = text + span.start;
		rec.raw_len = span.end - span.start;
		if (!to->fn(&rec, to->ctx))
			r->form = TEGRA_READER_STOPPED;
	}
}

/* The rows held back: one record, or else lines of their own. */
static void read_rows(struct tegra_reader *r, const struct sink *to, bool whole)
{
	char joined[TEGRA_ROWS_JOINED_SIZE];
	struct tegra_record rec = {.sample = &r->sample};
	struct tegra_span span;
	uint32_t n = r->form == TEGRA_READER_STOPPED ? 0 : r->rows.n;

	if (n && tegra_rows_join(&r->rows, whole, joined, &r->sample, &span)) {
		rec.line_no = r->stats.lines + 1;
		rec.raw = joined + span.start;
		rec.raw_len = span.end - span.start;
		r->stats.lines += n;
		r->stats.records++;
		r->stats.rejoined++;
		if (!to->fn(&rec, to->ctx))
			r->form = TEGRA_READER_STOPPED;
	} else {
		for (uint32_t i = 0; i < n; i++)
			read_line(r, to, r->rows.text[i], r->rows.len[i], whole || i + 1 < n,
				  false);
	}
	r->rows.n = 0;
}

static void take_line(struct tegra_reader *r, const struct sink *to, const char *text, size_t len,
		      bool whole, bool too_long)
{
	if (!r->live && tegra_rows_take(&r->rows, text, len)) {
		if (!whole)
			read_rows(r, to, false);
		return;
	}
	if (r->rows.n) {
		read_rows(r, to, true);
		take_line(r, to, text, len, whole, too_long);
		return;
	}
	read_line(r, to, text, len, whole, too_long);
}

/* Text of a line whose end is not seen yet. */
static void keep(struct tegra_reader *r, const struct sink *to, const char *p, size_t n)
{
	while (n && !r->skip_line) {
		size_t room = sizeof(r->line) - r->line_len, piece;
		const char *nul;

		/* A power loss leaves a hole of NUL bytes of any length: one stands for all. */
		if (*p == '\0' && (!r->line_len || r->line[r->line_len - 1] == '\0')) {
			p++;
			n--;
			continue;
		}
		if (!room) {
			take_line(r, to, r->line, r->line_len, false, true);
			r->line_len = 0;
			r->skip_line = true;
			return;
		}
		nul = memchr(p, '\0', n);
		piece = nul ? (size_t)(nul - p) + 1 : n;
		if (piece > room)
			piece = room;
		memcpy(r->line + r->line_len, p, piece);
		r->line_len += piece;
		p += piece;
		n -= piece;
	}
}

static void end_line(struct tegra_reader *r, const struct sink *to)
{
	if (!r->skip_line)
		take_line(r, to, r->line, r->line_len, true, false);
	r->skip_line = false;
	r->line_len = 0;
}

/* Bytes up to a line end, or all when there is none; a whole line is read where it lies. */
static void push_bytes(struct tegra_reader *r, const struct sink *to, const char *p, size_t n)
{
	const char *end = p + n, *lf = NULL, *stop;
	bool lf_known = false;

	while (p < end && r->form != TEGRA_READER_STOPPED) {
		if (r->last_cr && *p == '\n') {
			r->last_cr = false;
			p++;
			continue;
		}
		r->last_cr = false;
		if (!lf_known || (lf && lf < p))
			lf = memchr(p, '\n', (size_t)(end - p));
		lf_known = true;
		stop = memchr(p, '\r', (size_t)((lf ? lf : end) - p));
		if (!stop)
			stop = lf;
		if (!stop) {
			keep(r, to, p, (size_t)(end - p));
			return;
		}
		if (!r->line_len && !r->skip_line && stop - p <= (ptrdiff_t)sizeof(r->line)) {
			take_line(r, to, p, (size_t)(stop - p), true, false);
		} else {
			keep(r, to, p, (size_t)(stop - p));
			end_line(r, to);
		}
		r->last_cr = *stop == '\r';
		p = stop + 1;
	}
}

/* tegrastats prints ASCII only, so any other UTF-16 unit stands for a byte that fits nothing. */
static void push_utf16(struct tegra_reader *r, const struct sink *to, const unsigned char *p,
		       size_t n)
{
	char out[256];
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned int unit;

		if (!r->have_half) {
			r->half = p[i];
			r->have_half = true;
			continue;
		}
		r->have_half = false;
		unit = r->form == TEGRA_READER_UTF16LE ? (unsigned int)p[i] << 8 | r->half
						       : (unsigned int)r->half << 8 | p[i];
		out[len++] = unit < 0x80 ? (char)unit : '?';
		if (len == sizeof(out)) {
			push_bytes(r, to, out, len);
			len = 0;
		}
	}
	push_bytes(r, to, out, len);
}

static void push_form(struct tegra_reader *r, const struct sink *to, const unsigned char *p,
		      size_t n)
{
	if (r->form == TEGRA_READER_BYTES)
		push_bytes(r, to, (const char *)p, n);
	else if (r->form == TEGRA_READER_UTF16LE || r->form == TEGRA_READER_UTF16BE)
		push_utf16(r, to, p, n);
}

/* Holds the first bytes back until they tell the form. */
static void sniff(struct tegra_reader *r, const struct sink *to, bool at_end)
{
	bool may_match = false;

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		size_t n = r->magic_len < magics[i].len ? r->magic_len : magics[i].len;

		if (memcmp(r->magic, magics[i].bytes, n) != 0)
			continue;
		if (n < magics[i].len) {
			may_match = true;
			continue;
		}
		r->form = magics[i].form;
		if (r->form == TEGRA_READER_COMPRESSED) {
			r->stats.lines = 1;
			reject(r, TEGRA_LINE_COMPRESSED, (const char *)r->magic, n);
		}
		return;
	}
	if (may_match && !at_end)
		return;
	r->form = TEGRA_READER_BYTES;
	push_bytes(r, to, (const char *)r->magic, r->magic_len);
}

bool tegra_reader_push(struct tegra_reader *reader, const void *bytes, size_t n, tegra_record_fn fn,
		       void *ctx)
{
	const struct sink to = {.fn = fn, .ctx = ctx};
	const unsigned char *p = bytes;

	reader->stats.bytes += n;
	while (n && reader->form == TEGRA_READER_SNIFF) {
		reader->magic[reader->magic_len++] = *p++;
		n--;
		sniff(reader, &to, false);
	}
	push_form(reader, &to, p, n);
	return reader->form != TEGRA_READER_STOPPED;
}

bool tegra_reader_finish(struct tegra_reader *reader, tegra_record_fn fn, void *ctx)
{
	const struct sink to = {.fn = fn, .ctx = ctx};

	if (reader->form == TEGRA_READER_SNIFF)
		sniff(reader, &to, true);
	if (reader->line_len && !reader->skip_line)
		take_line(reader, &to, reader->line, reader->line_len, false, false);
	read_rows(reader, &to, true);
	reader->line_len = 0;
	return reader->form != TEGRA_READER_STOPPED;
}
