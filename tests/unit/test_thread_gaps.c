/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events that are missing, doubled or late, against a thread whose true life is known: it is made
 * up here, with sums of its own, and only its events are given to the state machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/types.h>
#include <stdbool.h>
#include <string.h>

#include "thread_state.h"

#define BEGIN 1000000
#define NEVER 0

static __u64 random_state;

static __u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static bool one_in(__u32 n)
{
	return n && random_u64() % n == 0;
}

/* Mostly microseconds, now and then minutes, sometimes nothing. */
static __u64 random_length(void)
{
	return random_u64() >> (28 + random_u64() % 36);
}

static __u64 sum_of(const __u64 ns[TT_BUCKET_SLOTS])
{
	__u64 sum = 0;

	for (int i = 0; i < TT_BUCKET_SLOTS; i++)
		sum += ns[i];
	return sum;
}

static __u32 naive_log2(__u64 v)
{
	__u32 n = 0;

	while (v > 1) {
		v /= 2;
		n++;
	}
	return n;
}

static void log2_of_powers_and_their_neighbours(void **state)
{
	(void)state;
	assert_int_equal(tt_log2(0), 0);
	for (int bit = 0; bit < 64; bit++) {
		__u64 power = 1ULL << bit;

		assert_int_equal(tt_log2(power), bit);
		for (__u64 v = power - 1; v != power + 2; v++)
			assert_int_equal(tt_log2(v), naive_log2(v));
	}
	assert_int_equal(tt_log2(~0ULL), 63);
}

static void delays_fall_into_their_buckets(void **state)
{
	static const struct {
		__u64 delay_ns;
		int bucket;
	} cases[] = {
		{0, 0},
		{511, 0},
		{512, 1},
		{1023, 1},
		{1024, 2},
		{2047, 2},
		{2048, 3},
		{1000000, 11},	      /* 524288 to 1048575 */
		{17179869183ULL, 25}, /* 2^34 - 1 */
		{17179869184ULL, 26}, /* 2^34 */
		{34359738367ULL, 26}, /* 2^35 - 1 */
		{34359738368ULL, 27}, /* 2^35: the last bucket, open */
		{1ULL << 62, 27},
	};
	const int n = sizeof(cases) / sizeof(cases[0]);
	struct tt_thread t = {0};
	__u64 now = BEGIN, longest = 0;
	__u32 want[TT_HIST_BUCKETS] = {0};

	(void)state;
	for (int i = 0; i < n; i++) {
		tt_switch_out(&t, now, BEGIN, i % 2 ? TT_OUT_RUNNABLE : TT_OUT_SLEEP,
			      TT_RAN_UNKNOWN, 0);
		if (!(i % 2))
			tt_wakeup(&t, now, BEGIN, TT_RAN_UNKNOWN);
		now += cases[i].delay_ns;
		tt_switch_in(&t, now, BEGIN);
		want[cases[i].bucket]++;
		longest = cases[i].delay_ns > longest ? cases[i].delay_ns : longest;
		assert_memory_equal(t.runq_hist, want, sizeof(want));
		assert_int_equal(t.runq_count, i + 1);
		assert_int_equal(t.runq_max_ns, longest);
	}
}

/* Preempted at 100 after begin, in again at a moment that was missed, out again at 500. */
static void a_missed_switch_in_is_split(void **state)
{
	static const struct {
		__u64 ran_ns, cpu_free_ns;
		__u64 preempt, oncpu, unknown;
	} cases[] = {
		{0, NEVER, 400, 100, 0},
		{1, NEVER, 399, 101, 0},
		{399, NEVER, 1, 499, 0},
		{400, NEVER, 0, 500, 0},
		/* longer than the time in which it began: not of this slice */
		{401, NEVER, 0, 100, 400},
		{BEGIN + 500, NEVER, 0, 100, 400},
		{BEGIN + 501, BEGIN + 300, 200, 100, 200},
		{TT_RAN_NOT_TOLD, NEVER, 0, 100, 400},
		{TT_RAN_NOT_TOLD, BEGIN + 300, 200, 100, 200},
		{TT_RAN_UNKNOWN, NEVER, 0, 100, 400},
		{TT_RAN_UNKNOWN, BEGIN + 50, 0, 100, 400},
		{TT_RAN_UNKNOWN, BEGIN + 100, 0, 100, 400},
		{TT_RAN_UNKNOWN, BEGIN + 300, 200, 100, 200},
		{TT_RAN_UNKNOWN, BEGIN + 500, 400, 100, 0},
		{TT_RAN_UNKNOWN, BEGIN + 600, 400, 100, 0},
		{120, BEGIN + 300, 280, 220, 0}, /* a known slice needs no bound */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tt_thread t = {0};

		tt_switch_out(&t, BEGIN + 100, BEGIN, TT_OUT_RUNNABLE, TT_RAN_UNKNOWN, 0);
		tt_switch_out(&t, BEGIN + 500, BEGIN, TT_OUT_SLEEP, cases[i].ran_ns,
			      cases[i].cpu_free_ns);
		assert_int_equal(t.ns[TT_RUNQ_PREEMPT], cases[i].preempt);
		assert_int_equal(t.ns[TT_ONCPU], cases[i].oncpu);
		assert_int_equal(t.ns[TT_UNKNOWN], cases[i].unknown);
		assert_int_equal(sum_of(t.ns), 500);
		assert_int_equal(t.bucket, TT_OFF_OTHER);
		assert_int_equal(t.t_last_ns, BEGIN + 500);
		assert_int_equal(t.gap_switch_out, 1);
		assert_int_equal(t.runq_count, 0);
	}
}

