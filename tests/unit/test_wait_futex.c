/* SPDX-License-Identifier: GPL-2.0-only */
/* Which waits on futexes are a lock's, beside the others on the same word. */
#include <linux/futex.h>
#include <linux/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "futex.h"
#include "probe/waits/wait_futex.h"

#define WORD	0x1000u
#define PRIVATE (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)
#define BITSET	(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG)
#define THREADS 4

static struct session session;
static struct raw_waits raw;

/* Threads 0 and 1 are of one process, 2 of another, 3 is many short-lived ones of the first. */
static int set_up(void **state)
{
	(void)state;
	memset(&raw, 0, sizeof(raw));
	session_init(&session);
	for (int i = 0; i < THREADS; i++) {
		struct thread_account *row = session_add_thread(&session);

		row->pid = i == 2 ? 200 : 100;
		row->tid = i == 3 ? 0 : 1000 + i;
		row->folded = i == 3 ? 7 : 1;
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	raw_waits_free(&raw);
	session_free(&session);
	memset(&session, 0, sizeof(session));
	return 0;
}

static void waited(size_t row, uint32_t word, uint32_t op, uint32_t value, enum waker_kind kind,
		   int count)
{
	struct raw_wait wait = {
		.row = row,
		.key.syscall = TT_SYSCALL(SYS_futex),
		.key.arg = word,
		.key.flags = tt_futex_flags(op, value),
		.waker.kind = kind,
		.waker.tid = kind == WAKER_THREAD ? 4711 : 0,
		.ns = 1000 * count,
		.max_ns = 1000,
		.count = count,
	};
	size_t place;

	assert_int_equal(raw_waits_add(&raw, &wait, session.threads[row].folded > 1, &place), 0);
}

static bool all_locks(void)
{
	assert_int_equal(wait_futex_locks(&raw, &session), 0);
	for (size_t i = 0; i < raw.n; i++)
		if (!(raw.rows[i].key.flags & TT_SITE_FUTEX_LOCK))
			return false;
	return true;
}

static bool no_lock(void)
{
	assert_int_equal(wait_futex_locks(&raw, &session), 0);
	for (size_t i = 0; i < raw.n; i++)
		if (raw.rows[i].key.flags & TT_SITE_FUTEX_LOCK)
			return false;
	return true;
}

static void one_wait_for_a_mutex_is_enough(void **state)
{
	(void)state;
	waited(0, WORD, PRIVATE, 2, WAKER_NONE, 1);
	assert_true(all_locks());
}

static void a_read_write_lock_is_waited_for_again_and_again(void **state)
{
	(void)state;
	waited(0, WORD, BITSET, 3, WAKER_THREAD, 2);
	waited(0, WORD, BITSET, 3, WAKER_TIMER, 100);
	assert_true(no_lock());
	waited(0, WORD, BITSET, 2, WAKER_THREAD, 1);
	assert_true(all_locks());
}

/* Each of an idle pool waits once for a counter that stands at 3. */
static void waits_of_others_do_not_count(void **state)
{
	(void)state;
	waited(0, WORD, BITSET, 3, WAKER_THREAD, 2);
	waited(1, WORD, BITSET, 3, WAKER_THREAD, 2);
	assert_true(no_lock());
}

static void a_counter_that_moves_on_is_no_lock(void **state)
{
	(void)state;
	waited(0, WORD, BITSET, 2, WAKER_THREAD, 5);
	waited(1, WORD, BITSET, 4, WAKER_THREAD, 1);
	assert_true(no_lock());
}

static void nor_is_the_round_of_a_barrier(void **state)
{
	(void)state;
	waited(0, WORD, PRIVATE, 0, WAKER_THREAD, 1);
	waited(1, WORD, PRIVATE, 2, WAKER_THREAD, 1);
	assert_true(no_lock());
}

static void another_word_or_process_tells_nothing(void **state)
{
	(void)state;
	waited(0, WORD, PRIVATE, 2, WAKER_THREAD, 1);
	waited(0, WORD + 4, PRIVATE, 0, WAKER_THREAD, 1);
	waited(2, WORD, PRIVATE, 0, WAKER_THREAD, 1);
	assert_int_equal(wait_futex_locks(&raw, &session), 0);
	assert_int_equal(raw.rows[0].key.flags, TT_SITE_FUTEX_LOCK);
}

/* The address is that of another wait of the thread, perhaps. */
static void samples_do_not_unmake_a_lock(void **state)
{
	(void)state;
	waited(0, WORD, PRIVATE, 2, WAKER_THREAD, 1);
	waited(1, WORD, PRIVATE, 0, WAKER_THREAD, 1);
	raw.rows[1].sampled = true;
	assert_int_equal(wait_futex_locks(&raw, &session), 0);
	assert_int_equal(raw.rows[0].key.flags, TT_SITE_FUTEX_LOCK);
	assert_int_equal(raw.rows[1].key.flags, 0);
}

/* Their addresses were not kept. */
static void threads_that_share_a_row_keep_only_mutexes(void **state)
{
	(void)state;
	waited(3, WORD, BITSET, 3, WAKER_THREAD, 100);
	assert_true(no_lock());
	waited(3, WORD, PRIVATE, 2, WAKER_THREAD, 1);
	waited(0, WORD, PRIVATE, 0, WAKER_THREAD, 1);
	assert_int_equal(wait_futex_locks(&raw, &session), 0);
	assert_int_equal(raw.rows[1].key.flags, TT_SITE_FUTEX_LOCK);
}

static void other_calls_are_left_alone(void **state)
{
	struct raw_wait wait = {.key.syscall = TT_SYSCALL(SYS_read), .key.arg = 3, .count = 9};
	size_t place;

	(void)state;
	assert_int_equal(raw_waits_add(&raw, &wait, false, &place), 0);
	assert_true(no_lock());
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(one_wait_for_a_mutex_is_enough),
		TEST(a_read_write_lock_is_waited_for_again_and_again),
		TEST(waits_of_others_do_not_count),
		TEST(a_counter_that_moves_on_is_no_lock),
		TEST(nor_is_the_round_of_a_barrier),
		TEST(another_word_or_process_tells_nothing),
		TEST(threads_that_share_a_row_keep_only_mutexes),
		TEST(samples_do_not_unmake_a_lock),
		TEST(other_calls_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
