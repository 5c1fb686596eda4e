/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Written-out event sequences against whole records worked by hand: what a scenario does not name
 * must be 0. The window begins at 1000 ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/types.h>
#include <string.h>

#include "thread_state.h"

#define BEGIN	  1000
#define STEPS_MAX 12
#define TID	  77
#define TGID	  70

enum event { END, EV_OUT, EV_IN, EV_WAKING, EV_WAKE, EV_NEW, EV_BIRTH, EV_CLOSE };

struct step {
	enum event event;
	__u64 at;
	__u32 arg; /* way of going out, waker, flag */
	__u64 ran_ns, cpu_free_ns;
};

#define OUT(at, how)                                        \
	{                                                   \
		EV_OUT, at, TT_OUT_##how, TT_RAN_UNKNOWN, 0 \
	}
#define OUT_RAN(at, how, ran)                    \
	{                                        \
		EV_OUT, at, TT_OUT_##how, ran, 0 \
	}
#define OUT_FREE(at, how, free)                                \
	{                                                      \
		EV_OUT, at, TT_OUT_##how, TT_RAN_UNKNOWN, free \
	}
#define IN(at)                     \
	{                          \
		EV_IN, at, 0, 0, 0 \
	}
#define WAKING(tid)                     \
	{                               \
		EV_WAKING, 0, tid, 0, 0 \
	}
#define WAKE(at)                                  \
	{                                         \
		EV_WAKE, at, 0, TT_RAN_UNKNOWN, 0 \
	}
#define WAKE_RAN(at, ran)              \
	{                              \
		EV_WAKE, at, 0, ran, 0 \
	}
#define NEW(at)                     \
	{                           \
		EV_NEW, at, 0, 0, 0 \
	}
#define BIRTH(at)                     \
	{                             \
		EV_BIRTH, at, 0, 0, 0 \
	}
#define CLOSE(at, flag)                            \
	{                                          \
		EV_CLOSE, at, TT_FLAG_##flag, 0, 0 \
	}

/* n run-queue delays, all below 512 ns */
#define DELAYS(n, max) .runq_count = (n), .runq_max_ns = (max), .runq_hist = {(n)}
#define BORN_AT(at)    .tid = TID, .tgid = TGID, .flags = TT_FLAG_BORN, .t_birth_ns = (at)

struct scenario {
	const char *name;
	struct step steps[STEPS_MAX];
	struct tt_thread want;
};