/* In at 100 after begin, asleep at a moment that was missed, woken at 500. */
static void a_missed_switch_out_is_split(void **state)
{
	static const struct {
		__u64 ran_ns, oncpu, off, unknown;
	} cases[] = {
		{0, 0, 400, 0},		 {1, 1, 399, 0},
		{150, 150, 250, 0},	 {399, 399, 1, 0},
		{400, 400, 0, 0},	 {401, 0, 0, 400},
		{1ULL << 40, 0, 0, 400}, {TT_RAN_NOT_TOLD, 0, 0, 400},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tt_thread t = {0};

		tt_switch_in(&t, BEGIN + 100, BEGIN);
		tt_wakeup(&t, BEGIN + 500, BEGIN, cases[i].ran_ns);
		assert_int_equal(t.ns[TT_ONCPU], cases[i].oncpu);
		assert_int_equal(t.ns[TT_OFF_OTHER], cases[i].off);
		/* and what it did before it came in */
		assert_int_equal(t.ns[TT_RUNQ_PREEMPT], 100);
		assert_int_equal(t.ns[TT_UNKNOWN], cases[i].unknown);
		assert_int_equal(sum_of(t.ns), 500);
		assert_int_equal(t.bucket, TT_RUNQ_WAKE);
		assert_int_equal(t.t_last_ns, BEGIN + 500);
		assert_int_equal(t.gap_switch_in, 1);
		assert_int_equal(t.spurious_wakes, 0);
		assert_int_equal(t.wakes, 1);
	}
}

/* A clock that is slewed makes 1024 us of 1025, and no more. */
static void clocks_may_differ_a_little(void **state)
{
	(void)state;
	assert_true(tt_fits(1025000, 1024000));
	assert_false(tt_fits(1025001, 1024000));
	assert_true(tt_fits(0, 0));
	assert_false(tt_fits(1, 0));
	assert_false(tt_fits(TT_RAN_UNKNOWN, TT_RAN_UNKNOWN >> 1));
}

/* What is lost, as 1 in n; 0 = never. */
struct losses {
	__u32 in, out, wake;
	bool ran_known;
};

struct life {
	struct tt_thread t;
	const struct losses *losses;
	enum tt_bucket truth;
	__u64 now, slice_start, queued_at;
	__u64 ns[TT_BUCKET_SLOTS];
	__u32 hist[TT_HIST_BUCKETS];
	__u32 lost_in, lost_out, lost_wake, events;
	bool in_seen;
};

static void live_in(struct life *life)
{
	__u64 delay = life->now - life->queued_at;
	__u32 bucket = naive_log2(delay / 256);

	life->truth = TT_ONCPU;
	life->slice_start = life->now;
	life->in_seen = !(life->events && one_in(life->losses->in));
	if (!life->in_seen) {
		life->lost_in++;
		return;
	}
	if (life->events)
		life->hist[bucket < TT_HIST_BUCKETS ? bucket : TT_HIST_BUCKETS - 1]++;
	tt_switch_in(&life->t, life->now, BEGIN);
}

static void live_out(struct life *life)
{
	static const enum tt_bucket after[] = {TT_RUNQ_PREEMPT, TT_OFF_OTHER, TT_OFF_DISK,
					       TT_STOPPED};
	enum tt_switch_out how = (enum tt_switch_out)(random_u64() % 4);
	__u64 free_ns = life->queued_at;

	life->truth = after[how];
	life->queued_at = life->now;
	/* Two events in a row and a class that only this one tells cannot be made good. */
	if (life->events && life->in_seen && how == TT_OUT_SLEEP && one_in(life->losses->out)) {
		life->lost_out++;
		return;
	}
	/* Another task was seen on this CPU some time before the slice began. */
	free_ns += (life->slice_start - free_ns) / (1 + random_u64() % 4);
	tt_switch_out(&life->t, life->now, BEGIN, how,
		      life->losses->ran_known ? life->now - life->slice_start : TT_RAN_UNKNOWN,
		      free_ns);
}

