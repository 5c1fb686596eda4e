/* SPDX-License-Identifier: GPL-2.0-only */
/* Events in user space: what the rung perf makes of them, and of those that are missing. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "probe/rungs/perf_account.h"

#define BEGIN 1000
#define END   100000
#define TID   500
#define OTHER 501

/* As of Linux 6.8. */
static const struct tt_freezer freezer = {
	.code = {[TT_FREEZER_V2] = {0x1000, 0x100},
		 [TT_FREEZER_SIGNAL] = {0x2000, 0x100},
		 [TT_FREEZER_V1] = {0x3000, 0x100},
		 [TT_FREEZER_SCHEDULE] = {0x4000, 0x100}},
	.untold = 1,
};
static struct records *records;

static int set_up(void **state)
{
	(void)state;
	records = records_new(16, 4096);
	if (!records)
		return -1;
	perf_account_start(records, true, &freezer);
	perf_account_window()->begin_ns = BEGIN;
	perf_account_window()->end_ns = END;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	records_free(records);
	return 0;
}

static struct tt_thread *seed(__u32 tid)
{
	__u32 slot = records_take_slot(records);

	records->threads[slot].tid = tid;
	records->threads[slot].tgid = TID;
	*records_slot_ref(records, tid) = (__u16)slot;
	return &records->threads[slot];
}

static void swap(__u64 now, int cpu, __u32 prev, __u32 state, __u32 next)
{
	struct trace_event event = {.time_ns = now,
				    .kind = EVENT_SWITCH,
				    .cpu = (__u16)cpu,
				    .current = prev,
				    .tid = prev,
				    .comm = "prev"};

	event.state = state;
	event.next = next;
	perf_account_event(&event);
}

static void waking(__u64 now, int cpu, __u32 current, __u32 tid, int flags)
{
	struct trace_event event = {.time_ns = now,
				    .kind = EVENT_WAKING,
				    .cpu = (__u16)cpu,
				    .flags = (__u8)flags,
				    .current = current,
				    .tid = tid};

	perf_account_event(&event);
}

static void wakeup(__u64 now, int cpu, __u32 tid)
{
	struct trace_event event = {
		.time_ns = now, .kind = EVENT_WAKEUP, .cpu = (__u16)cpu, .tid = tid};

	perf_account_event(&event);
}

static void lost(__u64 since, __u64 until, int cpu, __u32 count)
{
	struct trace_event event = {
		.time_ns = since, .kind = EVENT_LOST, .cpu = (__u16)cpu, .tid = count};

	event.until_ns = until;
	perf_account_event(&event);
}

static __u64 sum(const struct tt_thread *t)
{
	__u64 ns = 0;

	for (int i = 0; i < TT_BUCKETS; i++)
		ns += t->ns[i];
	return ns;
}

static void test_one_sleep_by_hand(void **state)
{
	struct tt_thread *t = seed(TID);
	struct map_table edges;
	const struct tt_edge_key *key;
	const struct tt_edge *edge;

	(void)state;
	swap(3000, 0, TID, 1, 0);
	waking(7000, 1, OTHER, TID, 0);
	wakeup(7100, 1, TID);
	swap(9000, 1, OTHER, 0, TID);
	assert_int_equal(t->ns[TT_ONCPU], 2000);
	assert_int_equal(t->ns[TT_OFF_OTHER], 4100);
	assert_int_equal(t->ns[TT_RUNQ_WAKE], 1900);
	assert_int_equal(sum(t), 8000);
	assert_int_equal(t->runq_count, 1);
	assert_int_equal(hash_table_read(records->edges, &edges), 0);
	assert_int_equal(edges.n, 1);
	key = edges.keys;
	edge = edges.values;
	assert_int_equal(key->waker, OTHER);
	assert_int_equal(edge->ns, 4100);
	assert_int_equal(edge->count, 1);
	map_table_free(&edges);
}