static const struct scenario scenarios[] = {
	{"wake, run, sleep",
	 {OUT(1100, SLEEP), WAKING(42), WAKE(1300), IN(1350), OUT(1600, DISK), WAKING(43),
	  WAKE(1900), IN(1910)},
	 {.bucket = TT_ONCPU,
	  .t_last_ns = 1910,
	  .ns = {[TT_ONCPU] = 350, [TT_RUNQ_WAKE] = 60, [TT_OFF_OTHER] = 200, [TT_OFF_DISK] = 300},
	  .switches_voluntary = 2,
	  .wakes = 2,
	  .last_waker = 43,
	  DELAYS(2, 50)}},
	{"preempted twice",
	 {OUT(1100, RUNNABLE), IN(1400), OUT(1450, RUNNABLE), IN(1500)},
	 {.bucket = TT_ONCPU,
	  .t_last_ns = 1500,
	  .ns = {[TT_ONCPU] = 150, [TT_RUNQ_PREEMPT] = 350},
	  .switches_involuntary = 2,
	  DELAYS(2, 300)}},
	{"a wake is pending from waking to wakeup",
	 {OUT(1100, SLEEP), WAKING(42)},
	 {.bucket = TT_OFF_OTHER,
	  .t_last_ns = 1100,
	  .ns = {[TT_ONCPU] = 100},
	  .switches_voluntary = 1,
	  .pend = TT_PEND | 42}},
	{"waking before the sleeper's own switch keeps the waker",
	 {OUT(1100, SLEEP), WAKING(7), WAKE(1150), IN(1160), WAKING(9), OUT(1210, SLEEP),
	  WAKE(1215), IN(1230)},
	 {.bucket = TT_ONCPU,
	  .t_last_ns = 1230,
	  .ns = {[TT_ONCPU] = 150, [TT_RUNQ_WAKE] = 25, [TT_OFF_OTHER] = 55},
	  .switches_voluntary = 2,
	  .wakes = 2,
	  .last_waker = 9,
	  DELAYS(2, 15)}},
	{"an interrupt over the idle task is a waker",
	 {OUT(1100, SLEEP), WAKING(0), WAKE(1200)},
	 {.bucket = TT_RUNQ_WAKE,
	  .t_last_ns = 1200,
	  .ns = {[TT_ONCPU] = 100, [TT_OFF_OTHER] = 100},
	  .switches_voluntary = 1,
	  .wakes = 1}},
	{"the largest tid is a waker",
	 {OUT(1100, SLEEP), WAKING(4194304), WAKE(1200)},
	 {.bucket = TT_RUNQ_WAKE,
	  .t_last_ns = 1200,
	  .ns = {[TT_ONCPU] = 100, [TT_OFF_OTHER] = 100},
	  .switches_voluntary = 1,
	  .wakes = 1,
	  .last_waker = 4194304}},
	{"a wakeup without a waking has no waker",
	 {OUT(1100, SLEEP), WAKING(7), WAKE(1200), IN(1210), OUT(1300, SLEEP), WAKE(1400)},
	 {.bucket = TT_RUNQ_WAKE,
	  .t_last_ns = 1400,
	  .ns = {[TT_ONCPU] = 190, [TT_RUNQ_WAKE] = 10, [TT_OFF_OTHER] = 200},
	  .switches_voluntary = 2,
	  .wakes = 2,
	  .gap_waker = 1,
	  .last_waker = TT_WAKER(TT_WAKER_UNSEEN, 0),
	  DELAYS(1, 10)}},
	{"a wake of a running thread touches no time and leaves no waker behind",
	 {OUT(1100, SLEEP), WAKING(7), WAKE(1200), IN(1250), WAKING(8), WAKE(1300),
	  OUT(1400, SLEEP), WAKE(1500)},
	 {.bucket = TT_RUNQ_WAKE,
	  .t_last_ns = 1500,
	  .ns = {[TT_ONCPU] = 250, [TT_RUNQ_WAKE] = 50, [TT_OFF_OTHER] = 200},
	  .switches_voluntary = 2,
	  .wakes = 2,
	  .gap_waker = 1,
	  .last_waker = TT_WAKER(TT_WAKER_UNSEEN, 0),
	  .spurious_wakes = 1,
	  DELAYS(1, 50)}},
	{"a second wake of a queued thread touches no time",
	 {OUT(1100, SLEEP), WAKING(7), WAKE(1200), WAKING(8), WAKE(1260), IN(1300)},
	 {.bucket = TT_ONCPU,
	  .t_last_ns = 1300,
	  .ns = {[TT_ONCPU] = 100, [TT_RUNQ_WAKE] = 100, [TT_OFF_OTHER] = 100},
	  .switches_voluntary = 1,
	  .wakes = 1,
	  .last_waker = 7,
	  .spurious_wakes = 1,
	  DELAYS(1, 100)}},
	{"preempted with its sleep state set, then woken while queued",
	 {OUT(1100, RUNNABLE), WAKING(5), WAKE(1150), IN(1200), OUT(1300, SLEEP), WAKE(1400)},
	 {.bucket = TT_RUNQ_WAKE,
	  .t_last_ns = 1400,
	  .ns = {[TT_ONCPU] = 200, [TT_RUNQ_PREEMPT] = 100, [TT_OFF_OTHER] = 100},
	  .switches_voluntary = 1,
	  .switches_involuntary = 1,
	  .wakes = 1,
	  .gap_waker = 1,
	  .last_waker = TT_WAKER(TT_WAKER_UNSEEN, 0),
	  .spurious_wakes = 1,
	  DELAYS(1, 100)}},
	{"a delayed dequeue is a sleep",
	 {OUT(1100, SLEEP), WAKING(6), WAKE(1500), IN(1520)},
	 {.bucket = TT_ONCPU,
	  .t_last_ns = 1520,
	  .ns = {[TT_ONCPU] = 100, [TT_RUNQ_WAKE] = 20, [TT_OFF_OTHER] = 400},
	  .switches_voluntary = 1,
	  .wakes = 1,
	  .last_waker = 6,
	  DELAYS(1, 20)}},
	{"migration to a CPU whose clock is behind",
	 {OUT(1200, RUNNABLE), IN(1190), OUT(1300, SLEEP)},
	 {.bucket = TT_OFF_OTHER,
	  .t_last_ns = 1300,
	  .ns = {[TT_ONCPU] = 300},
	  .switches_voluntary = 1,
	  .switches_involuntary = 1,
	  .clamped = 1,
	  DELAYS(1, 0)}},
	{"stopped and continued",
	 {OUT(1100, STOPPED), WAKING(3), WAKE(1600), IN(1610)},
	 {.bucket = TT_ONCPU,
	  .t_last_ns = 1610,
	  .ns = {[TT_ONCPU] = 100, [TT_STOPPED] = 500, [TT_RUNQ_WAKE] = 10},
	  .switches_voluntary = 1,
	  .wakes = 1,
	  .last_waker = 3,
	  DELAYS(1, 10)}},

	{"first event a switch-in: it was queued since begin, a delay of unknown length",
	 {IN(1400)},
	 {.bucket = TT_ONCPU, .t_last_ns = 1400, .ns = {[TT_RUNQ_PREEMPT] = 400}}},
	{"first event a wakeup: it slept since begin",
	 {WAKING(8), WAKE(1400)},
	 {.bucket = TT_RUNQ_WAKE,
	  .t_last_ns = 1400,
	  .ns = {[TT_OFF_OTHER] = 400},
	  .wakes = 1,
	  .last_waker = 8}},
	{"first event a switch-out: it ran since begin, whatever the slice says",
	 {OUT_RAN(1400, SLEEP, 90)},
	 {.bucket = TT_OFF_OTHER,
	  .t_last_ns = 1400,
	  .ns = {[TT_ONCPU] = 400},
	  .switches_voluntary = 1}},
	{"first event the last one",
	 {OUT(1400, DEAD)},
	 {.bucket = TT_DEAD,
	  .t_last_ns = 1400,
	  .t_death_ns = 1400,
	  .ns = {[TT_ONCPU] = 400},
	  .switches_voluntary = 1}},
	{"first event at begin itself",
	 {OUT(1000, RUNNABLE), IN(1003)},
	 {.bucket = TT_ONCPU,
	  .t_last_ns = 1003,
	  .ns = {[TT_RUNQ_PREEMPT] = 3},
	  .switches_involuntary = 1,
	  DELAYS(1, 3)}},
	{"an event before begin starts at begin",
	 {OUT(990, SLEEP), WAKE(1005)},
	 {.bucket = TT_RUNQ_WAKE,
	  .t_last_ns = 1005,
	  .ns = {[TT_OFF_OTHER] = 5},
	  .switches_voluntary = 1,
	  .wakes = 1,
	  .gap_waker = 1,
	  .last_waker = TT_WAKER(TT_WAKER_UNSEEN, 0),
	  .clamped = 1}},

	{"a clock that goes back costs nothing and never moves the record back",
	 {OUT(1500, SLEEP), WAKE(1400), IN(1600)},
	 {.bucket = TT_ONCPU,
	  .t_last_ns = 1600,
	  .ns = {[TT_ONCPU] = 500, [TT_RUNQ_WAKE] = 100},
	  .switches_voluntary = 1,
	  .wakes = 1,
	  .gap_waker = 1,
	  .last_waker = TT_WAKER(TT_WAKER_UNSEEN, 0),
	  .clamped = 1,
	  DELAYS(1, 100)}},
	{"a clock that goes back at a missed switch-in is clamped once",
	 {OUT(1500, SLEEP), OUT_RAN(1400, SLEEP, 10)},
	 {.bucket = TT_OFF_OTHER,
	  .t_last_ns = 1500,
	  .ns = {[TT_ONCPU] = 500},
	  .switches_voluntary = 2,
	  .gap_switch_out = 1,
	  .clamped = 1}},
	{"a clock that goes back at a missed switch-out is clamped once",
	 {IN(1500), WAKING(4), WAKE_RAN(1400, 20)},
	 {.bucket = TT_RUNQ_WAKE,
	  .t_last_ns = 1500,
	  .ns = {[TT_RUNQ_PREEMPT] = 500},
	  .wakes = 1,
	  .last_waker = 4,
	  .gap_switch_in = 1,
	  .clamped = 1}},

	{"after death nothing changes",
	 {OUT(1200, DEAD), WAKE(1300), IN(1400), OUT(1500, SLEEP), OUT_RAN(1550, DEAD, 5),
	  WAKE_RAN(1570, 3), NEW(1600), CLOSE(1700, REUSED)},
	 {.bucket = TT_DEAD,
	  .t_last_ns = 1200,
	  .t_death_ns = 1200,
	  .ns = {[TT_ONCPU] = 200},
	  .switches_voluntary = 1}},
	{"death after a missed switch-in",
	 {OUT(1100, SLEEP), OUT_RAN(1500, DEAD, 50)},
	 {.bucket = TT_DEAD,
	  .t_last_ns = 1500,
	  .t_death_ns = 1500,
	  .ns = {[TT_ONCPU] = 150, [TT_OFF_OTHER] = 350},
	  .switches_voluntary = 2,
	  .gap_switch_out = 1}},
	{"closed by reuse of its tid, once",
	 {OUT(1100, SLEEP), CLOSE(1500, REUSED), CLOSE(1600, RENAMED)},
	 {.bucket = TT_DEAD,
	  .t_last_ns = 1500,
	  .t_death_ns = 1500,
	  .ns = {[TT_ONCPU] = 100, [TT_OFF_OTHER] = 400},
	  .switches_voluntary = 1,
	  .flags = TT_FLAG_REUSED}},
	{"closed by a clock that is behind",
	 {OUT(1500, SLEEP), CLOSE(1400, REUSED)},
	 {.bucket = TT_DEAD,
	  .t_last_ns = 1500,
	  .t_death_ns = 1500,
	  .ns = {[TT_ONCPU] = 500},
	  .switches_voluntary = 1,
	  .clamped = 1,
	  .flags = TT_FLAG_REUSED}},

	{"born: life begins at the first wakeup",
	 {BIRTH(1100), NEW(1150), IN(1200), OUT(1300, SLEEP)},
	 {BORN_AT(1150), .bucket = TT_OFF_OTHER, .t_last_ns = 1300,
	  .ns = {[TT_ONCPU] = 100, [TT_RUNQ_WAKE] = 50}, .switches_voluntary = 1, DELAYS(1, 50)}},
	{"born twice changes nothing",
	 {BIRTH(1100), NEW(1150), NEW(1170), IN(1200), NEW(1300)},
	 {BORN_AT(1150), .bucket = TT_ONCPU, .t_last_ns = 1200, .ns = {[TT_RUNQ_WAKE] = 50},
	  DELAYS(1, 50)}},
	{"born, its first wakeup missed: queued since creation",
	 {BIRTH(1100), IN(1200)},
	 {BORN_AT(1100), .bucket = TT_ONCPU, .t_last_ns = 1200, .ns = {[TT_RUNQ_WAKE] = 100}}},
	{"born, woken before any other event",
	 {BIRTH(1100), WAKING(2), WAKE(1200)},
	 {BORN_AT(1100), .bucket = TT_RUNQ_WAKE, .t_last_ns = 1200, .ns = {[TT_OFF_OTHER] = 100},
	  .wakes = 1, .last_waker = 2}},
	{"born, first seen going out: only the slice is known",
	 {BIRTH(1100), OUT_RAN(1200, SLEEP, 30)},
	 {BORN_AT(1100), .bucket = TT_OFF_OTHER, .t_last_ns = 1200,
	  .ns = {[TT_UNKNOWN] = 70, [TT_ONCPU] = 30}, .switches_voluntary = 1,
	  .gap_switch_out = 1}},
	{"born, first seen going out, slice unknown",
	 {BIRTH(1100), OUT_FREE(1200, SLEEP, 1150)},
	 {BORN_AT(1100), .bucket = TT_OFF_OTHER, .t_last_ns = 1200, .ns = {[TT_UNKNOWN] = 100},
	  .switches_voluntary = 1, .gap_switch_out = 1}},
	{"born and never seen again",
	 {BIRTH(1100), CLOSE(1300, REUSED)},
	 {.tid = TID,
	  .tgid = TGID,
	  .bucket = TT_DEAD,
	  .t_birth_ns = 1100,
	  .t_last_ns = 1300,
	  .t_death_ns = 1300,
	  .ns = {[TT_UNKNOWN] = 200},
	  .flags = TT_FLAG_BORN | TT_FLAG_REUSED}},
	{"seeded in the moment of its creation",
	 {NEW(1200), IN(1230)},
	 {.flags = TT_FLAG_BORN,
	  .bucket = TT_ONCPU,
	  .t_birth_ns = 1200,
	  .t_last_ns = 1230,
	  .ns = {[TT_RUNQ_WAKE] = 30},
	  DELAYS(1, 30)}},

	{"missed wakeup: the time stays asleep and gives no delay",
	 {OUT(1100, DISK), WAKING(5), IN(1500), OUT(1600, STOPPED), IN(1700)},
	 {.bucket = TT_ONCPU,
	  .t_last_ns = 1700,
	  .ns = {[TT_ONCPU] = 200, [TT_OFF_DISK] = 400, [TT_STOPPED] = 100},
	  .switches_voluntary = 2,
	  .gap_switch_in = 2}},
	{"missed switch-in, slice known: exact",
	 {OUT(1100, SLEEP), WAKING(5), WAKE(1200), OUT_RAN(1500, SLEEP, 120)},
	 {.bucket = TT_OFF_OTHER,
	  .t_last_ns = 1500,
	  .ns = {[TT_ONCPU] = 220, [TT_RUNQ_WAKE] = 180, [TT_OFF_OTHER] = 100},
	  .switches_voluntary = 2,
	  .wakes = 1,
	  .last_waker = 5,
	  .gap_switch_out = 1}},
	{"missed switch-in after a preemption, slice known",
	 {OUT(1100, RUNNABLE), OUT_RAN(1500, RUNNABLE, 150), IN(1510)},
	 {.bucket = TT_ONCPU,
	  .t_last_ns = 1510,
	  .ns = {[TT_ONCPU] = 250, [TT_RUNQ_PREEMPT] = 260},
	  .switches_involuntary = 2,
	  .gap_switch_out = 1,
	  DELAYS(1, 10)}},
	{"missed switch-in, slice unknown: queued while another task held the CPU",
	 {OUT(1100, RUNNABLE), OUT_FREE(1500, DISK, 1300)},
	 {.bucket = TT_OFF_DISK,
	  .t_last_ns = 1500,
	  .ns = {[TT_ONCPU] = 100, [TT_RUNQ_PREEMPT] = 200, [TT_UNKNOWN] = 200},
	  .switches_voluntary = 1,
	  .switches_involuntary = 1,
	  .gap_switch_out = 1}},
	{"missed switch-out, then woken, slice known: exact",
	 {IN(1100), WAKING(4), WAKE_RAN(1500, 150), IN(1520)},
	 {.bucket = TT_ONCPU,
	  .t_last_ns = 1520,
	  .ns = {[TT_ONCPU] = 150,
		 [TT_RUNQ_WAKE] = 20,
		 [TT_RUNQ_PREEMPT] = 100,
		 [TT_OFF_OTHER] = 250},
	  .wakes = 1,
	  .last_waker = 4,
	  .gap_switch_in = 1,
	  DELAYS(1, 20)}},
	{"missed switch-out, then woken, slice unknown: a spurious wake",
	 {IN(1100), WAKING(4), WAKE(1500), OUT(1600, SLEEP)},
	 {.bucket = TT_OFF_OTHER,
	  .t_last_ns = 1600,
	  .ns = {[TT_ONCPU] = 500, [TT_RUNQ_PREEMPT] = 100},
	  .switches_voluntary = 1,
	  .spurious_wakes = 1}},
	{"a slice says nothing about a thread that is queued",
	 {OUT(1100, SLEEP), WAKING(4), WAKE(1200), WAKE_RAN(1300, 50)},
	 {.bucket = TT_RUNQ_WAKE,
	  .t_last_ns = 1200,
	  .ns = {[TT_ONCPU] = 100, [TT_OFF_OTHER] = 100},
	  .switches_voluntary = 1,
	  .wakes = 1,
	  .last_waker = 4,
	  .spurious_wakes = 1}},
	{"missed switch-out, then in again: it ran for a part only",
	 {IN(1100), IN(1500), OUT(1600, SLEEP)},
	 {.bucket = TT_OFF_OTHER,
	  .t_last_ns = 1600,
	  .ns = {[TT_ONCPU] = 100, [TT_RUNQ_PREEMPT] = 100, [TT_UNKNOWN] = 400},
	  .switches_voluntary = 1,
	  .gap_switch_in = 1}},
};

