/* SPDX-License-Identifier: GPL-2.0-only */
/* The intervals of the timeline are the sums of the account; order, and what a damaged file may hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"

#define BEGIN  1000
#define EVENTS 2000

static struct {
	__u64 start, length;
	__u32 bucket;
} kept[4 * EVENTS];
static int nkept;

static void keep(__u64 start, __u64 length, __u32 bucket)
{
	kept[nkept].start = start;
	kept[nkept].length = length;
	kept[nkept++].bucket = bucket;
}

#define TT_KEEP_SLICE(t, start, length, held, now_held) keep(start, length, held)

#include "session/timeline.h"
#include "thread_state.h"

static void one_event(struct tt_thread *t, __u64 now)
{
	__u64 ran = rand() % 3 ? TT_RAN_UNKNOWN : (__u64)(rand() % 200);

	switch (rand() % 4) {
	case 0:
		tt_switch_out(t, now, BEGIN, rand() % TT_OUT_DEAD, ran, now - 50);
		break;
	case 1:
		tt_switch_in(t, now, BEGIN);
		break;
	case 2:
		tt_waking(t, TT_WAKER(TT_WAKER_TASK, 7));
		break;
	default:
		tt_wakeup(t, now, BEGIN, ran);
	}
}

/* Events in any order, also impossible ones: then some were missed. */
static void slices_are_the_sums(void **state)
{
	(void)state;
	for (int seed = 0; seed < 50; seed++) {
		struct tt_thread t = {.tid = 7, .tgid = 7};
		__u64 sums[TT_BUCKET_SLOTS] = {0}, at = BEGIN, now = BEGIN + 100;

		srand(seed);
		nkept = 0;
		for (int i = 0; i < EVENTS; i++, now += rand() % 300 - 20)
			one_event(&t, now);
		for (int i = 0; i < nkept; i++) {
			assert_int_equal(kept[i].start, at);
			at += kept[i].length;
			sums[kept[i].bucket] += kept[i].length;
		}
		assert_memory_equal(sums, t.ns, sizeof(sums));
		assert_int_equal(at, t.t_last_ns);
		assert_true(at > BEGIN + 10000);
	}
}

static void order(void **state)
{
	static const struct timeline_slice slices[] = {
		{.pid = 2, .tid = 3, .start_ns = 50, .ns = 10},
		{.pid = 2, .tid = 3, .start_ns = 0, .ns = 50},
		{.pid = 1, .tid = 9, .start_ns = 70, .ns = 5},
		{.pid = 2, .tid = 3, .start_ns = 59, .ns = 10}, /* overlaps */
		{.pid = 2, .tid = 3, .start_ns = 60, .ns = 1},
		{.pid = 2, .tid = 2, .start_ns = 59, .ns = 10},
	};
	static const uint32_t wanted[] = {2, 5, 1, 0, 4};
	struct timeline timeline = {0};
	uint32_t *indices;
	size_t n;

	(void)state;
	assert_null(timeline_order(&timeline, &n));
	for (size_t i = 0; i < sizeof(slices) / sizeof(slices[0]); i++)
		assert_true(timeline_add(&timeline, &slices[i]));
	indices = timeline_order(&timeline, &n);
	assert_int_equal(n, sizeof(wanted) / sizeof(wanted[0]));
	assert_memory_equal(indices, wanted, sizeof(wanted));
	free(indices);
	free(timeline.slices);
}

static void grows(void **state)
{
	struct timeline timeline = {0};

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct timeline_slice slice = {.start_ns = i, .ns = 1, .pid = 1, .tid = 1};

		assert_true(timeline_add(&timeline, &slice));
	}
	for (int i = 0; i < 20000; i++)
		assert_int_equal(timeline.slices[i].start_ns, i);
	free(timeline.slices);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_the_sums),
		cmocka_unit_test(order),
		cmocka_unit_test(grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
