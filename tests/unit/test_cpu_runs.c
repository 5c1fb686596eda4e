/* SPDX-License-Identifier: GPL-2.0-only */
/* Who had most of a CPU since a thread began to wait for it, from runs written out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/types.h>
#include <string.h>

#include "cpu_runs.h"

#define US 1000ULL
#define MS 1000000ULL

static struct tt_cpu cpu;
static __u64 now;

static int start(void **state)
{
	(void)state;
	memset(&cpu, 0, sizeof(cpu));
	now = 1000 * MS;
	cpu.switched_ns = now;
	return 0;
}

/* Task `tid` has the CPU for so long. */
static void run(__u32 tid, __u64 ns)
{
	now += ns;
	tt_note_run(&cpu, now, tid);
}

/* 0xffff: not known. */
static __u32 holder_since(__u64 begin, __u32 waiter)
{
	const struct tt_run *found = tt_holder_since(&cpu, begin, waiter);

	return found ? found->tid : 0xffff;
}

/* The kernel stops a real-time hog: all that starved get in before the waiter. */
static void test_starved_crowd(void **state)
{
	__u64 begin = now;

	(void)state;
	run(7, 950 * MS);
	for (__u32 tid = 100; tid < 120; tid++)
		run(tid, 2 * MS);
	assert_int_equal(holder_since(begin, 1), 7);
}

/* ksoftirqd between the slices, and last: it had the CPU for microseconds. */
static void test_interrupted(void **state)
{
	__u64 begin = now;

	(void)state;
	run(7, 2 * MS);
	run(22, 5 * US);
	run(7, 2 * MS);
	run(23, 3 * MS);
	run(22, 50 * US);
	/* 4 ms in two parts are more than 3 */
	assert_int_equal(holder_since(begin, 1), 7);
}

/* What ran before the wait began does not count, however long; of a run across it, the part after. */
static void test_before_the_wait(void **state)
{
	__u64 begin;

	(void)state;
	run(7, 900 * MS);
	begin = now;
	run(8, 3 * MS);
	assert_int_equal(holder_since(begin, 1), 8);
	begin = now - 1 * MS;
	run(9, 2 * MS);
	assert_int_equal(holder_since(begin, 1), 9);
	begin = now + 1;
	assert_int_equal(holder_since(begin, 1), 0xffff);
}

/* The waiter's own slice before, or between two waits, is no one who holds it up. */
static void test_not_itself(void **state)
{
	__u64 begin = now;

	(void)state;
	run(1, 10 * MS);
	run(8, 1 * MS);
	assert_int_equal(holder_since(begin, 1), 8);
}

static void test_idle(void **state)
{
	__u64 begin = now;

	(void)state;
	run(0, 70 * MS);
	run(8, 1 * MS);
	assert_int_equal(holder_since(begin, 1), 0);
}

/* Many short ones: none is kept, none is blamed. */
static void test_short_runs(void **state)
{
	__u64 begin = now;

	(void)state;
	for (__u32 tid = 10; tid < 200; tid++)
		run(tid, TT_RUN_MIN_NS - 1);
	assert_int_equal(holder_since(begin, 1), 0xffff);
}

/* A long run gives way in the end: as late as its own length after it. */
static void test_expiry(void **state)
{
	__u64 begin = now;

	(void)state;
	run(7, 10 * MS);
	for (__u32 i = 0; i < 30; i++)
		run(10 + i % 8, 1 * MS);
	assert_int_not_equal(holder_since(begin, 1), 7);
}

/* A wake on another CPU may set the clock a moment ahead. */
static void test_clock_ahead(void **state)
{
	(void)state;
	cpu.switched_ns = now + 5 * MS;
	assert_null(tt_note_run(&cpu, now, 7));
	assert_int_equal(cpu.switched_ns, now);
	assert_int_equal(holder_since(now - 1, 1), 0xffff);
}

/* Named once: the caller reads the name only for a run that is new. */
static void test_named_once(void **state)
{
	(void)state;
	now += 2 * MS;
	assert_non_null(tt_note_run(&cpu, now, 7));
	now += 2 * MS;
	assert_null(tt_note_run(&cpu, now, 7));
	now += 1 * US;
	assert_null(tt_note_run(&cpu, now, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(test_starved_crowd), TEST(test_interrupted), TEST(test_before_the_wait),
		TEST(test_not_itself),	  TEST(test_idle),	  TEST(test_short_runs),
		TEST(test_expiry),	  TEST(test_clock_ahead), TEST(test_named_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