#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static void apply(struct tt_thread *t, const struct step *s)
{
	switch (s->event) {
	case EV_OUT:
		tt_switch_out(t, s->at, BEGIN, (enum tt_switch_out)s->arg, s->ran_ns,
			      s->cpu_free_ns);
		break;
	case EV_IN:
		tt_switch_in(t, s->at, BEGIN);
		break;
	case EV_WAKING:
		tt_waking(t, s->arg);
		break;
	case EV_WAKE:
		tt_wakeup(t, s->at, BEGIN, s->ran_ns);
		break;
	case EV_NEW:
		tt_wakeup_new(t, s->at);
		break;
	case EV_BIRTH:
		tt_birth(t, TID, TGID, s->at);
		break;
	case EV_CLOSE:
		tt_close(t, s->at, BEGIN, s->arg);
		break;
	case END:
		break;
	}
}

static void check_identity(const struct tt_thread *t)
{
	__u64 sum = 0;

	for (int i = 0; i < TT_BUCKET_SLOTS; i++)
		sum += t->ns[i];
	assert_int_equal(t->ns[TT_DEAD], 0);
	if (t->t_last_ns)
		assert_int_equal(sum, t->t_last_ns - (t->t_birth_ns ? t->t_birth_ns : BEGIN));
	else
		assert_int_equal(sum, 0);
}