static void test_interrupt_without_event_is_not_the_task_below_it(void **state)
{
	struct tt_thread *t = seed(TID);

	(void)state;
	swap(3000, 0, TID, 1, 0);
	waking(4000, 0, OTHER, TID, EVENT_IN_IRQ);
	wakeup(4000, 0, TID);
	assert_int_equal(t->last_waker, TT_WAKER(TT_WAKER_TASK, 0));
}

static void test_interrupt_is_told_by_its_number(void **state)
{
	struct tt_thread *t = seed(TID);
	struct trace_event entry = {.time_ns = 3900, .kind = EVENT_IRQ_ENTRY, .cpu = 3};

	(void)state;
	entry.number = 37;
	swap(3000, 0, TID, 1, 0);
	perf_account_event(&entry);
	waking(4000, 3, OTHER, TID, EVENT_IN_IRQ);
	wakeup(4000, 3, TID);
	assert_int_equal(t->last_waker, TT_WAKER(TT_WAKER_IRQ, 37));
}

static void test_missed_switch_in_is_placed_by_the_cpus_last_switch(void **state)
{
	struct tt_thread *t = seed(TID);

	(void)state;
	swap(2000, 0, TID, 1, 0); /* asleep */
	/* no wakeup was seen, and the tid that came in is its: the switch-in itself tells */
	swap(5000, 0, 0, 0, TID);
	t->bucket = TT_RUNQ_WAKE; /* as if that switch had not been handled */
	swap(8000, 0, TID, 1, 0);
	assert_int_equal(t->gap_switch_out, 1);
	assert_int_equal(t->ns[TT_UNKNOWN], 0);
	assert_int_equal(sum(t), 7000);
	assert_int_equal(t->ns[TT_ONCPU], 1000 + 3000);
}

static void test_time_after_a_loss_is_unknown_until_the_next_event(void **state)
{
	struct tt_thread *t = seed(TID);

	(void)state;
	swap(2000, 0, OTHER, 1, TID);
	lost(10000, 20000, 0, 99);
	swap(30000, 0, TID, 1, 0);
	assert_int_equal(perf_account_losses()->events, 99);
	/* queued from the begin on, as it came in without a wakeup */
	assert_int_equal(t->ns[TT_RUNQ_PREEMPT], 1000);
	assert_int_equal(t->ns[TT_ONCPU], 8000);
	assert_int_equal(t->ns[TT_UNKNOWN], 20000);
	assert_int_equal(sum(t), 29000);
	assert_int_equal(t->bucket, TT_OFF_OTHER);
	/* and then all is known again */
	wakeup(40000, 0, TID);
	assert_int_equal(t->ns[TT_OFF_OTHER], 10000);
	assert_int_equal(t->ns[TT_UNKNOWN], 20000);
}

static void task_exit(__u64 now, __u32 tid)
{
	struct trace_event event = {
		.time_ns = now, .kind = EVENT_EXIT, .current = tid, .tid = tid, .comm = "gone"};

	perf_account_event(&event);
}

static void test_an_exit_after_the_window_keeps_what_was_held(void **state)
{
	struct tt_thread *t = seed(TID);

	(void)state;
	swap(2000, 0, TID, 1, OTHER);
	task_exit(END, TID);
	assert_int_equal(t->bucket, TT_OFF_OTHER);
	assert_int_equal(t->t_last_ns, 2000);
	assert_true(t->flags & TT_FLAG_OUTLIVED);
	assert_false(t->flags & TT_FLAG_EXITING);
	assert_string_equal(t->comm, "gone");
	swap(END + 100, 0, TID, 0x10, OTHER);
	assert_int_equal(t->bucket, TT_OFF_OTHER);
	assert_int_equal(t->t_death_ns, 0);
}

