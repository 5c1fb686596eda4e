/* SPDX-License-Identifier: GPL-2.0-only */
/* What the state machine tells of a sleep that ends: its length, its waker, what that passes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/types.h>
#include <string.h>

#include "futex.h"
#include "thread_state.h"

#define BEGIN 1000
#define IRQ   TT_WAKER(TT_WAKER_IRQ, 37)
#define TASK  TT_WAKER(TT_WAKER_TASK, 4242)
#define DISK  TT_WAKER(TT_WAKER_DISK, 0)

static struct tt_thread asleep_since(__u64 at, enum tt_switch_out how)
{
	struct tt_thread t = {.tid = 7, .tgid = 7};

	tt_switch_out(&t, at, BEGIN, how, TT_RAN_UNKNOWN, 0);
	return t;
}

static struct tt_wake wake(struct tt_thread *t, __u64 at, __u32 waker)
{
	tt_waking(t, waker);
	return tt_wakeup(t, at, BEGIN, TT_RAN_UNKNOWN);
}

static void a_wake_tells_length_waker_and_kind(void **state)
{
	struct tt_thread t = asleep_since(1100, TT_OUT_SLEEP);
	struct tt_wake w = wake(&t, 1400, IRQ);

	(void)state;
	assert_int_equal(w.slept_ns, 300);
	assert_int_equal(w.bucket, TT_OFF_OTHER);
	assert_int_equal(w.waker, IRQ);
	assert_false(w.first);
	assert_int_equal(t.woken_ns, 1400);
	t = asleep_since(1100, TT_OUT_DISK);
	assert_int_equal(wake(&t, 1200, IRQ).bucket, TT_OFF_DISK);
}

static void only_a_sleep_that_ends_is_told(void **state)
{
	struct tt_thread t = asleep_since(1100, TT_OUT_RUNNABLE);

	(void)state;
	assert_int_equal(wake(&t, 1200, TASK).bucket, 0); /* queued: spurious */
	assert_int_equal(t.woken_ns, 0);
	t = asleep_since(1100, TT_OUT_STOPPED);
	assert_int_equal(wake(&t, 1200, TASK).bucket, 0); /* stopped is no wait */
	t = asleep_since(1100, TT_OUT_DEAD);
	assert_int_equal(wake(&t, 1200, TASK).bucket, 0);
}

static void asleep_since_the_begin_is_marked(void **state)
{
	struct tt_thread t = {.tid = 7};
	struct tt_wake w = wake(&t, 1500, TASK);

	(void)state;
	assert_int_equal(w.slept_ns, 500);
	assert_true(w.first);
}

static void a_waker_not_seen_is_not_tid_zero(void **state)
{
	struct tt_thread t = asleep_since(1100, TT_OUT_SLEEP);
	struct tt_wake w = tt_wakeup(&t, 1200, BEGIN, TT_RAN_UNKNOWN);

	(void)state;
	assert_int_equal(w.waker, TT_WAKER(TT_WAKER_UNSEEN, 0));
	assert_int_not_equal(w.waker, TT_WAKER(TT_WAKER_TASK, 0));
	assert_int_equal(t.gap_waker, 1);
}

static void a_missed_switch_out_leaves_the_rest_as_sleep(void **state)
{
	struct tt_thread t = {.tid = 7};
	struct tt_wake w;

	(void)state;
	tt_switch_in(&t, 1100, BEGIN);
	tt_waking(&t, TASK);
	w = tt_wakeup(&t, 1500, BEGIN, 150); /* ran 150 of the 400 */
	assert_int_equal(w.slept_ns, 250);
	assert_int_equal(w.bucket, TT_OFF_OTHER);
}

static void a_missed_wakeup_ends_the_sleep_at_the_switch_in(void **state)
{
	struct tt_thread t = asleep_since(1100, TT_OUT_DISK);
	struct tt_in in = tt_switch_in(&t, 1400, BEGIN);

	(void)state;
	assert_int_equal(in.slept_ns, 300);
	assert_int_equal(in.bucket, TT_OFF_DISK);
	assert_int_equal(in.delay_ns, 0);
	tt_switch_out(&t, 1500, BEGIN, TT_OUT_RUNNABLE, TT_RAN_UNKNOWN, 0);
	in = tt_switch_in(&t, 1600, BEGIN);
	assert_int_equal(in.delay_ns, 100);
	assert_int_equal(in.bucket, 0);
}

static void a_cause_travels_one_hop_for_a_while(void **state)
{
	struct tt_thread relay = asleep_since(1100, TT_OUT_SLEEP);
	struct tt_wake w = wake(&relay, 2000, IRQ);

	(void)state;
	tt_set_cause(&relay, &w, false);
	assert_int_equal(tt_cause(&relay, 2000), IRQ);
	assert_int_equal(tt_cause(&relay, 2000 + TT_VIA_NS - 1), IRQ);
	assert_int_equal(tt_cause(&relay, 2000 + TT_VIA_NS), 0);
	/* woken by a traced thread it passes nothing on: no chain */
	tt_set_cause(&relay, &w, true);
	assert_int_equal(tt_cause(&relay, 2000), 0);
}

