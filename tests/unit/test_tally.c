/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts stay with their thread though slots are used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "probe/tally.h"

#define SLOTS 16
#define KEEP  100

static void add(struct tally *tally, uint32_t slot, pid_t tid, uint64_t key, int64_t n)
{
	uint64_t words[TALLY_KEY] = {key};
	int64_t counts[TALLY_COUNTS] = {n, 2 * n};

	tally_add(tally, slot, 7, tid, words, counts);
}

static int64_t end(struct tally *tally, uint32_t slot, pid_t tid, const char *group, bool exited)
{
	struct thread_account account = {.pid = 7, .tid = tid, .exited = exited};
	int64_t counts[TALLY_COUNTS] = {0};

	strcpy(account.group, group);
	tally_close(tally, slot, &account, counts);
	assert_int_equal(counts[1], 2 * counts[0]);
	return counts[0];
}

struct wanted {
	pid_t tid;
	const char *group;
	uint64_t key;
	int64_t sum, all;
	int rows;
};

static void look(void *ctx, const struct tally_owner *owner, const uint64_t key[TALLY_KEY],
		 const int64_t counts[TALLY_COUNTS])
{
	struct wanted *wanted = ctx;

	wanted->rows++;
	wanted->all += counts[0];
	if (owner->tid == wanted->tid && !strcmp(owner->group, wanted->group) &&
	    key[0] == wanted->key)
		wanted->sum += counts[0];
}

static int64_t sum(const struct tally *tally, pid_t tid, const char *group, uint64_t key)
{
	struct wanted wanted = {.tid = tid, .group = group, .key = key};

	tally_for_each(tally, look, &wanted);
	return wanted.sum;
}

static int64_t sum_all(const struct tally *tally, int *rows)
{
	struct wanted wanted = {.group = "-"};

	tally_for_each(tally, look, &wanted);
	*rows = wanted.rows;
	return wanted.all;
}

static void living_thread(void **state)
{
	struct tally *tally = tally_new(SLOTS, KEEP);

	(void)state;
	add(tally, 3, 1003, 5, 2);
	add(tally, 3, 1003, 5, 3);
	add(tally, 3, 1003, 6, 7);
	assert_int_equal(end(tally, 3, 1003, "main", false), 12);
	assert_int_equal(sum(tally, 1003, "main", 5), 5);
	assert_int_equal(sum(tally, 1003, "main", 6), 7);
	tally_free(tally);
}

/* Read late: the slot has been given back, and even given to another thread. */
static void late_counts(void **state)
{
	struct tally *tally = tally_new(SLOTS, KEEP);

	(void)state;
	add(tally, 2, 11, 1, 1);
	assert_int_equal(end(tally, 2, 11, "worker", true), 1);
	add(tally, 2, 11, 1, 4);
	add(tally, 2, 12, 1, 8);
	add(tally, 2, 11, 1, 16);
	assert_int_equal(end(tally, 2, 12, "other", false), 8);
	assert_int_equal(sum(tally, 0, "worker", 1), 21);
	assert_int_equal(sum(tally, 12, "other", 1), 8);
	/* A thread without a count before its end. */
	assert_int_equal(end(tally, 4, 13, "late", true), 0);
	add(tally, 4, 13, 1, 32);
	assert_int_equal(sum(tally, 0, "late", 1), 32);
	tally_free(tally);
}

static void ended_threads_fold(void **state)
{
	struct tally *tally = tally_new(SLOTS, KEEP);
	int64_t total = 0, rows;
	int n;

	(void)state;
	for (pid_t tid = 1; tid <= 20011; tid++) {
		add(tally, tid % SLOTS, tid, tid % 3, 1);
		add(tally, tid % SLOTS, tid, 3 + tid % 5, 2);
		total += 3;
		end(tally, tid % SLOTS, tid, tid % 2 ? "odd" : "even", true);
	}
	assert_int_equal(sum_all(tally, &n), total);
	rows = n;
	assert_int_equal(rows, 2 * (3 + 5));
	tally_free(tally);
}

static void busy_ended_thread_stays(void **state)
{
	struct tally *tally = tally_new(SLOTS, KEEP);

	(void)state;
	add(tally, 1, 21, 9, KEEP);
	add(tally, 1, 21, 8, 1);
	end(tally, 1, 21, "infer", true);
	assert_int_equal(sum(tally, 21, "infer", 9), KEEP);
	tally_free(tally);
}

static void beyond_the_limit_is_counted(void **state)
{
	struct tally *tally = tally_new(SLOTS, KEEP);
	int64_t n = TALLY_LIMIT + 1009;
	int rows;

	(void)state;
	for (int64_t key = 0; key < n; key++)
		add(tally, 1, 31, (uint64_t)key, 1);
	assert_int_equal(end(tally, 1, 31, "wide", false), n);
	assert_int_equal(sum_all(tally, &rows), n);
	assert_true(rows <= (int)TALLY_LIMIT + 1);
	assert_true(sum(tally, 31, "wide", TALLY_REST) >= 1009);
	tally_free(tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(living_thread),
		cmocka_unit_test(late_counts),
		cmocka_unit_test(ended_threads_fold),
		cmocka_unit_test(busy_ended_thread_stays),
		cmocka_unit_test(beyond_the_limit_is_counted),
	};

	return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