static void test_an_exit_in_the_window_does_not_outlive_it(void **state)
{
	struct tt_thread *t = seed(TID);

	(void)state;
	swap(2000, 0, OTHER, 1, TID);
	task_exit(END - 1, TID);
	assert_true(t->flags & TT_FLAG_EXITING);
	assert_false(t->flags & TT_FLAG_OUTLIVED);
	/* its last switch is later */
	swap(END, 0, TID, 0x10, OTHER);
	assert_true(t->flags & TT_FLAG_OUTLIVED);
	assert_int_equal(t->bucket, TT_ONCPU);
}

static void test_the_first_event_after_the_window_tells_all_of_it(void **state)
{
	struct tt_thread *slept = seed(TID), *ran = seed(OTHER), *waited = seed(502),
			 *left = seed(503);

	(void)state;
	wakeup(END, 0, TID);
	swap(END + 10, 0, OTHER, 0, 502);
	task_exit(END + 20, 503);
	swap(END + 25, 0, 503, 0x10, 0);
	assert_int_equal(slept->bucket, TT_OFF_OTHER);
	assert_int_equal(ran->bucket, TT_ONCPU);
	assert_int_equal(waited->bucket, TT_RUNQ_PREEMPT);
	assert_int_equal(left->bucket, TT_ONCPU);
	/* and no later one */
	swap(END + 30, 0, 502, 0, TID);
	assert_int_equal(slept->bucket, TT_OFF_OTHER);
	assert_int_equal(sum(slept) + sum(ran) + sum(waited) + sum(left), 0);
}

static void test_events_lost_after_the_window_leave_it_open(void **state)
{
	struct tt_thread *t = seed(TID), *seen = seed(OTHER);

	(void)state;
	swap(2000, 0, OTHER, 1, 0);
	lost(END + 100, END + 200, 0, 3);
	swap(END + 300, 0, 0, 0, TID);
	assert_int_equal(t->bucket, TT_UNKNOWN);
	assert_true(t->flags & TT_FLAG_OUTLIVED);
	assert_int_equal(seen->bucket, TT_OFF_OTHER);
	assert_int_equal(perf_account_losses()->events, 0);
}

/* Alone on a CPU that was read all the time, it need not switch for long. */
static void test_loss_of_another_cpu_leaves_a_running_thread_certain(void **state)
{
	struct tt_thread *here = seed(TID), *there = seed(OTHER);

	(void)state;
	swap(2000, 1, 0, 0, TID);
	swap(2000, 2, 0, 0, OTHER);
	lost(3000, 4000, 2, 7);
	swap(9000, 1, TID, 1, 0);
	swap(9000, 2, OTHER, 1, 0);
	assert_int_equal(here->ns[TT_ONCPU], 7000);
	assert_int_equal(here->ns[TT_UNKNOWN], 0);
	assert_int_equal(there->ns[TT_ONCPU], 1000);
	assert_int_equal(there->ns[TT_UNKNOWN], 6000);
}

static void test_events_in_the_middle_of_a_loss_tell_only_a_moment(void **state)
{
	struct tt_thread *t = seed(TID);

	(void)state;
	swap(2000, 0, OTHER, 1, TID);
	lost(10000, 20000, 0, 1);
	swap(12000, 0, TID, 1, 0);
	wakeup(14000, 0, TID);
	swap(16000, 0, 0, 0, TID);
	swap(26000, 0, TID, 1, 0);
	/* 10000 to 26000: each of these events may have been followed by a lost one */
	assert_int_equal(t->ns[TT_UNKNOWN], 16000);
	assert_int_equal(t->ns[TT_ONCPU], 8000);
	assert_int_equal(t->ns[TT_OFF_OTHER], 0);
	assert_int_equal(sum(t), 25000);
	assert_int_equal(t->runq_count, 0);
}

static void test_open_loss_ends_when_the_rings_have_been_read(void **state)
{
	struct tt_thread *t = seed(TID);

	(void)state;
	swap(2000, 0, OTHER, 1, TID);
	lost(10000, UINT64_MAX, 0, 0);
	perf_account_found(15000);
	swap(16000, 0, TID, 1, 0);
	wakeup(26000, 0, TID);
	assert_int_equal(t->ns[TT_UNKNOWN], 6000);
	assert_int_equal(t->ns[TT_OFF_OTHER], 10000);
}