static void check_record(const struct tt_thread *got, const struct tt_thread *want)
{
#define SAME(field) assert_int_equal(got->field, want->field)
	for (int i = 0; i < TT_BUCKET_SLOTS; i++)
		SAME(ns[i]);
	for (int i = 0; i < TT_HIST_BUCKETS; i++)
		SAME(runq_hist[i]);
	SAME(bucket);
	SAME(t_last_ns);
	SAME(t_birth_ns);
	SAME(t_death_ns);
	SAME(flags);
	SAME(pend);
	SAME(last_waker);
	SAME(wakes);
	SAME(switches_voluntary);
	SAME(switches_involuntary);
	SAME(runq_count);
	SAME(runq_max_ns);
	SAME(gap_switch_out);
	SAME(gap_switch_in);
	SAME(gap_waker);
	SAME(clamped);
	SAME(spurious_wakes);
#undef SAME
	assert_memory_equal(got, want, sizeof(*got));
}

static void play(void **state)
{
	const struct scenario *scenario = *state;
	struct tt_thread t = {0};

	for (int i = 0; i < STEPS_MAX; i++) {
		apply(&t, &scenario->steps[i]);
		check_identity(&t);
	}
	t.woken_ns = 0; /* see test_thread_waits.c */
	check_record(&t, &scenario->want);
}

