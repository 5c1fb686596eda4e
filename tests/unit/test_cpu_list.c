/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu_list.h"

#define MAX 80

/* Set or not, from CPU 0 on; the rest is not. */
static void expect(const char *text, const char *want)
{
	bool set[MAX + 1], is_list = want != NULL;

	memset(set, 1, sizeof(set));
	assert_int_equal(cpu_list_parse(text, set, MAX), is_list);
	for (size_t cpu = 0; cpu < MAX; cpu++)
		assert_int_equal(set[cpu], want && cpu < strlen(want) && want[cpu] == 'x');
	assert_true(set[MAX]);
}

static void test_lists(void **state)
{
	(void)state;
	expect("0", "x");
	expect("0-3\n", "xxxx");
	expect("0-1,3,6-7\n", "xx.x..xx");
	expect("2,4", "..x.x");
	expect("11\n", "...........x");
}

/* The kernel lists more CPUs than are kept: those that are, are right. */
static void test_more_than_are_kept(void **state)
{
	char eighty[MAX + 1];

	(void)state;
	memset(eighty, 'x', MAX);
	eighty[MAX] = '\0';
	expect("0-511\n", eighty);
	expect("0,79-4096",
	       "x.............................................................................."
	       "x");
	expect("0,200,18446744073709551615", "x");
}

static void test_no_lists(void **state)
{
	static const char *const texts[] = {"",	      "\n",	"-1",	"3-1",	 "1-",
					    "0-1,",   "0,,1",	"0-1x", "0 1",	 "0x1",
					    "(null)", "0-1\n2", ",1",	"1-2-3", "0-1,\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect(texts[i], NULL);
}

static void test_file(void **state)
{
	bool set[MAX];

	(void)state;
	assert_true(cpu_list_read("/sys/devices/system/cpu/online", set, MAX));
	assert_false(cpu_list_read("/nonexistent/online", set, MAX));
	assert_false(set[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_more_than_are_kept),
		cmocka_unit_test(test_no_lists),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
