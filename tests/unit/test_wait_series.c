/* SPDX-License-Identifier: GPL-2.0-only */
/* Kinds of sleep by time: sums are exact, moments right within the time between two looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/waits/wait_series.h"

#define MS	 1000000LL
#define LOOK_MS	 500
#define BEGIN_NS (77 * MS)

/* The class of a raw wait is its index. */
static struct raw_waits judged(struct raw_wait rows[WAIT_CLASSES])
{
	for (int c = 0; c < WAIT_CLASSES; c++)
		rows[c] = (struct raw_wait){.class = (enum wait_class)c};
	return (struct raw_waits){.rows = rows, .n = WAIT_CLASSES};
}

static struct tt_edge_key key_of(uint32_t slot, enum wait_class class)
{
	return (struct tt_edge_key){.slot = slot, .syscall = (__u16)(class + 1)};
}

static struct host_series points_of(int n, float asleep)
{
	struct host_series points = {.points = calloc((size_t)n, sizeof(struct host_point)),
				     .n = (size_t)n};

	for (int i = 0; i < n; i++) {
		host_point_init(&points.points[i]);
		points.points[i].span_ns = LOOK_MS * MS;
		points.points[i].t_ns = (i + 1) * LOOK_MS * MS;
		memset(points.points[i].off_threads, 0, sizeof(points.points[i].off_threads));
		points.points[i].off_threads[WAIT_OTHER] = asleep;
	}
	return points;
}

static double sum_ns(const struct host_series *points, enum wait_class class)
{
	double sum = 0;

	for (size_t i = 0; i < points->n; i++)
		sum += (double)points->points[i].off_threads[class] *
		       (double)points->points[i].span_ns;
	return sum;
}

/* A thread as the kernel counts it: what it waits for, and when. */
struct sleeper {
	uint32_t tid;
	int64_t off_ns;
	int64_t ns[WAIT_CLASSES];
};

static struct slot_sleep sleep_of(const void *ctx, uint32_t slot)
{
	const struct sleeper *sleeper = (const struct sleeper *)ctx + slot;

	return (struct slot_sleep){.tid = sleeper->tid, .off_ns = sleeper->off_ns};
}

static void tell(struct wait_series *series, const struct sleeper *sleepers, uint32_t slot,
		 int64_t now_ns, bool ends)
{
	struct tt_edge_key keys[WAIT_CLASSES];
	struct wait_grown rows[WAIT_CLASSES];
	size_t n = 0;

	for (int c = 0; c < WAIT_CLASSES; c++) {
		if (!sleepers[slot].ns[c])
			continue;
		keys[n] = key_of(slot, (enum wait_class)c);
		rows[n] = (struct wait_grown){
			.key = &keys[n], .ns = sleepers[slot].ns[c], .row = ends ? c : -1};
		n++;
	}
	assert_int_equal(wait_series_take(series, slot, rows, n, now_ns), 0);
}

/* From 700 ms to 3300 ms, told of at its end; a computing thread beside it sleeps 10 ms for a disk. */
static void long_sleep_lies_where_it_was(void **state)
{
	struct wait_series *series = wait_series_new();
	struct host_series points = points_of(8, 0);
	struct sleeper sleepers[2] = {0};
	struct raw_wait rows[WAIT_CLASSES];
	struct raw_waits waits = judged(rows);
	static const float want[] = {0, 0.6F, 1, 1, 1, 1, 0.6F, 0};

	(void)state;
	wait_series_begin(series, BEGIN_NS);
	for (int ms = 1; ms <= 4000; ms++) {
		int64_t now_ns = BEGIN_NS + ms * MS;

		if (ms > 700 && ms <= 3300)
			sleepers[0].off_ns += MS;
		if (ms == 3300)
			sleepers[0].ns[WAIT_NET] = 2600 * MS;
		if (ms > 1100 && ms <= 1110)
			sleepers[1].off_ns = sleepers[1].ns[WAIT_DISK] += MS;
		if (ms % LOOK_MS)
			continue;
		tell(series, sleepers, 0, now_ns, ms == 4000);
		tell(series, sleepers, 1, now_ns, ms == 4000);
		wait_series_look(series, now_ns, sleep_of, sleepers, 2);
	}
	wait_series_fill(series, &waits, &points);
	for (int i = 0; i < 8; i++) {
		const float *off = points.points[i].off_threads;

		assert_true(fabsf(off[WAIT_NET] - want[i]) < 0.001F);
		assert_true(fabsf(off[WAIT_DISK] - (i == 2 ? 0.02F : 0)) < 0.001F);
	}
	free(points.points);
	wait_series_free(series);
}

/* A rung that is behind tells of the last events after the last look. */
static void late_news_are_kept(void **state)
{
	struct wait_series *series = wait_series_new();
	struct host_series points = points_of(2, 1);
	struct sleeper sleepers[1] = {0};
	struct raw_wait rows[WAIT_CLASSES];
	struct raw_waits waits = judged(rows);
	int64_t end_ns = BEGIN_NS + 2 * LOOK_MS * MS;

	(void)state;
	wait_series_begin(series, BEGIN_NS);
	sleepers[0].off_ns = 100 * MS;
	wait_series_look(series, BEGIN_NS + LOOK_MS * MS, sleep_of, sleepers, 1);
	wait_series_look(series, end_ns, sleep_of, sleepers, 1);
	sleepers[0].ns[WAIT_LOCK] = 350 * MS;
	tell(series, sleepers, 0, end_ns, true);
	wait_series_fill(series, &waits, &points);
	assert_true(fabs(sum_ns(&points, WAIT_LOCK) - 350 * MS) < MS);
	free(points.points);
	wait_series_free(series);
}