static void test_loss_before_the_window_is_none_of_its(void **state)
{
	struct tt_thread *t = seed(TID);

	(void)state;
	lost(100, 900, 0, 5);
	swap(3000, 0, TID, 1, 0);
	assert_int_equal(perf_account_losses()->events, 0);
	assert_int_equal(t->ns[TT_UNKNOWN], 0);
	assert_int_equal(t->ns[TT_ONCPU], 2000);
}

static void test_thread_without_events_stays_undecided_through_a_loss(void **state)
{
	struct tt_thread *t = seed(TID);

	(void)state;
	lost(10000, 20000, 0, 5);
	assert_int_equal(t->bucket, TT_UNKNOWN);
	assert_int_equal(t->t_last_ns, 0);
	assert_true(t->flags & TT_FLAG_LOST);
	assert_int_equal(sum(t), 0);
}

static void test_birth_in_a_loss_keeps_the_identity(void **state)
{
	struct tt_thread *t;
	struct trace_event birth = {
		.time_ns = 5000, .kind = EVENT_NEWTASK, .current = TID, .tid = OTHER};
	struct trace_event first = {.time_ns = 9000, .kind = EVENT_WAKEUP_NEW, .tid = OTHER};

	(void)state;
	seed(TID);
	birth.clone_flags = 0x10000;
	perf_account_event(&birth);
	t = &records->threads[*records_slot_ref(records, OTHER)];
	lost(6000, 8000, 0, 1);
	perf_account_event(&first);
	swap(9500, 0, 0, 0, OTHER);
	assert_int_equal(t->t_last_ns - t->t_birth_ns, sum(t));
	assert_int_equal(t->bucket, TT_ONCPU);
}

static void test_dead_state_of_before_4_14(void **state)
{
	struct tt_thread *t = seed(OTHER);
	struct trace_event leaves = {.time_ns = 2500,
				     .kind = EVENT_EXIT,
				     .tid = OTHER,
				     .current = OTHER,
				     .comm = "short"};

	(void)state;
	perf_account_event(&leaves);
	swap(3000, 0, OTHER, 0x40, 0);
	assert_int_equal(t->bucket, TT_DEAD);
	assert_int_equal(t->t_death_ns, 3000);
	assert_string_equal(t->comm, "short");
	assert_int_equal(*records_slot_ref(records, OTHER), 0);
}

static void test_stack_belongs_to_the_switch_of_the_same_moment(void **state)
{
	const __u64 frames[] = {0xffffffff81000010, 0xffffffff81000020};
	struct tt_thread *t = seed(TID);
	struct trace_event stack = {
		.time_ns = 2990, .kind = EVENT_STACK, .tid = TID, .frames = frames, .nframes = 2};

	(void)state;
	perf_account_event(&stack);
	swap(3000, 0, TID, 1, 0);
	assert_int_not_equal(t->site_kernel_stack, 0);
	assert_int_equal(t->site_user_stack, 0);
	/* The walk was no time of the thread. */
	assert_int_equal(t->t_last_ns, 2990);
	assert_non_null(hash_table_find(records->stacks, &t->site_kernel_stack));
}

static void sleep_with_stack(struct tt_thread *t, __u64 now, const __u64 *frames, __u32 state)
{
	struct trace_event stack = {
		.time_ns = now, .kind = EVENT_STACK, .tid = t->tid, .frames = frames, .nframes = 4};

	perf_account_event(&stack);
	swap(now, 0, t->tid, state, 0);
}

