/* SPDX-License-Identifier: GPL-2.0-only */
/* How people write the numbers and the names of a roofline, and how they are written back. */
#include "diagnose/roofline.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	char letter;
	double si, binary;
} prefixes[] = {
	{'k', 1e3, 1024.0},	      {'M', 1e6, 1048576.0},	       {'G', 1e9, 1073741824.0},
	{'T', 1e12, 1099511627776.0}, {'P', 1e15, 1125899906842624.0},
};

/* MAC is missing on purpose: it is another quantity, not another spelling. */
static bool is_unit(const char *text)
{
	static const char *const units[] = {"",	     "B",	"B/s",	"Bps",	 "byte",
					    "bytes", "bytes/s", "FLOP", "FLOPs", "FLOP/s",
					    "OP",    "OPs",	"OP/s"};

	for (size_t i = 0; i < LENGTH(units); i++)
		if (!strcasecmp(text, units[i]))
			return true;
	return false;
}

static double take_prefix(const char **text)
{
	for (size_t i = 0; i < LENGTH(prefixes); i++) {
		if (toupper((unsigned char)**text) != toupper((unsigned char)prefixes[i].letter))
			continue;
		(*text)++;
		if (**text != 'i')
			return prefixes[i].si;
		(*text)++;
		return prefixes[i].binary;
	}
	return 1;
}

static const char *skip_blanks(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

bool roofline_parse_si(const char *text, double *value, bool *prefixed)
{
	const char *rest;
	double number, factor;
	char *end;

	/* strtod() would also take "inf", "nan" and hexadecimal */
	if (strspn(text, "0123456789.") == 0 || !strncasecmp(text, "0x", 2))
		return false;
	number = strtod(text, &end);
	rest = skip_blanks(end);
	factor = take_prefix(&rest);
	if (end == text || !is_unit(rest) || !isfinite(number * factor) || !(number * factor > 0))
		return false;
	*value = number * factor;
	if (prefixed)
		*prefixed = factor > 1;
	return true;
}

bool roofline_parse_unit(const char *text, const char *const *units, const double *factors,
			 double *value)
{
	const char *unit;
	double number;
	char *end;

	if (strspn(text, "0123456789.") == 0 || !strncasecmp(text, "0x", 2))
		return false;
	number = strtod(text, &end);
	unit = skip_blanks(end);
	for (int i = 0; units[i] && end != text; i++) {
		if (*unit && strcasecmp(unit, units[i]))
			continue;
		*value = number * factors[i];
		return isfinite(*value) && *value > 0;
	}
	return false;
}

void roofline_format_si(char *dst, size_t size, double value, const char *unit)
{
	double scaled = value;
	char prefix[2] = "";

	if (!isfinite(value)) {
		snprintf(dst, size, "unknown");
		return;
	}
	/* 999.5 would print as 1000 */
	for (size_t i = 0; i < LENGTH(prefixes) && scaled >= 999.5; i++) {
		scaled /= 1000;
		prefix[0] = prefixes[i].letter;
	}
	if (scaled >= 1e6)
		snprintf(dst, size, "%.2e %s%s", scaled, prefix, unit);
	else
		snprintf(dst, size, "%.*f %s%s",
			 scaled < 9.995	  ? 2
			 : scaled < 99.95 ? 1
					  : 0,
			 scaled, prefix, unit);
}

const char *roofline_precision_label(enum precision precision)
{
	static const char *const labels[PRECISIONS] = {
		[PREC_FP32] = "FP32 CUDA",  [PREC_FP16] = "FP16 CUDA",	[PREC_TF32_TC] = "TF32 TC",
		[PREC_FP16_TC] = "FP16 TC", [PREC_INT8_TC] = "INT8 TC", [PREC_FP8_TC] = "FP8 TC",
		[PREC_FP4_TC] = "FP4 TC",
	};

	return precision < PRECISIONS ? labels[precision] : "unknown precision";
}

/* PRECISIONS: FP16 arithmetic, of the tensor cores unless the GPU is known to have none. */
static const struct {
	const char *name;
	enum precision precision;
	double weight_bytes;
} formats[] = {
	{"fp32", PREC_FP32, 4},	     {"fp32cuda", PREC_FP32, 4},  {"float32", PREC_FP32, 4},
	{"fp16", PRECISIONS, 2},     {"half", PRECISIONS, 2},	  {"float16", PRECISIONS, 2},
	{"bf16", PRECISIONS, 2},     {"fp16tc", PREC_FP16_TC, 2}, {"fp16cuda", PREC_FP16, 2},
	{"tf32", PREC_TF32_TC, 4},   {"tf32tc", PREC_TF32_TC, 4}, {"int8", PREC_INT8_TC, 1},
	{"int8tc", PREC_INT8_TC, 1}, {"w8a8", PREC_INT8_TC, 1},	  {"fp8", PREC_FP8_TC, 1},
	{"fp8tc", PREC_FP8_TC, 1},   {"fp4", PREC_FP4_TC, 0.5},	  {"fp4tc", PREC_FP4_TC, 0.5},
	{"nvfp4", PREC_FP4_TC, 0.5}, {"w8a16", PRECISIONS, 1},	  {"w4a16", PRECISIONS, 0.5},
	{"int4", PRECISIONS, 0.5},   {"q4f16", PRECISIONS, 0.5},
};

static double activation_bytes(enum precision precision)
{
	static const double bytes[PRECISIONS] = {
		[PREC_FP32] = 4,    [PREC_FP16] = 2,   [PREC_TF32_TC] = 4,  [PREC_FP16_TC] = 2,
		[PREC_INT8_TC] = 1, [PREC_FP8_TC] = 1, [PREC_FP4_TC] = 0.5,
	};

	return bytes[precision];
}

bool roofline_format_parse(const char *text, const struct board_ceilings *ceilings,
			   struct roofline_format *format)
{
	char key[16];
	size_t n = 0;

	for (; *text; text++) {
		if (!isalnum((unsigned char)*text))
			continue;
		if (n == sizeof(key) - 1)
			return false;
		key[n++] = (char)tolower((unsigned char)*text);
	}
	key[n] = '\0';
	for (size_t i = 0; i < LENGTH(formats); i++) {
		if (strcmp(key, formats[i].name))
			continue;
		format->precision = formats[i].precision;
		format->weight_bytes = formats[i].weight_bytes;
		if (format->precision == PRECISIONS)
			format->precision = isnan(ceilings->flops[PREC_FP16_TC]) &&
							    !isnan(ceilings->flops[PREC_FP16])
						    ? PREC_FP16
						    : PREC_FP16_TC;
		format->activation_bytes = activation_bytes(format->precision);
		return true;
	}
	return false;
}