static void live_wake(struct life *life)
{
	bool out_missed = life->t.bucket == TT_ONCPU;

	life->truth = TT_RUNQ_WAKE;
	tt_waking(&life->t, (__u32)(random_u64() % 4194304));
	if (life->events && !out_missed && one_in(life->losses->wake)) {
		life->lost_wake++;
		life->queued_at = life->now;
		return;
	}
	tt_wakeup(&life->t, life->now, BEGIN,
		  out_missed ? life->queued_at - life->slice_start : TT_RAN_UNKNOWN);
	life->queued_at = life->now;
}

static void live(struct life *life, const struct losses *losses, int events)
{
	static const enum tt_bucket first[] = {TT_ONCPU, TT_RUNQ_PREEMPT, TT_OFF_OTHER};

	*life = (struct life){
		.losses = losses, .now = BEGIN, .slice_start = BEGIN, .queued_at = BEGIN};
	life->truth = first[random_u64() % 3];
	life->in_seen = true;
	for (int i = 0; i < events; i++) {
		__u64 length = random_length();

		life->now += length;
		life->ns[life->truth] += length;
		if (life->truth == TT_ONCPU)
			live_out(life);
		else if (life->truth == TT_RUNQ_WAKE || life->truth == TT_RUNQ_PREEMPT)
			live_in(life);
		else
			live_wake(life);
		life->events++;
	}
	/* What a loss left open ends with an event that is seen. */
	if (life->truth == TT_ONCPU)
		tt_switch_out(&life->t, life->now, BEGIN, TT_OUT_RUNNABLE,
			      losses->ran_known ? life->now - life->slice_start : TT_RAN_UNKNOWN,
			      life->slice_start);
	else if (life->t.bucket == TT_ONCPU)
		live_wake(life);
	assert_int_equal(sum_of(life->ns), life->now - BEGIN);
	assert_int_equal(sum_of(life->t.ns), life->t.t_last_ns - BEGIN);
	assert_int_equal(life->t.ns[TT_DEAD], 0);
	assert_int_equal(life->t.clamped, 0);
}

#define LIVES  200
#define EVENTS 5001

static void every_event_seen_gives_the_true_sums(void **state)
{
	static const struct losses none = {0};
	struct life life;

	(void)state;
	random_state = 88172645463325252ULL;
	for (int i = 0; i < LIVES; i++) {
		live(&life, &none, EVENTS);
		assert_int_equal(life.t.t_last_ns, life.now);
		assert_memory_equal(life.t.ns, life.ns, sizeof(life.ns));
		assert_memory_equal(life.t.runq_hist, life.hist, sizeof(life.hist));
		assert_int_equal(life.t.gap_switch_in + life.t.gap_switch_out, 0);
		assert_int_equal(life.t.gap_waker + life.t.spurious_wakes, 0);
	}
}

static void lost_switches_are_repaired_from_the_slice(void **state)
{
	static const struct losses lossy = {.in = 4, .out = 4, .ran_known = true};
	struct life life;

	(void)state;
	random_state = 2463534242ULL;
	for (int i = 0; i < LIVES; i++) {
		live(&life, &lossy, EVENTS);
		assert_in_range(life.lost_in, 200, 800);
		assert_in_range(life.lost_out, 30, 400);
		assert_memory_equal(life.t.ns, life.ns, sizeof(life.ns));
		assert_memory_equal(life.t.runq_hist, life.hist, sizeof(life.hist));
		assert_int_equal(life.t.gap_switch_out, life.lost_in);
		assert_int_equal(life.t.gap_switch_in, life.lost_out);
		assert_int_equal(life.t.spurious_wakes, 0);
	}
}

/* Without the slice the machine may say "unknown", but never more than the truth. */
static void an_unknown_slice_is_never_guessed(void **state)
{
	static const struct losses lossy = {.in = 4};
	struct life life;

	(void)state;
	random_state = 362436069ULL;
	for (int i = 0; i < LIVES; i++) {
		live(&life, &lossy, EVENTS);
		assert_true(life.t.ns[TT_ONCPU] <= life.ns[TT_ONCPU]);
		assert_true(life.t.ns[TT_RUNQ_WAKE] <= life.ns[TT_RUNQ_WAKE]);
		assert_true(life.t.ns[TT_RUNQ_PREEMPT] <= life.ns[TT_RUNQ_PREEMPT]);
		assert_int_equal(life.t.ns[TT_OFF_OTHER], life.ns[TT_OFF_OTHER]);
		assert_int_equal(life.t.ns[TT_OFF_DISK], life.ns[TT_OFF_DISK]);
		assert_int_equal(life.t.ns[TT_STOPPED], life.ns[TT_STOPPED]);
		assert_int_equal(life.t.gap_switch_out, life.lost_in);
		assert_true(life.t.ns[TT_UNKNOWN] > 0);
	}
}