/* Only the name of the waker may still move on a closed account. */
static void waking_the_dead_touches_no_time(void **state)
{
	struct tt_thread t = {0}, before;

	(void)state;
	tt_switch_out(&t, 1200, BEGIN, TT_OUT_DEAD, TT_RAN_UNKNOWN, 0);
	before = t;
	tt_waking(&t, 5);
	tt_wakeup(&t, 1300, BEGIN, TT_RAN_UNKNOWN);
	tt_switch_in(&t, 1400, BEGIN);
	t.pend = before.pend;
	assert_memory_equal(&t, &before, sizeof(t));
}

static void exec_by_a_non_leader_joins_two_records(void **state)
{
	struct tt_thread old = {.tid = TID, .tgid = TGID}, next = {0};

	(void)state;
	tt_switch_in(&old, 1200, BEGIN);
	/* Under the leader's tid: it went out once and came in again before the exec event. */
	tt_succeed(&next, TGID, TGID, 1500, TT_OUT_SLEEP);
	assert_int_equal(next.tid, TGID);
	assert_int_equal(next.t_birth_ns, 1500);
	assert_int_equal(next.flags, TT_FLAG_SUCCEEDS);
	assert_int_equal(next.switches_voluntary, 1);
	assert_int_equal(next.switches_involuntary, 0);
	assert_int_equal(next.t_death_ns, 0);
	check_identity(&next);
	tt_waking(&next, 9);
	tt_wakeup(&next, 1560, BEGIN, TT_RAN_UNKNOWN);
	tt_switch_in(&next, 1600, BEGIN);
	tt_renamed(&old, BEGIN, &next, 31);
	assert_int_equal(old.bucket, TT_DEAD);
	assert_int_equal(old.flags, TT_FLAG_RENAMED);
	assert_int_equal(old.successor, 31);
	assert_int_equal(old.t_death_ns, next.t_birth_ns);
	assert_int_equal(old.ns[TT_RUNQ_PREEMPT], 200);
	assert_int_equal(old.ns[TT_ONCPU], 300);
	assert_int_equal(next.ns[TT_OFF_OTHER], 60);
	assert_int_equal(next.ns[TT_RUNQ_WAKE], 40);
	check_identity(&old);
	check_identity(&next);
	/* 1000 to 1600, each ns once */
	assert_int_equal(500 + 100, next.t_last_ns - BEGIN);
}