static void test_frozen_by_its_stack(void **state)
{
	static const struct {
		__u64 frames[4];
		bool frozen;
	} cases[] = {
		{{0x9000, 0x4020, 0x1020, 0x2020}, true},
		{{0x9000, 0x4020, 0x2020, 0x9000}, true}, /* inlined into get_signal() */
		{{0x4020, 0x3020, 0x9000, 0x9000}, true},
		{{0x4100, 0x3100, 0x9000, 0x9000}, true},  /* the last instructions are the calls */
		{{0x4000, 0x3020, 0x9000, 0x9000}, false}, /* the next function's first: no call */
		{{0x4020, 0x9000, 0x2020, 0x9000}, false}, /* ends, and waits for another */
		{{0x4020, 0x9000, 0x9000, 0x9000}, false},
	};
	struct tt_thread *t = seed(TID);
	__u64 now = BEGIN, stopped = 0, slept = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sleep_with_stack(t, now + 100, cases[i].frames, 1 + i % 2);
		waking(now + 800, 0, OTHER, TID, 0);
		wakeup(now + 800, 0, TID);
		swap(now + 1000, 0, 0, 0, TID);
		*(cases[i].frozen ? &stopped : &slept) += 700;
		now += 1000;
		assert_int_equal(t->ns[TT_STOPPED], stopped);
		assert_int_equal(t->ns[TT_OFF_OTHER], slept);
	}
}

/* As that of a preempted one, but for the wakeup. */
static void test_frozen_in_a_state_that_no_record_tells(void **state)
{
	struct tt_thread *t = seed(TID);

	(void)state;
	swap(2000, 0, TID, 0, 0);
	swap(3000, 0, 0, 0, TID);
	assert_int_equal(t->ns[TT_RUNQ_PREEMPT], 1000);
	swap(4000, 0, TID, 0, 0);
	waking(9000, 0, OTHER, TID, 0);
	wakeup(9000, 0, TID);
	swap(9500, 0, 0, 0, TID);
	assert_int_equal(t->ns[TT_STOPPED], 5000);
	assert_int_equal(t->ns[TT_RUNQ_PREEMPT], 1000);
	assert_int_equal(t->ns[TT_RUNQ_WAKE], 500);
	assert_int_equal(t->spurious_wakes, 0);
	assert_int_equal(t->switches_voluntary, 1);
	assert_int_equal(t->switches_involuntary, 1);
	/* "R+": preempted as it went to sleep, and woken before it could */
	swap(10000, 0, TID, 0x100, 0);
	wakeup(10500, 0, TID);
	swap(11000, 0, 0, 0, TID);
	assert_int_equal(t->ns[TT_STOPPED], 5000);
	assert_int_equal(t->ns[TT_RUNQ_PREEMPT], 2000);
	assert_int_equal(t->spurious_wakes, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_one_sleep_by_hand),
		TEST(test_interrupt_without_event_is_not_the_task_below_it),
		TEST(test_interrupt_is_told_by_its_number),
		TEST(test_missed_switch_in_is_placed_by_the_cpus_last_switch),
		TEST(test_time_after_a_loss_is_unknown_until_the_next_event),
		TEST(test_an_exit_after_the_window_keeps_what_was_held),
		TEST(test_an_exit_in_the_window_does_not_outlive_it),
		TEST(test_the_first_event_after_the_window_tells_all_of_it),
		TEST(test_events_lost_after_the_window_leave_it_open),
		TEST(test_loss_of_another_cpu_leaves_a_running_thread_certain),
		TEST(test_events_in_the_middle_of_a_loss_tell_only_a_moment),
		TEST(test_open_loss_ends_when_the_rings_have_been_read),
		TEST(test_loss_before_the_window_is_none_of_its),
		TEST(test_thread_without_events_stays_undecided_through_a_loss),
		TEST(test_birth_in_a_loss_keeps_the_identity),
		TEST(test_dead_state_of_before_4_14),
		TEST(test_stack_belongs_to_the_switch_of_the_same_moment),
		TEST(test_frozen_by_its_stack),
		TEST(test_frozen_in_a_state_that_no_record_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
