/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static void expect_sanitized(const char *in, size_t len, const char *want)
{
	char out[256];

	assert_int_equal(text_sanitize(out, sizeof(out), in, len), strlen(want));
	assert_string_equal(out, want);
}

#define SANITIZED(in, want) expect_sanitized(in, sizeof(in) - 1, want)

static void test_sanitize_passes_text(void **state)
{
	(void)state;
	SANITIZED("", "");
	SANITIZED("python3: a b) (c", "python3: a b) (c");
	SANITIZED("C:\\x41 \"q\"", "C:\\x41 \"q\"");
	SANITIZED("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	SANITIZED("\xe6\x8e\xa8\xe7\x90\x86", "\xe6\x8e\xa8\xe7\x90\x86");
	SANITIZED("\xf0\x9f\x9a\x80", "\xf0\x9f\x9a\x80");
	SANITIZED("\xc2\xa0|\xe2\x80\x8d|\xe2\x80\xa7|\xe2\x80\xaf|\xe2\x81\xa5|\xe2\x81\xaa",
		  "\xc2\xa0|\xe2\x80\x8d|\xe2\x80\xa7|\xe2\x80\xaf|\xe2\x81\xa5|\xe2\x81\xaa");
	SANITIZED("\xf4\x8f\xbf\xbf\xee\x80\x80\xed\x9f\xbf",
		  "\xf4\x8f\xbf\xbf\xee\x80\x80\xed\x9f\xbf");
}

static void test_sanitize_controls(void **state)
{
	(void)state;
	SANITIZED("a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd");
	SANITIZED("\x1b[31m\x7f", "\\x1b[31m\\x7f");
	SANITIZED("a\0b", "a\\x00b");
	SANITIZED("\xc2\x80\xc2\x9b\xc2\x9f", "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f");
	SANITIZED("\xe2\x80\x8e\xe2\x80\x8f", "\\xe2\\x80\\x8e\\xe2\\x80\\x8f");
	SANITIZED("\xe2\x80\xa8\xe2\x80\xa9", "\\xe2\\x80\\xa8\\xe2\\x80\\xa9");
	SANITIZED("\xe2\x80\xaa\xe2\x80\xae", "\\xe2\\x80\\xaa\\xe2\\x80\\xae");
	SANITIZED("\xe2\x81\xa6\xe2\x81\xa9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9");
	SANITIZED("\xd8\x9c", "\\xd8\\x9c");
}

static void test_sanitize_invalid(void **state)
{
	(void)state;
	SANITIZED("\x80\x9b\xbf", "\\x80\\x9b\\xbf");	       /* lone continuations, raw C1 */
	SANITIZED("\xc0\xaf\xc1\xbf", "\\xc0\\xaf\\xc1\\xbf"); /* overlong */
	SANITIZED("\xe0\x80\xaf", "\\xe0\\x80\\xaf");
	SANITIZED("\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf");
	SANITIZED("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* surrogate */
	SANITIZED("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	SANITIZED("\xf5\xff\xfe", "\\xf5\\xff\\xfe");
	SANITIZED("\xe2(\xa1", "\\xe2(\\xa1");
	SANITIZED("abc\xe6\x8e", "abc\\xe6\\x8e"); /* a name the kernel cut at 15 bytes */
}

static void test_sanitize_never_cuts_inside(void **state)
{
	static const char in[] = "a\xc3\xbc\n\xf0\x9f\x9a\x80\xe2\x80\xae"
				 "z";
	static const char want[] = "a\xc3\xbc\\x0a\xf0\x9f\x9a\x80\\xe2\\x80\\xaez";
	static const size_t ends[] = {0, 1, 3, 7, 11, 23, 24};
	char out[64];

	(void)state;
	for (size_t size = 1; size < sizeof(out); size++) {
		size_t len, fit = 0;

		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			if (ends[i] < size)
				fit = ends[i];
		}
		memset(out, '!', sizeof(out));
		len = text_sanitize(out, size, in, sizeof(in) - 1);
		assert_int_equal(len, fit);
		assert_memory_equal(out, want, len);
		assert_int_equal(out[len], 0);
		assert_int_equal(out[size], '!');
	}
	out[0] = '!';
	assert_int_equal(text_sanitize(out, 0, in, sizeof(in) - 1), 0);
	assert_int_equal(out[0], '!');
}

static void test_sanitize_random_bytes(void **state)
{
	char in[64], once[TEXT_SANITIZED_SIZE(sizeof(in))], twice[sizeof(once)];

	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t len = (size_t)rand() % sizeof(in), n;

		/* Few distinct bytes near the edges of UTF-8's classes hit more than all 256 */
		for (size_t i = 0; i < len; i++)
			in[i] = "\0\x1f a\x7f\x80\x8f\x9f\xa0\xbf\xc2\xd8\xe0\xe2\xed\xf0\xf4\xf5"
				[(size_t)rand() % 19];
		n = text_sanitize(once, sizeof(once), in, len);
		assert_int_equal(n, strlen(once));
		assert_int_equal(text_sanitize(twice, sizeof(twice), once, n), n);
		assert_string_equal(once, twice); /* valid and harmless: nothing more to escape */
	}
}

static void test_copy_and_append(void **state)
{
	char buf[8];

	(void)state;
	assert_true(text_copy(buf, sizeof(buf), "1234567"));
	assert_string_equal(buf, "1234567");
	assert_false(text_copy(buf, sizeof(buf), "12345678"));
	assert_string_equal(buf, "1234567");
	assert_false(text_copy(buf, 0, "x"));
	assert_false(text_copy(buf, 1, "x"));
	assert_string_equal(buf, "");
	assert_true(text_appendf(buf, sizeof(buf), "%d,", 12));
	assert_true(text_appendf(buf, sizeof(buf), "%s", "abcd"));
	assert_string_equal(buf, "12,abcd");
	assert_false(text_appendf(buf, sizeof(buf), "%s", "e"));
	assert_string_equal(buf, "12,abcd");
	text_copy(buf, sizeof(buf), "1234");
	assert_false(text_appendf(buf, sizeof(buf), "%s", "\xf0\x9f\x9a\x80"));
	assert_string_equal(buf, "1234");
	text_copy(buf, sizeof(buf), "12345");
	assert_false(text_appendf(buf, sizeof(buf), "%s", "\xc3\xbc\xc3\xbc"));
	assert_string_equal(buf, "12345\xc3\xbc");
	assert_false(text_appendf(NULL, 0, "%s", "x"));
}

static void test_duration(void **state)
{
	static const struct {
		int64_t ns;
		const char *want;
	} cases[] = {
		{0, "0 ns"},
		{850, "850 ns"},
		{999, "999 ns"},
		{1000, "1.0 us"},
		{99949, "99.9 us"},
		{99950, "100 us"},
		{312000, "312 us"},
		{999499, "999 us"},
		{999500, "1.0 ms"},
		{1849999, "1.8 ms"},
		{312400000, "312 ms"},
		{999499999, "999 ms"},
		{999500000, "1.00 s"},
		{2410000000, "2.41 s"},
		{9994999999, "9.99 s"},
		{9995000000, "10.0 s"},
		{99949999999, "99.9 s"},
		{99950000000, "100 s"},
		{119499999999, "119 s"},
		{119500000000, "2 min 00 s"},
		{200000000000, "3 min 20 s"},
		{3599400000000, "59 min 59 s"},
		{3599500000000, "1 h 00 min"},
		{7500000000000, "2 h 05 min"},
		{INT64_MAX, "2562047 h 47 min"},
		{-1, "-1 ns"},
		{-1800000, "-1.8 ms"},
		{INT64_MIN + 1, "-2562047 h 47 min"},
		{TEXT_UNKNOWN, "unknown"},
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text_duration(buf, sizeof(buf), cases[i].ns);
		assert_string_equal(buf, cases[i].want);
	}
	text_duration(buf, 4, 1800000);
	assert_string_equal(buf, "1.8");
	text_duration(NULL, 0, 1800000);
}

static void test_bytes(void **state)
{
	static const struct {
		int64_t bytes;
		const char *want;
	} cases[] = {
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1.0 KiB"},
		{1536, "1.5 KiB"},
		{102348, "99.9 KiB"},
		{102400, "100 KiB"},
		{1048051, "1023 KiB"},
		{1048575, "1.0 MiB"},
		{8LL << 30, "8.0 GiB"},
		{INT64_MAX, "8.0 EiB"},
		{-1, "unknown"},
		{INT64_MIN, "unknown"},
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text_bytes(buf, sizeof(buf), cases[i].bytes);
		assert_string_equal(buf, cases[i].want);
	}
}

static void test_fold_name(void **state)
{
	static const char *const cases[][2] = {
		{"preproc-3", "preproc-N"},
		{"preproc-31", "preproc-N"},
		{"queue12:src", "queueN:src"},
		{"stream_mux:src", "stream_mux:src"},
		{"EglStrmComm*111", "EglStrmComm*N"},
		{"1", "N"},
		{"1a22b333", "NaNbN"},
		{"", ""},
	};
	char buf[16];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text_fold_name(buf, sizeof(buf), cases[i][0]);
		assert_string_equal(buf, cases[i][1]);
	}
	text_fold_name(buf, 4, "queue12:src");
	assert_string_equal(buf, "que");
	text_fold_name(buf, 0, "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sanitize_passes_text),
		cmocka_unit_test(test_sanitize_controls),
		cmocka_unit_test(test_sanitize_invalid),
		cmocka_unit_test(test_sanitize_never_cuts_inside),
		cmocka_unit_test(test_sanitize_random_bytes),
		cmocka_unit_test(test_copy_and_append),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_fold_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
