/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/line.h"

#include <math.h>
#include <string.h>

enum {
	C_SPACE = 1, /* between words */
	C_END = 2,   /* a quote or backslash closes the text of a carrier: CSV cell, JSON string */
	C_DIGIT = 4,
	C_UPPER = 8, /* A-Z */
	C_LETTER = 16,
	C_NAME = 32, /* further bytes that a name may hold */
	C_ESC = 64,
};

#define C_STOP (C_SPACE | C_END | C_ESC)

static const uint8_t class_of[256] = {
	[' '] = C_SPACE,
	['\t' ... '\r'] = C_SPACE,
	['"'] = C_END,
	['\\'] = C_END,
	[0x1b] = C_ESC,
	['0' ... '9'] = C_DIGIT | C_NAME,
	['A' ... 'Z'] = C_LETTER | C_UPPER | C_NAME,
	['a' ... 'z'] = C_LETTER | C_NAME,
	['_'] = C_NAME,
	['-'] = C_NAME,
	['.'] = C_NAME,
	[0x80 ... 0xff] = C_LETTER | C_NAME,
};

static unsigned int class_at(const char *p)
{
	return class_of[(unsigned char)*p];
}

bool tegra_scan_stop(const char *p, const char *end)
{
	return p == end || (class_at(p) & C_STOP);
}

static bool is_digit(const char *p, const char *end)
{
	return p < end && (unsigned char)(*p - '0') <= 9;
}

bool tegra_scan_text(const char *p, const char *end, const char *lit, size_t n)
{
	return (size_t)(end - p) >= n && memcmp(p, lit, n) == 0;
}

#define STARTS(p, end, lit) tegra_scan_text(p, end, lit, sizeof(lit) - 1)

/* ESC [ parameters final: colours and screen control of terminal captures. */
static const char *skip_escape(const char *p, const char *end)
{
	p++;
	if (p == end || *p != '[')
		return p;
	p++;
	while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p <= 0x3f)
		p++;
	return p < end ? p + 1 : p;
}

const char *tegra_scan_space(const char *p, const char *end)
{
	while (p < end) {
		unsigned int c = class_at(p);

		if (c & C_SPACE)
			p++;
		else if (c & C_ESC)
			p = skip_escape(p, end);
		else
			break;
	}
	return p;
}

const char *tegra_scan_word(const char *p, const char *end)
{
	while (!tegra_scan_stop(p, end))
		p++;
	return p;
}

bool tegra_scan_next(const char **pos, const char *end, struct tegra_word *w)
{
	const char *p = tegra_scan_space(*pos, end), *at = NULL;
	unsigned int upper = C_UPPER | C_DIGIT, every = C_NAME;

	*pos = p;
	if (p == end || (class_at(p) & C_END))
		return false;
	w->start = p;
	for (; p < end; p++) {
		unsigned int k = class_at(p);

		if (k & C_STOP)
			break;
		if (at)
			continue;
		if (*p == '@') {
			at = p;
			continue;
		}
		every &= k;
		if (!(k & upper) && *p != '_')
			upper = 0;
	}
	w->end = p;
	w->at = at;
	w->is_named = every && (class_at(w->start) & C_LETTER);
	w->is_name = w->is_named && !at;
	w->is_upper = w->is_name && upper;
	*pos = p;
	return true;
}

/* Digits only; more than 9 of them is no value of any field: TEGRA_UNKNOWN. NULL without digits. */
const char *tegra_scan_uint(const char *p, const char *end, int32_t *out)
{
	const char *start = p;
	uint32_t n = 0;

	while (is_digit(p, end)) {
		n = n * 10 + (uint32_t)(*p - '0');
		p++;
	}
	*out = p - start <= 9 ? (int32_t)n : TEGRA_UNKNOWN;
	return p > start ? p : NULL;
}

const char *tegra_scan_int(const char *p, const char *end, int32_t *out)
{
	bool minus = p < end && *p == '-';

	p = tegra_scan_uint(minus ? p + 1 : p, end, out);
	if (p && minus && *out != TEGRA_UNKNOWN)
		*out = -*out;
	return p;
}

