/* SPDX-License-Identifier: GPL-2.0-only */
/* Accounts from the kernel's books alone, and the tables that the rungs without BPF share. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/hash_table.h"
#include "probe/rungs/perf_walk.h"
#include "probe/rungs/proc_books.h"
#include "probe/rungs/proc_sites.h"

#define MS 1000000ULL

static struct proc_account account;
static struct tt_thread t;

static uint64_t look(uint64_t oncpu_ms, uint64_t runq_ms, uint64_t slices, char state,
		     uint64_t now_ms)
{
	struct proc_reading reading = {oncpu_ms * MS, runq_ms * MS, slices};

	return proc_account_read(&account, &t, &reading, proc_bucket(state), now_ms * MS);
}

static int begin(void **state)
{
	struct proc_reading reading = {700 * MS, 70 * MS, 7};

	(void)state;
	memset(&t, 0, sizeof(t));
	proc_account_begin(&account, &reading, 1000 * MS);
	return 0;
}

static void assert_sums(uint64_t oncpu_ms, uint64_t runq_ms, uint64_t off_ms, uint64_t stopped_ms,
			uint64_t unknown_ms)
{
	assert_int_equal(t.ns[TT_ONCPU], oncpu_ms * MS);
	assert_int_equal(t.ns[TT_RUNQ_WAKE] + t.ns[TT_RUNQ_PREEMPT], runq_ms * MS);
	assert_int_equal(t.ns[TT_OFF_OTHER], off_ms * MS);
	assert_int_equal(t.ns[TT_STOPPED], stopped_ms * MS);
	assert_int_equal(t.ns[TT_UNKNOWN], unknown_ms * MS);
	assert_int_equal(t.t_last_ns,
			 account.begin_ns +
				 (oncpu_ms + runq_ms + off_ms + stopped_ms + unknown_ms) * MS);
}

static void test_sleep_is_what_the_books_do_not_claim(void **state)
{
	(void)state;
	assert_int_equal(look(703, 71, 9, 'S', 1020), 16 * MS);
	assert_sums(3, 1, 16, 0, 0);
	assert_int_equal(look(703, 71, 9, 'S', 1040), 20 * MS);
	assert_sums(3, 1, 36, 0, 0);
}

static void test_rest_of_a_runnable_thread_waits_until_it_sleeps(void **state)
{
	(void)state;
	assert_int_equal(look(710, 72, 9, 'R', 1020), 0);
	assert_sums(10, 2, 0, 0, 8);
	assert_int_equal(look(716, 74, 12, 'S', 1040), 20 * MS);
	assert_sums(16, 4, 20, 0, 0);
}

static void test_books_that_stand_still_are_a_wait_for_a_cpu(void **state)
{
	(void)state;
	look(710, 72, 9, 'R', 1020);
	look(710, 72, 9, 'R', 1060);
	assert_sums(10, 42, 0, 0, 8);
	/* then the kernel books it */
	look(711, 112, 10, 'R', 1061);
	assert_sums(11, 42, 0, 0, 8);
}

static void test_standing_still_for_less_than_a_tick_tells_nothing(void **state)
{
	(void)state;
	look(710, 72, 9, 'R', 1020);
	look(710, 72, 9, 'R', 1030);
	assert_sums(10, 2, 0, 0, 18);
}

static void test_stopped_is_no_sleep(void **state)
{
	(void)state;
	look(701, 70, 8, 'T', 1020);
	assert_int_equal(look(701, 70, 8, 'T', 1040), 0);
	assert_sums(1, 0, 0, 39, 0);
}

static void test_books_late_at_the_begin_do_not_exceed_the_time(void **state)
{
	(void)state;
	look(724, 71, 8, 'R', 1020);
	assert_sums(20, 0, 0, 0, 0);
	/* nor do they take back what was sleep */
	look(724, 71, 8, 'S', 1030);
	look(735, 75, 9, 'R', 1040);
	assert_int_equal(t.ns[TT_OFF_OTHER], 5 * MS);
	assert_int_equal(t.ns[TT_ONCPU] + t.ns[TT_RUNQ_WAKE], 35 * MS);
}

static void test_run_queue_is_split_by_the_switches(void **state)
{
	(void)state;
	look(710, 110, 9, 'S', 1060);
	proc_account_split(&t, 30, 10);
	assert_int_equal(t.ns[TT_RUNQ_WAKE], 30 * MS);
	assert_int_equal(t.ns[TT_RUNQ_PREEMPT], 10 * MS);
	proc_account_split(&t, 0, 0);
	assert_sums(10, 40, 10, 0, 0);
}

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(proc_bucket('R'), TT_UNKNOWN);
	assert_int_equal(proc_bucket('S'), TT_OFF_OTHER);
	assert_int_equal(proc_bucket('D'), TT_OFF_OTHER);
	assert_int_equal(proc_bucket('t'), TT_STOPPED);
	assert_int_equal(proc_bucket('Z'), TT_DEAD);
}

static struct sleep_site site_of(const char *frame)
{
	struct sleep_site site = {.syscall = 202, .args_known = true, .args = {0x1000, 0x80, 0}};

