/* SPDX-License-Identifier: GPL-2.0-only */
/* The intervals of the timeline are the sums of the account; what it keeps, and how much. */
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

#define ROWS 20000

/* All kinds, in turn, each in its own order. */
static void grows(void **state)
{
	struct timeline timeline = {0};

	(void)state;
	for (int i = 0; i < ROWS; i++) {
		struct timeline_slice slice = {.start_ns = i};
		struct timeline_request request = {.issue_ns = i};
		struct timeline_fault fault = {.start_ns = i};
		struct timeline_call call = {.start_ns = i};

		timeline_add_slice(&timeline, &slice);
		timeline_add_request(&timeline, &request);
		timeline_add_fault(&timeline, &fault);
		timeline_add_call(&timeline, &call);
	}
	assert_int_equal(timeline.n, ROWS);
	assert_int_equal(timeline.nrequests, ROWS);
	assert_int_equal(timeline.nfaults, ROWS);
	assert_int_equal(timeline.ncalls, ROWS);
	for (int i = 0; i < ROWS; i++) {
		assert_int_equal(timeline.slices[i].start_ns, i);
		assert_int_equal(timeline.requests[i].issue_ns, i);
		assert_int_equal(timeline.faults[i].start_ns, i);
		assert_int_equal(timeline.calls[i].start_ns, i);
	}
	assert_int_equal(timeline.left_out, 0);
	timeline_free(&timeline);
}

/* What came first stays; a row that is too large does not keep a smaller one out. */
static void keeps_its_limit(void **state)
{
	struct timeline timeline = {.limit_bytes = 10 * sizeof(struct timeline_slice) +
						   sizeof(struct timeline_call)};
	struct timeline_slice slice = {.start_ns = 7};
	struct timeline_request request = {.issue_ns = 7};
	struct timeline_call call = {.start_ns = 7};

	(void)state;
	for (int i = 0; i < 10; i++)
		timeline_add_slice(&timeline, &slice);
	timeline_add_request(&timeline, &request);
	timeline_add_call(&timeline, &call);
	timeline_add_call(&timeline, &call);
	assert_int_equal(timeline.n, 10);
	assert_int_equal(timeline.nrequests, 0);
	assert_int_equal(timeline.ncalls, 1);
	assert_int_equal(timeline.left_out, 2);
	timeline_free(&timeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_the_sums),
		cmocka_unit_test(grows),
		cmocka_unit_test(keeps_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