static void a_lost_wakeup_leaves_on_cpu_time_exact(void **state)
{
	static const struct losses lossy = {.wake = 4};
	struct life life;

	(void)state;
	random_state = 521288629ULL;
	for (int i = 0; i < LIVES; i++) {
		live(&life, &lossy, EVENTS);
		assert_int_equal(life.t.ns[TT_ONCPU], life.ns[TT_ONCPU]);
		assert_int_equal(life.t.ns[TT_RUNQ_PREEMPT], life.ns[TT_RUNQ_PREEMPT]);
		assert_true(life.t.ns[TT_RUNQ_WAKE] < life.ns[TT_RUNQ_WAKE]);
		assert_int_equal(life.t.ns[TT_UNKNOWN], 0);
		assert_true(life.lost_wake - life.t.gap_switch_in <= 1); /* one may be open */
	}
}

/* Any event at any time with any numbers. */
static void throw_event(struct tt_thread *t, __u64 now)
{
	static const enum tt_switch_out ways[] = {TT_OUT_RUNNABLE, TT_OUT_SLEEP, TT_OUT_DISK,
						  TT_OUT_STOPPED, TT_OUT_UNTOLD};
	__u64 ran = one_in(2) ? TT_RAN_UNKNOWN : random_u64() >> (random_u64() % 64);
	__u64 free_ns = one_in(2) ? now - random_length() : random_u64();

	switch (random_u64() % 16) {
	case 0 ... 4:
		tt_switch_out(t, now, BEGIN, ways[random_u64() % 5], ran, free_ns);
		break;
	case 5 ... 8:
		tt_switch_in(t, now, BEGIN);
		break;
	case 9 ... 10:
		tt_waking(t, (__u32)(random_u64() % 4194304));
		break;
	case 11 ... 14:
		tt_wakeup(t, now, BEGIN, ran);
		break;
	default:
		if (one_in(400))
			tt_switch_out(t, now, BEGIN, TT_OUT_DEAD, ran, free_ns);
		else if (one_in(400))
			tt_close(t, now, BEGIN, TT_FLAG_REUSED);
		else
			tt_wakeup_new(t, now);
	}
}

static void no_sequence_breaks_the_identity(void **state)
{
	struct tt_thread t = {0};
	__u64 now = BEGIN;
	int deaths = 0;

	(void)state;
	random_state = 123456789ULL;
	for (int i = 0; i < 1500000; i++) {
		bool begins = t.bucket == TT_UNKNOWN;
		__u64 last = t.t_last_ns, at;

		now += random_length() % 100000;
		at = one_in(8) ? now - random_u64() % 300000 : now;
		throw_event(&t, at);
		assert_int_equal(t.ns[TT_DEAD], 0);
		assert_true(t.bucket < TT_BUCKETS);
		/* A first wakeup sets where an empty account starts; nothing else goes back. */
		if (!begins)
			assert_true(t.t_last_ns >= last);
		if (t.t_last_ns)
			assert_int_equal(sum_of(t.ns),
					 t.t_last_ns - (t.t_birth_ns ? t.t_birth_ns : BEGIN));
		else
			assert_int_equal(sum_of(t.ns), 0);
		if (t.bucket != TT_DEAD) {
			assert_int_equal(t.t_death_ns, 0);
		} else if (one_in(20)) {
			assert_int_equal(t.t_death_ns, t.t_last_ns);
			deaths++;
			memset(&t, 0, sizeof(t));
			if (one_in(2))
				tt_birth(&t, 5, 5, now);
		}
	}
	assert_true(deaths > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(log2_of_powers_and_their_neighbours),
		cmocka_unit_test(delays_fall_into_their_buckets),
		cmocka_unit_test(a_missed_switch_in_is_split),
		cmocka_unit_test(clocks_may_differ_a_little),
		cmocka_unit_test(a_missed_switch_out_is_split),
		cmocka_unit_test(every_event_seen_gives_the_true_sums),
		cmocka_unit_test(lost_switches_are_repaired_from_the_slice),
		cmocka_unit_test(an_unknown_slice_is_never_guessed),
		cmocka_unit_test(a_lost_wakeup_leaves_on_cpu_time_exact),
		cmocka_unit_test(no_sequence_breaks_the_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