/* A decimal of at most 9 digits together: both parts of the quotient are exact in a double. */
const char *tegra_scan_decimal(const char *p, const char *end, double *out)
{
	bool minus = p < end && *p == '-';
	uint32_t n = 0, scale = 1;
	unsigned int digits = 0;

	if (minus)
		p++;
	if (!is_digit(p, end))
		return NULL;
	for (; is_digit(p, end); p++, digits++)
		n = n * 10 + (uint32_t)(*p - '0');
	if (p < end && *p == '.') {
		for (p++; is_digit(p, end); p++, digits++) {
			n = n * 10 + (uint32_t)(*p - '0');
			scale *= 10;
		}
	}
	*out = digits > 9 ? NAN : (minus ? -(double)n : (double)n) / scale;
	return p;
}

/* "[a, b]" with numbers and, if asked for, a % behind each; blanks may follow a comma. */
static const char *read_list(const char *p, const char *end, bool pct, int32_t *out, uint32_t max,
			     uint32_t *count)
{
	int32_t n;

	*count = 0;
	do {
		p = tegra_scan_uint(tegra_scan_space(p + 1, end), end, &n);
		if (!p || (pct && (p == end || *p != '%')))
			return NULL;
		if (*count < max)
			out[(*count)++] = n;
		p = tegra_scan_space(pct ? p + 1 : p, end);
	} while (p < end && *p == ',');
	return p < end && *p == ']' ? p + 1 : NULL;
}

/*
 * The clock behind an @: a number or a list of one per GPC. One that does not parse is unknown,
 * and the load in front of it stands: its % sign shows that it is whole.
 */
static const char *read_clock(const char *p, const char *end, struct tegra_value *v)
{
	const char *q;

	v->mhz_count = 1;
	if (p < end && *p == '[')
		q = read_list(p, end, false, v->mhz, TEGRA_GPU_MHZ_MAX, &v->mhz_count);
	else
		q = tegra_scan_uint(p, end, &v->mhz[0]);
	if (q && tegra_scan_stop(q, end))
		return q;
	v->mhz_count = 0;
	return tegra_scan_word(p, end);
}

/* cur[/avg[/max]], each with or without mW; p is behind the first number. */
static const char *read_rail(const char *p, const char *end, struct tegra_value *v)
{
	for (;;) {
		if (STARTS(p, end, "mW")) {
			v->has_unit = true;
			p += 2;
		}
		v->mw_count++;
		if (p == end || *p != '/' || v->mw_count == 3)
			break;
		p = tegra_scan_int(p + 1, end, &v->mw[v->mw_count]);
		if (!p)
			return NULL;
	}
	if (!tegra_scan_stop(p, end) || (v->mw_count == 1 && !v->has_unit))
		return NULL;
	v->shape = TEGRA_SHAPE_RAIL;
	return p;
}

static const char *read_pct(const char *p, const char *end, struct tegra_value *v)
{
	v->shape = TEGRA_SHAPE_PCT;
	if (tegra_scan_stop(p, end))
		return p;
	return *p == '@' ? read_clock(p + 1, end, v) : NULL;
}

/* NULL, or shape TEGRA_SHAPE_NONE, when no value of a known shape begins at p. */
const char *tegra_scan_value(const char *p, const char *end, struct tegra_value *v)
{
	v->shape = TEGRA_SHAPE_NONE;
	v->pct_is_list = v->has_unit = false;
	v->pct_count = v->mhz_count = v->mw_count = 0;
	if (p == end)
		return NULL;
	if (*p == '@') {
		v->shape = TEGRA_SHAPE_CLOCK;
		p = read_clock(p + 1, end, v);
		return v->mhz_count ? p : NULL;
	}
	if (*p == '[') {
		v->pct_is_list = true;
		p = read_list(p, end, true, v->pct, TEGRA_VPU_MAX, &v->pct_count);
		return p ? read_pct(p, end, v) : NULL;
	}
	if (STARTS(p, end, "off") && tegra_scan_stop(p + 3, end)) {
		v->shape = TEGRA_SHAPE_OFF;
		return p + 3;
	}
	if (!is_digit(p, end) && *p != '-')
		return NULL;
	p = tegra_scan_int(p, end, &v->mw[0]);
	if (!p)
		return NULL;
	if (tegra_scan_stop(p, end)) {
		v->shape = TEGRA_SHAPE_NUMBER;
		return p;
	}
	if (*p != '%')
		return read_rail(p, end, v);
	if (v->mw[0] < 0 && v->mw[0] != TEGRA_UNKNOWN)
		return NULL;
	v->pct[0] = v->mw[0];
	v->pct_count = 1;
	return read_pct(p + 1, end, v);
}