static void a_successor_may_begin_preempted(void **state)
{
	struct tt_thread next = {0};

	(void)state;
	tt_succeed(&next, TGID, TGID, 1500, TT_OUT_RUNNABLE);
	assert_int_equal(next.switches_involuntary, 1);
	assert_int_equal(next.switches_voluntary, 0);
	tt_switch_in(&next, 1510, BEGIN);
	assert_int_equal(next.ns[TT_RUNQ_PREEMPT], 10);
	assert_int_equal(next.runq_count, 1);
}

/* Killed between the swap of the tids and its first other switch: the account is closed at once. */
static void a_successor_may_die_at_its_first_switch(void **state)
{
	struct tt_thread next = {0};

	(void)state;
	tt_succeed(&next, TGID, TGID, 1500, TT_OUT_DEAD);
	assert_int_equal(next.bucket, TT_DEAD);
	assert_int_equal(next.t_birth_ns, 1500);
	assert_int_equal(next.t_death_ns, 1500);
	check_identity(&next);
}

static void a_dead_record_is_not_renamed(void **state)
{
	struct tt_thread old = {.tid = TID, .tgid = TGID}, next = {0}, before;

	(void)state;
	tt_switch_out(&old, 1200, BEGIN, TT_OUT_DEAD, TT_RAN_UNKNOWN, 0);
	before = old;
	tt_succeed(&next, TGID, TGID, 1500, TT_OUT_SLEEP);
	tt_renamed(&old, BEGIN, &next, 31);
	assert_memory_equal(&old, &before, sizeof(old));
}

int main(void)
{
	static const struct CMUnitTest more[] = {
		cmocka_unit_test(waking_the_dead_touches_no_time),
		cmocka_unit_test(exec_by_a_non_leader_joins_two_records),
		cmocka_unit_test(a_successor_may_begin_preempted),
		cmocka_unit_test(a_successor_may_die_at_its_first_switch),
		cmocka_unit_test(a_dead_record_is_not_renamed),
	};
	struct CMUnitTest tests[SCENARIOS + sizeof(more) / sizeof(more[0])] = {0};

	for (size_t i = 0; i < SCENARIOS; i++) {
		tests[i].name = scenarios[i].name;
		tests[i].test_func = play;
		tests[i].initial_state = (void *)&scenarios[i];
	}
	memcpy(&tests[SCENARIOS], more, sizeof(more));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
