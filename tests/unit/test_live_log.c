/* SPDX-License-Identifier: GPL-2.0-only */
/* What its limit leaves out, and what it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#ifdef TEGRATRACE_LIVE
#include "cli/live_log.h"

/* "event: ", "\ndata: " and the two ends of line */
#define AROUND (7 + 7 + 2)

static void test_the_report_comes_behind_the_limit(void **state)
{
	struct live_log *log = live_log_new(10);

	(void)state;
	live_log_add(log, "points", json_pack("[i]", 123));
	assert_int_equal(live_log_size(log), AROUND + 6 + 5);
	live_log_add(log, "points", json_pack("[i]", 456));
	assert_int_equal(live_log_size(log), AROUND + 6 + 5);
	live_log_add_last(log, "report", json_pack("[i,i]", 1, 2));
	assert_int_equal(live_log_size(log), 2 * AROUND + 6 + 5 + 6 + 5);
	live_log_free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_report_comes_behind_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	return 0;
}
#endif
