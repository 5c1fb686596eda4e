/* SPDX-License-Identifier: GPL-2.0-only */
/* Futex waits that timed out: one for the same object as those that a thread ended is a wait for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "probe/waits/wait_futex.h"

#define ADDRESS	   0x1230u
#define TIMEOUT_NS 7000

static struct raw_wait futex_wait(enum waker_kind kind, pid_t tid, uint32_t address, int64_t count,
				  bool sampled)
{
	return (struct raw_wait){
		.key = {.syscall = TT_SYSCALL(SYS_futex), .arg = address},
		.ns = count * TIMEOUT_NS,
		.count = count,
		.waker = {.kind = kind, .tid = tid},
		.sampled = sampled,
		.next = -1,
	};
}

/* The class that the timeouts then have. */
static enum wait_class class_of(uint32_t address, int64_t timeouts, int64_t ended, bool sampled)
{
	struct raw_wait rows[] = {
		futex_wait(WAKER_TIMER, 0, address, timeouts, sampled),
		futex_wait(WAKER_THREAD, 71, ADDRESS, ended, sampled),
	};
	struct wait_judgement judged[] = {{.class = WAIT_TIMER}, {.class = WAIT_THREAD}};
	struct raw_waits raw = {.rows = rows, .n = 2};
	const size_t order[] = {0, 1};
	int64_t estimated_ns = wait_futex_timeouts(&raw, judged, order, 0, 2);

	assert_int_equal(estimated_ns, judged[0].class == WAIT_TIMER ? 0 : timeouts * TIMEOUT_NS);
	assert_int_equal(rows[0].waker.tid, judged[0].class == WAIT_TIMER ? 0 : 71);
	return judged[0].class;
}

static void test_the_same_object(void **state)
{
	(void)state;
	assert_int_equal(class_of(ADDRESS, 101, 1, false), WAIT_THREAD);
	/* the other word of a condition variable */
	assert_int_equal(class_of(ADDRESS + 4, 101, 1, false), WAIT_THREAD);
}

static void test_another_object(void **state)
{
	(void)state;
	assert_int_equal(class_of(ADDRESS + 64, 5, 5, false), WAIT_TIMER);
}

static void test_a_sampled_address_may_be_anothers(void **state)
{
	(void)state;
	assert_int_equal(class_of(ADDRESS, 101, 2, true), WAIT_TIMER);
	assert_int_equal(class_of(ADDRESS, 101, 31, true), WAIT_THREAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_object),
		cmocka_unit_test(test_another_object),
		cmocka_unit_test(test_a_sampled_address_may_be_anothers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