static void a_cause_does_not_age_in_the_run_queue(void **state)
{
	struct tt_thread relay = asleep_since(1100, TT_OUT_SLEEP);
	struct tt_wake w = wake(&relay, 2000, IRQ);
	const __u64 in = 2000 + 5 * TT_VIA_NS, out = in + 300, again = out + 7 * TT_VIA_NS;

	(void)state;
	tt_set_cause(&relay, &w, false);
	tt_switch_in(&relay, in, BEGIN);
	assert_int_equal(tt_cause(&relay, in + TT_VIA_NS - 1), IRQ);
	assert_int_equal(tt_cause(&relay, in + TT_VIA_NS), 0);
	tt_switch_out(&relay, out, BEGIN, TT_OUT_RUNNABLE, 300, 0);
	tt_switch_in(&relay, again, BEGIN);
	assert_int_equal(tt_cause(&relay, again + TT_VIA_NS - 301), IRQ);
	assert_int_equal(tt_cause(&relay, again + TT_VIA_NS - 300), 0);
}

static void a_disk_wait_is_the_cause_whoever_ended_it(void **state)
{
	struct tt_thread loader = asleep_since(1100, TT_OUT_DISK);
	struct tt_wake w = wake(&loader, 1500, TASK);

	(void)state;
	tt_set_cause(&loader, &w, true);
	assert_int_equal(tt_cause(&loader, 1600), DISK);
	loader = asleep_since(1100, TT_OUT_SLEEP);
	w = tt_wakeup(&loader, 1500, BEGIN, TT_RAN_UNKNOWN);
	tt_set_cause(&loader, &w, false);
	assert_int_equal(tt_cause(&loader, 1600), 0); /* its waker was not seen */
}

static void a_disk_wait_is_the_cause_though_its_end_was_missed(void **state)
{
	struct tt_thread loader = asleep_since(1100, TT_OUT_DISK);

	(void)state;
	tt_switch_in(&loader, 5 * TT_VIA_NS, BEGIN);
	assert_int_equal(tt_cause(&loader, 6 * TT_VIA_NS - 1), DISK);
	/* and no older cause is left where it slept for something else */
	tt_switch_out(&loader, 5 * TT_VIA_NS + 100, BEGIN, TT_OUT_SLEEP, 100, 0);
	tt_switch_in(&loader, 5 * TT_VIA_NS + 200, BEGIN);
	assert_int_equal(tt_cause(&loader, 5 * TT_VIA_NS + 300), 0);
}

static void long_sleepers_are_walked_and_of_others_one_in_32(void **state)
{
	struct tt_thread t = {.switches_voluntary = 1};
	int wanted = 0;

	(void)state;
	for (int i = 0; i < 320; i++, t.switches_voluntary++)
		wanted += tt_wants_stack(&t);
	assert_int_equal(wanted, 10);
	t.switches_voluntary = 1;
	tt_note_length(&t, TT_STACK_MIN_NS);
	for (int i = 0; i < 8; i++) {
		assert_true(tt_wants_stack(&t));
		tt_note_length(&t, TT_STACK_MIN_NS - 1);
	}
	assert_false(tt_wants_stack(&t));
	tt_note_length(&t, 0);
	assert_false(tt_wants_stack(&t));
	assert_int_equal(t.flags, 0);
}

/* Operations as strace prints them: FUTEX_WAIT_PRIVATE is 128, FUTEX_WAIT_BITSET_PRIVATE 137. */
static void a_lock_is_told_from_a_condition_variable(void **state)
{
	static const struct {
		__u32 op, value;
		__u16 flags;
	} calls[] = {
		{128, 2, TT_SITE_FUTEX_LOCK},
		{0, 2, TT_SITE_FUTEX_LOCK},
		{6 | 128, 0, TT_SITE_FUTEX_LOCK},	    /* FUTEX_LOCK_PI_PRIVATE */
		{13 | 128, 0, TT_SITE_FUTEX_LOCK},	    /* FUTEX_LOCK_PI2_PRIVATE */
		{0, 0x80000000 | 4711, TT_SITE_FUTEX_LOCK}, /* robust: held by 4711 */
		{0, 0x80000000, 0},			    /* by nobody */
		{128, 0xffffffff, 0},			    /* -1 */
		{128, 0, 0},				    /* semaphore of old, barrier */
		{128, 1, 0},
		{137, 2, TT_SITE_FUTEX_MAYBE}, /* to write, behind readers */
		{137, 3, TT_SITE_FUTEX_MAYBE}, /* to read, behind a writer */
		{137 | 256, 3, TT_SITE_FUTEX_MAYBE},
		{137 | 256, 0, 0}, /* condition variable, with CLOCK_REALTIME */
		{137, 1, 0},	   /* counter */
		{137, 4, 0},
		{129, 2, 0}, /* FUTEX_WAKE_PRIVATE */
		{139, 2, 0}, /* FUTEX_WAIT_REQUEUE_PI_PRIVATE */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		assert_int_equal(tt_futex_flags(calls[i].op, calls[i].value), calls[i].flags);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wake_tells_length_waker_and_kind),
		cmocka_unit_test(only_a_sleep_that_ends_is_told),
		cmocka_unit_test(asleep_since_the_begin_is_marked),
		cmocka_unit_test(a_waker_not_seen_is_not_tid_zero),
		cmocka_unit_test(a_missed_switch_out_leaves_the_rest_as_sleep),
		cmocka_unit_test(a_missed_wakeup_ends_the_sleep_at_the_switch_in),
		cmocka_unit_test(a_cause_travels_one_hop_for_a_while),
		cmocka_unit_test(a_cause_does_not_age_in_the_run_queue),
		cmocka_unit_test(a_disk_wait_is_the_cause_whoever_ended_it),
		cmocka_unit_test(a_disk_wait_is_the_cause_though_its_end_was_missed),
		cmocka_unit_test(long_sleepers_are_walked_and_of_others_one_in_32),
		cmocka_unit_test(a_lock_is_told_from_a_condition_variable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
