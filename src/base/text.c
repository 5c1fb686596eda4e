/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_US 1000ULL
#define NS_PER_MS 1000000ULL
#define NS_PER_S  1000000000ULL

/* Length that a lead byte announces; 0 for a byte that cannot start a character. */
static size_t utf8_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

/* Bytes of the valid character at @s, 0 if there is none; overlong forms and surrogates are none */
static size_t utf8_decode(const unsigned char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = utf8_length(s[0]);
	uint32_t c;

	if (n == 0 || n > len)
		return 0;
	if (n == 1) {
		*cp = s[0];
		return 1;
	}
	c = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*cp = c;
	return n;
}

static bool is_harmful(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || /* C0, DEL, C1 */
	       cp == 0x061c ||				  /* Arabic letter mark */
	       cp == 0x200e || cp == 0x200f ||		  /* left-to-right, right-to-left mark */
	       cp == 0x2028 || cp == 0x2029 ||		  /* line, paragraph separator */
	       (cp >= 0x202a && cp <= 0x202e) ||	  /* embeddings, overrides */
	       (cp >= 0x2066 && cp <= 0x2069);		  /* isolates */
}

size_t text_sanitize(char *dst, size_t size, const char *src, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)src;
	size_t out = 0;

	if (size == 0)
		return 0;
	while (len) {
		uint32_t cp = 0;
		size_t n = utf8_decode(s, len, &cp);
		bool escape = n == 0 || is_harmful(cp);

		if (n == 0)
			n = 1;
		if (out + (escape ? 4 * n : n) >= size)
			break;
		for (size_t i = 0; i < n; i++) {
			if (escape) {
				dst[out++] = '\\';
				dst[out++] = 'x';
				dst[out++] = hex[s[i] >> 4];
				dst[out++] = hex[s[i] & 15];
			} else {
				dst[out++] = (char)s[i];
			}
		}
		s += n;
		len -= n;
	}
	dst[out] = 0;
	return out;
}

bool text_copy(char *dst, size_t size, const char *src)
{
	size_t len = strlen(src);
	bool fits = len < size;

	if (size == 0)
		return false;
	if (!fits)
		len = size - 1;
	memcpy(dst, src, len);
	dst[len] = 0;
	return fits;
}

/* Drops the character that a cut at @len left incomplete, if it did */
static void trim_partial(char *s, size_t len)
{
	size_t back = 0;

	while (back < 3 && back < len && ((unsigned char)s[len - 1 - back] & 0xc0) == 0x80)
		back++;
	if (back < len && utf8_length((unsigned char)s[len - 1 - back]) > back + 1)
		s[len - 1 - back] = 0;
}

bool text_vappendf(char *dst, size_t size, const char *fmt, va_list ap)
{
	size_t len = size ? strnlen(dst, size) : 0;
	int n;

	if (len >= size)
		return false;
	n = vsnprintf(dst + len, size - len, fmt, ap);
	if (n >= 0 && (size_t)n < size - len)
		return true;
	if (n < 0)
		dst[len] = 0;
	else
		trim_partial(dst, size - 1);
	return false;
}

bool text_appendf(char *dst, size_t size, const char *fmt, ...)
{
	va_list ap;
	bool fits;

	va_start(ap, fmt);
	fits = text_vappendf(dst, size, fmt, ap);
	va_end(ap);
	return fits;
}

/* @ns as @unit with 1 decimal below 100 and none from there; false if it rounds to 1000 or more */
static bool print_scaled(char *dst, size_t size, const char *sign, uint64_t ns, uint64_t unit,
			 const char *name)
{
	uint64_t tenths = (ns + unit / 20) / (unit / 10);
	uint64_t whole = (ns + unit / 2) / unit;

	if (tenths < 1000)
		snprintf(dst, size, "%s%" PRIu64 ".%" PRIu64 " %s", sign, tenths / 10, tenths % 10,
			 name);
	else if (whole < 1000)
		snprintf(dst, size, "%s%" PRIu64 " %s", sign, whole, name);
	else
		return false;
	return true;
}

static void print_long(char *dst, size_t size, const char *sign, uint64_t ns)
{
	uint64_t hundredths = (ns + NS_PER_S / 200) / (NS_PER_S / 100);
	uint64_t tenths = (ns + NS_PER_S / 20) / (NS_PER_S / 10);
	uint64_t s = (ns + NS_PER_S / 2) / NS_PER_S;
	uint64_t min = (ns + 30 * NS_PER_S) / (60 * NS_PER_S);

	if (hundredths < 1000)
		snprintf(dst, size, "%s%" PRIu64 ".%02" PRIu64 " s", sign, hundredths / 100,
			 hundredths % 100);
	else if (tenths < 1000)
		snprintf(dst, size, "%s%" PRIu64 ".%" PRIu64 " s", sign, tenths / 10, tenths % 10);
	else if (s < 120)
		snprintf(dst, size, "%s%" PRIu64 " s", sign, s);
	else if (s < 3600)
		snprintf(dst, size, "%s%" PRIu64 " min %02" PRIu64 " s", sign, s / 60, s % 60);
	else
		snprintf(dst, size, "%s%" PRIu64 " h %02" PRIu64 " min", sign, min / 60, min % 60);
}

void text_duration(char *dst, size_t size, int64_t ns)
{
	const char *sign = ns < 0 ? "-" : "";
	uint64_t abs_ns = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	if (ns == TEXT_UNKNOWN)
		snprintf(dst, size, "unknown");
	else if (abs_ns < NS_PER_US)
		snprintf(dst, size, "%" PRId64 " ns", ns);
	else if (!print_scaled(dst, size, sign, abs_ns, NS_PER_US, "us") &&
		 !print_scaled(dst, size, sign, abs_ns, NS_PER_MS, "ms"))
		print_long(dst, size, sign, abs_ns);
}

void text_bytes(char *dst, size_t size, int64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

	if (bytes < 0) {
		snprintf(dst, size, "unknown");
		return;
	}
	if (bytes < 1024) {
		snprintf(dst, size, "%" PRId64 " B", bytes);
		return;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double value = (double)bytes / (double)(1ULL << (10 * (i + 1)));

		/* 1023.95 would round up to 1024.0 */
		if (value < 99.95)
			snprintf(dst, size, "%.1f %s", value, units[i]);
		else if (value < 1023.5)
			snprintf(dst, size, "%.0f %s", value, units[i]);
		else
			continue;
		return;
	}
}

void text_fold_name(char *dst, size_t size, const char *comm)
{
	bool in_digits = false;
	size_t out = 0;

	if (size == 0)
		return;
	for (; *comm && out + 1 < size; comm++) {
		bool digit = *comm >= '0' && *comm <= '9';

		if (!digit)
			dst[out++] = *comm;
		else if (!in_digits)
			dst[out++] = 'N';
		in_digits = digit;
	}
	dst[out] = 0;
}

static bool starts_character(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t text_columns(const char *utf8)
{
	size_t n = 0;

	for (; *utf8; utf8++)
		n += starts_character(*utf8);
	return n;
}

size_t text_prefix_bytes(const char *utf8, size_t columns)
{
	size_t seen = 0, i;

	for (i = 0; utf8[i]; i++)
		if (starts_character(utf8[i]) && seen++ == columns)
			break;
	return i;
}