/*
 * A thread that ends at 1200 ms, having slept for a lock till 1100 ms; the next in its slot, born at
 * 1600 ms, sleeps for a timer from then to 3900 ms.
 */
static void next_in_a_slot_begins_anew(void **state)
{
	struct wait_series *series = wait_series_new();
	struct host_series points = points_of(8, 0);
	struct sleeper sleepers[1] = {{.tid = 5}};
	struct raw_wait rows[WAIT_CLASSES];
	struct raw_waits waits = judged(rows);
	static const float lock[] = {1, 1, 0.2F, 0, 0, 0, 0, 0};
	static const float timer[] = {0, 0, 0, 0.8F, 1, 1, 1, 0.8F};

	(void)state;
	wait_series_begin(series, BEGIN_NS);
	for (int ms = 1; ms <= 4000; ms++) {
		int64_t now_ns = BEGIN_NS + ms * MS;

		if (ms <= 1100 || (ms > 1600 && ms <= 3900))
			sleepers[0].off_ns += MS;
		if (ms == 1100)
			sleepers[0].ns[WAIT_LOCK] = 1100 * MS;
		if (ms == 1200) {
			tell(series, sleepers, 0, now_ns, true);
			sleepers[0].ns[WAIT_LOCK] = 0;
		}
		if (ms == 1600)
			sleepers[0] = (struct sleeper){.tid = 6};
		if (ms == 3900)
			sleepers[0].ns[WAIT_TIMER] = 2300 * MS;
		if (ms % LOOK_MS)
			continue;
		tell(series, sleepers, 0, now_ns, ms == 4000);
		wait_series_look(series, now_ns, sleep_of, sleepers, 1);
	}
	wait_series_fill(series, &waits, &points);
	for (int i = 0; i < 8; i++) {
		const float *off = points.points[i].off_threads;

		assert_true(fabsf(off[WAIT_LOCK] - lock[i]) < 0.001F);
		assert_true(fabsf(off[WAIT_TIMER] - timer[i]) < 0.001F);
	}
	free(points.points);
	wait_series_free(series);
}

/* What is asleep and has no kind is not left out. */
static void rest_is_other(void **state)
{
	struct wait_series *series = wait_series_new();
	struct host_series points = points_of(4, 3);
	struct raw_wait rows[WAIT_CLASSES];
	struct raw_waits waits = judged(rows);

	(void)state;
	wait_series_begin(series, BEGIN_NS);
	assert_int_equal(
		wait_series_last(series, WAIT_TIMER, 700 * MS, BEGIN_NS + 4 * LOOK_MS * MS), 0);
	wait_series_fill(series, &waits, &points);
	for (int i = 0; i < 4; i++) {
		const float *off = points.points[i].off_threads;

		assert_true(fabsf(off[WAIT_TIMER] - (i == 3 ? 1 : i == 2 ? 0.4F : 0)) < 0.001F);
		assert_true(fabsf(off[WAIT_OTHER] + off[WAIT_TIMER] - 3) < 0.001F);
	}
	free(points.points);
	wait_series_free(series);
}

/*
 * Threads that end and whose slot the next one takes, for so long and of so many kinds that the record
 * gets coarser: nothing is lost, and every class stays within a grid of where it was.
 */
static void crowd_keeps_the_sums(void **state)
{
	enum { SLOTS = 40, LOOKS = 2000 };
	struct wait_series *series = wait_series_new();
	struct host_series points = points_of(LOOKS, 0);
	struct sleeper sleepers[SLOTS] = {0};
	struct raw_wait rows[WAIT_CLASSES];
	struct raw_waits waits = judged(rows);
	double told[WAIT_CLASSES] = {0}, first_half[WAIT_CLASSES] = {0}, kept = 0;

	(void)state;
	srandom(11);
	wait_series_begin(series, BEGIN_NS);
	for (int look = 1; look <= LOOKS; look++) {
		int64_t now_ns = BEGIN_NS + look * LOOK_MS * MS;

		for (uint32_t slot = 0; slot < SLOTS; slot++) {
			bool ends = random() % 50 == 0 || look == LOOKS;

			for (int i = 0; i < 3; i++) {
				int c = (int)(random() % WAIT_CLASSES);
				int64_t ns = random() % (LOOK_MS * MS / 4);

				sleepers[slot].ns[c] += ns;
				sleepers[slot].off_ns += ns;
				told[c] += (double)ns;
				if (look <= LOOKS / 2)
					first_half[c] += (double)ns;
			}
			tell(series, sleepers, slot, now_ns, ends);
			if (!ends)
				continue;
			/* Who was last in a slot still stands there. */
			if (random() % 2)
				sleepers[slot] = (struct sleeper){.tid = (uint32_t)random()};
			else
				memset(sleepers[slot].ns, 0, sizeof(sleepers[slot].ns));
		}
		wait_series_look(series, now_ns, sleep_of, sleepers, SLOTS);
	}
	wait_series_fill(series, &waits, &points);
	for (int c = 0; c < WAIT_CLASSES; c++) {
		double half = 0;

		assert_true(fabs(sum_ns(&points, (enum wait_class)c) / told[c] - 1) < 1e-6);
		kept += sum_ns(&points, (enum wait_class)c);
		for (int i = 0; i < LOOKS / 2; i++)
			half += (double)points.points[i].off_threads[c] * LOOK_MS * MS;
		assert_true(fabs(half / first_half[c] - 1) < 0.02);
	}
	assert_true(kept > 0);
	free(points.points);
	wait_series_free(series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_sleep_lies_where_it_was),
		cmocka_unit_test(late_news_are_kept),
		cmocka_unit_test(next_in_a_slot_begins_anew),
		cmocka_unit_test(rest_is_other),
		cmocka_unit_test(crowd_keeps_the_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
