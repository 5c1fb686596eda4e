/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/priority.h"

#define FIRST_NICE 3

static bool is_ordinary(void)
{
	return sched_getscheduler(0) == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) == FIRST_NICE;
}

static void test_raised_and_put_back(void **state)
{
	struct priority before;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(setpriority(PRIO_PROCESS, 0, FIRST_NICE), 0);
	priority_raise(&before);
	if (before.real_time)
		assert_int_equal(sched_getscheduler(0), SCHED_FIFO | SCHED_RESET_ON_FORK);
	else if (!geteuid())
		assert_true(getpriority(PRIO_PROCESS, 0) < FIRST_NICE);
	pid = fork();
	if (!pid)
		_exit(sched_getscheduler(0) != SCHED_OTHER);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	priority_restore(&before);
	assert_true(is_ordinary());
}

/* Where nothing is allowed nothing changes. */
static void test_refused(void **state)
{
	struct priority before;
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		if (!geteuid() && setuid(65534))
			_exit(2);
		priority_raise(&before);
		priority_restore(&before);
		_exit(before.real_time || !is_ordinary());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raised_and_put_back),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