	strcpy(site.text, frame);
	site.nframes = 1;
	return site;
}

static void test_places_are_kept_once(void **state)
{
	struct proc_sites *sites = proc_sites_new();
	struct sleep_site a, b, got;
	__u64 key;

	(void)state;
	a = site_of("futex_wait");
	a.frames[0] = a.text;
	b = site_of("pipe_read");
	b.frames[0] = b.text;
	key = proc_sites_add(sites, &a);
	assert_int_not_equal(key, 0);
	assert_int_equal(proc_sites_add(sites, &a), key);
	assert_int_not_equal(proc_sites_add(sites, &b), key);
	assert_int_equal(proc_sites_get(sites, key, &got), 0);
	assert_string_equal(got.frames[0], "futex_wait");
	assert_ptr_equal(got.frames[0], got.text);
	assert_int_equal(proc_sites_get(sites, 3, &got), -ENOENT);
	assert_int_equal(proc_sites_get(sites, 0, &got), -ENOENT);
	a.syscall = WAIT_SYSCALL_UNKNOWN;
	a.nframes = 0;
	assert_int_equal(proc_sites_add(sites, &a), 0);
	proc_sites_free(sites);
}

static void test_table_holds_as_many_rows_as_it_was_made_for(void **state)
{
	struct hash_table *table = hash_table_new(100, sizeof(uint64_t), sizeof(uint32_t));
	struct map_table rows;
	uint64_t sum = 0;

	(void)state;
	for (uint64_t key = 0; key < 100; key++)
		*(uint32_t *)hash_table_add(table, &key) = (uint32_t)key;
	for (uint64_t key = 100; key < 110; key++)
		assert_null(hash_table_add(table, &key));
	for (uint64_t key = 0; key < 100; key += 2)
		assert_true(hash_table_delete(table, &key));
	for (uint64_t key = 0; key < 100; key++) {
		const uint32_t *value = hash_table_find(table, &key);

		assert_true(key % 2 ? value && *value == key : !value);
	}
	for (uint64_t key = 200; key < 250; key++)
		assert_int_equal(*(uint32_t *)hash_table_add(table, &key), 0);
	assert_int_equal(hash_table_read(table, &rows), 0);
	assert_int_equal(rows.n, 100);
	for (size_t i = 0; i < rows.n; i++)
		sum += ((uint64_t *)rows.keys)[i];
	assert_int_equal(sum, 2500 + 50 * 200 + 49 * 50 / 2);
	map_table_free(&rows);
	hash_table_free(table);
}

static struct tt_thread *add(struct records *records, __u32 tid, __u32 flags, __u32 sleeps,
			     __u64 slept_ns)
{
	struct tt_thread *thread = &records->threads[records_take_slot(records)];

	thread->tid = tid;
	thread->flags = flags;
	thread->switches_voluntary = sleeps;
	thread->ns[TT_OFF_OTHER] = slept_ns;
	thread->bucket = TT_OFF_OTHER;
	return thread;
}

static void test_walked_are_the_long_sleepers(void **state)
{
	struct records *records = records_new(256, 4096);
	char filter[WALK_FILTER_SIZE];
	struct walk_list list;

	(void)state;
	add(records, 30, TT_LONG_KEPT << TT_LONG_SHIFT, 5000, 1);
	add(records, 20, 0, 5000, 1000000); /* many short sleeps */
	add(records, 10, 0, 3, 0);
	add(records, 40, 0, 0, 0)->bucket = TT_DEAD;
	walk_choose(records, &list);
	assert_int_equal(list.n, 2);
	walk_filter(&list, filter);
	assert_string_equal(filter, "prev_state & 3 && (prev_pid == 10 || prev_pid == 30)");
	for (__u32 i = 0; i < 100; i++)
		add(records, 4194000 + i, 0, 0, i);
	walk_choose(records, &list);
	assert_int_equal(list.n, WALK_MAX);
	assert_int_equal(list.tids[WALK_MAX - 1], 4194099);
	assert_int_equal(list.tids[0], 4194036);
	walk_filter(&list, filter);
	assert_int_equal(filter[strlen(filter) - 1], ')');
	records_free(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_sleep_is_what_the_books_do_not_claim, begin),
		cmocka_unit_test_setup(test_rest_of_a_runnable_thread_waits_until_it_sleeps, begin),
		cmocka_unit_test_setup(test_books_that_stand_still_are_a_wait_for_a_cpu, begin),
		cmocka_unit_test_setup(test_standing_still_for_less_than_a_tick_tells_nothing,
				       begin),
		cmocka_unit_test_setup(test_stopped_is_no_sleep, begin),
		cmocka_unit_test_setup(test_books_late_at_the_begin_do_not_exceed_the_time, begin),
		cmocka_unit_test_setup(test_run_queue_is_split_by_the_switches, begin),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_places_are_kept_once),
		cmocka_unit_test(test_table_holds_as_many_rows_as_it_was_made_for),
		cmocka_unit_test(test_walked_are_the_long_sleepers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
