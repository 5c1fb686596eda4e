/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/line.h"

#include <string.h>

/* "MM-DD-YYYY HH:MM:SS" */
#define DATE_DAY_LEN  10
#define DATE_TIME_LEN 8

/* Where a record is in the line; `end` is that of its text, the line's or the next record's. */
struct place {
	size_t ram, start, end;
	int64_t date_s;
	bool glued;
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word_byte(char c)
{
	return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

const char *tegra_line_reason_name(enum tegra_line_reason reason)
{
	static const char *const names[TEGRA_LINE_REASONS] = {
		[TEGRA_LINE_OK] = "a record",
		[TEGRA_LINE_BLANK] = "blank",
		[TEGRA_LINE_COMMENT] = "a comment",
		[TEGRA_LINE_NO_RAM] = "no RAM field",
		[TEGRA_LINE_NO_HEAD] = "part of a record without its beginning",
		[TEGRA_LINE_CUT_RAM] = "cut inside the RAM field",
		[TEGRA_LINE_BINARY] = "binary data",
		[TEGRA_LINE_TOO_LONG] = "too long",
		[TEGRA_LINE_COMPRESSED] = "compressed data",
	};

	if ((unsigned int)reason >= TEGRA_LINE_REASONS)
		return "unknown reason";
	return names[reason];
}

/* The end of the word in IRAM, VRAM, NVRAM, DRAM, SRAM. Other letters may be those of a word that
 * was cut where the next record begins, or the end of a colour escape. */
static bool is_other_ram(const char *text, size_t ram)
{
	char c;

	if (ram == 0)
		return false;
	c = text[ram - 1];
	if (c != 'I' && c != 'V' && c != 'D' && c != 'S')
		return false;
	return ram == 1 || !is_word_byte(text[ram - 2]) || (c == 'V' && text[ram - 2] == 'N');
}

static size_t skip_digits(const char *text, size_t len, size_t p)
{
	while (p < len && is_digit(text[p]))
		p++;
	return p;
}

/* How much of a RAM field a text is; each holds the ones before it. */
enum ram_match {
	RAM_NONE,
	RAM_SLASH, /* RAM u/ */
	RAM_UNIT,  /* RAM u/uMB */
	RAM_LFB,   /* RAM u/uMB (lfb */
};

static enum ram_match match_ram(const char *text, size_t len, size_t ram)
{
	size_t p = ram + 3, q;
	bool glued;

	while (p < len && is_space(text[p]))
		p++;
	q = skip_digits(text, len, p);
	if (q == p || q == len || text[q] != '/')
		return RAM_NONE;
	glued = p == ram + 3;
	p = q + 1;
	q = skip_digits(text, len, p);
	if (q == p || len - q < 2 || text[q] != 'M' || text[q + 1] != 'B')
		return glued ? RAM_NONE : RAM_SLASH;
	p = q + 2;
	while (p < len && is_space(text[p]))
		p++;
	if (len - p >= 4 && memcmp(text + p, "(lfb", 4) == 0)
		return RAM_LFB;
	/* A line that lost its blanks is still one, but only the whole form proves it. */
	return glued ? RAM_NONE : RAM_UNIT;
}

static const char *find_text(const char *p, const char *end, const char *lit, size_t n)
{
	while ((size_t)(end - p) >= n) {
		p = memchr(p, lit[0], (size_t)(end - p) - n + 1);
		if (!p || memcmp(p, lit, n) == 0)
			return p;
		p++;
	}
	return NULL;
}

/*
 * The next RAM field of at least that match at or after `from`, or len. Only the whole form with
 * its (lfb counts behind one of the letters of IRAM: that one is the end of a cut word.
 */
static size_t find_ram(const char *text, size_t len, size_t from, enum ram_match least)
{
	size_t at = from;
	const char *p;

	while (at < len) {
		enum ram_match match;

		p = find_text(text + at, text + len, "RAM", 3);
		if (!p)
			return len;
		at = (size_t)(p - text);
		match = match_ram(text, len, at);
		if (match >= least && (match == RAM_LFB || !is_other_ram(text, at)))
			return at;
		at += 3;
	}
	return len;
}

static bool read_group(const char *p, unsigned int digits, unsigned int *out)
{
	*out = 0;
	for (unsigned int i = 0; i < digits; i++) {
		if (!is_digit(p[i]))
			return false;
		*out = *out * 10 + (unsigned int)(p[i] - '0');
	}
	return true;
}

/* Days from 1970-01-01 in the Gregorian calendar; the year begins in March so that a leap day is
 * its last one. */
static int64_t days_from_date(unsigned int year, unsigned int month, unsigned int day)
{
	unsigned int y = month <= 2 ? year - 1 : year;
	unsigned int yday = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return (int64_t)y * 365 + y / 4 - y / 100 + y / 400 + yday - 719468;
}

static bool read_date(const char *day, const char *time, int64_t *out)
{
	unsigned int y, mon, d, h, min, s;

	if (!read_group(day, 2, &mon) || day[2] != '-' || !read_group(day + 3, 2, &d) ||
	    day[5] != '-' || !read_group(day + 6, 4, &y))
		return false;
	if (!read_group(time, 2, &h) || time[2] != ':' || !read_group(time + 3, 2, &min) ||
	    time[5] != ':' || !read_group(time + 6, 2, &s))
		return false;
	if (y < 1970 || mon < 1 || mon > 12 || d < 1 || d > 31 || h > 23 || min > 59 || s > 60)
		return false;
	*out = days_from_date(y, mon, d) * 86400 + h * 3600 + min * 60 + s;
	return true;
}

/*
 * R35 and later print a date directly in front of RAM. A time stamp of another program has another
 * form or something in between. Returns where the record begins.
 */
static size_t find_date(const char *text, size_t from, size_t ram, int64_t *date_s)
{
	size_t p = ram, time;

	*date_s = TEGRA_DATE_UNKNOWN;
	while (p > from && is_space(text[p - 1]))
		p--;
	if (p == ram || p - from < DATE_TIME_LEN)
		return ram;
	time = p - DATE_TIME_LEN;
	p = time;
	while (p > from && is_space(text[p - 1]))
		p--;
	if (p == time || p - from < DATE_DAY_LEN)
		return ram;
	p -= DATE_DAY_LEN;
	return read_date(text + p, text + time, date_s) ? p : ram;
}

/* Where the last word begins; `end` when something closes it: a blank or a carrier's quote. */
static size_t last_word(const char *text, size_t start, size_t end)
{
	size_t p = end;

	while (p > start && !is_space(text[p - 1])) {
		p--;
		if (text[p] == '"' || text[p] == '\\')
			return end;
	}
	return p;
}

/* Where the word that ends at `end` and the blanks before it begin. */
static size_t back_word(const char *text, size_t start, size_t end)
{
	while (end > start && is_space(text[end - 1]))
		end--;
	while (end > start && !is_space(text[end - 1]))
		end--;
	return end;
}

static size_t digits_before(const char *text, size_t end)
{
	size_t n = 0;

	while (n < end && is_digit(text[end - 1 - n]))
		n++;
	return n;
}

/*
 * Up to R34 rails have no unit, so "881/88" may be a whole value. It is taken as one if the record
 * behind it ends in the same rail with as many digits: averages move slowly.
 */
static bool is_last_rail(const char *text, size_t len, const struct place *at, size_t word)
{
	size_t next = find_ram(text, len, at->ram + 3, RAM_SLASH), end, name, other;

	end = find_ram(text, len, next + 3, RAM_SLASH);
	name = back_word(text, at->ram, word);
	while (end > next && is_space(text[end - 1]))
		end--;
	other = back_word(text, next, back_word(text, next, end));
	return word > name && end - other >= word - name &&
	       memcmp(text + name, text + other, word - name) == 0 &&
	       digits_before(text, at->end) == digits_before(text, end);
}

/*
 * Whether the last word before a glued record is a whole one although no blank closes it: its last
 * byte must be one that ends a field.
 */
static bool is_whole_tail(const char *text, size_t len, const struct place *at, size_t word)
{
	size_t end = at->end, n = end - word;

	if (!n)
		return true;
	if (text[end - 1] == ']' || (n == 3 && memcmp(text + word, "off", 3) == 0))
		return true;
	if (text[end - 1] == 'W')
		return n > 2 && text[end - 2] == 'm';
	if (text[end - 1] == 'C')
		return memchr(text + word, '@', n) != NULL;
	return is_digit(text[end - 1]) && memchr(text + word, '/', n) &&
	       at->date_s == TEGRA_DATE_UNKNOWN &&
	       !find_text(text + at->ram, text + end, "mW", 2) && is_last_rail(text, len, at, word);
}

/* The first record from `from` on; false when there is none. */
static bool find_place(const char *text, size_t len, size_t from, struct place *at)
{
	int64_t next_date;
	size_t next;

	at->ram = find_ram(text, len, from, RAM_UNIT);
	if (at->ram == len)
		return false;
	at->start = find_date(text, from, at->ram, &at->date_s);
	next = find_ram(text, len, at->ram + 3, RAM_SLASH);
	at->glued = next < len;
	at->end = at->glued ? find_date(text, at->ram, next, &next_date) : len;
	return true;
}

/* Why nothing was found from `from` on. */
static enum tegra_line_reason explain(const char *text, size_t len, size_t from)
{
	static const char *const fields[] = {"GR3D", "EMC_", "VDD_", "VIN_", "tj@", "CPU ["};
	size_t p = from, control = 0;

	while (p < len && (is_space(text[p]) || text[p] == '\0'))
		p++;
	if (p == len)
		return TEGRA_LINE_BLANK;
	if (text[p] == '#')
		return TEGRA_LINE_COMMENT;
	if (find_ram(text, len, from, RAM_SLASH) < len)
		return TEGRA_LINE_CUT_RAM;
	for (size_t i = p; i < len; i++)
		control += (unsigned char)text[i] < 0x20 && !is_space(text[i]) && text[i] != 0x1b;
	/* One byte in 16: random bytes have one in 9. */
	if (control * 16 > len - p)
		return TEGRA_LINE_BINARY;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (find_text(text + p, text + len, fields[i], strlen(fields[i])))
			return TEGRA_LINE_NO_HEAD;
	}
	return TEGRA_LINE_NO_RAM;
}

enum tegra_line_reason tegra_line_next(const char *text, size_t len, size_t *pos,
				       bool complete_line, struct tegra_sample *out,
				       struct tegra_span *span)
{
	struct place at;
	size_t word, end;
	bool cut = false;

	while (find_place(text, len, *pos, &at)) {
		*pos = at.end;
		end = at.end;
		word = last_word(text, at.ram, at.end);
		cut = at.glued ? !is_whole_tail(text, len, &at, word) : !complete_line;
		if (cut)
			end = word;
		if (!tegra_line_fields(text + at.ram, end - at.ram, cut, out))
			continue;
		out->date_s = at.date_s;
		*span = (struct tegra_span){.start = at.start, .end = at.end};
		return TEGRA_LINE_OK;
	}
	return cut ? TEGRA_LINE_CUT_RAM : explain(text, len, *pos);
}

enum tegra_line_reason tegra_line_parse(const char *text, size_t len, bool complete_line,
					struct tegra_sample *out)
{
	struct tegra_span span;
	size_t pos = 0;

	return tegra_line_next(text, len, &pos, complete_line, out, &span);
}
