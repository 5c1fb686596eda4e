/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/wait_futex.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/text.h"

/* A condition variable of glibc waits on two words in turn (__g_signals); they share a line. */
#define SAME_OBJECT 15u

/*
 * CPython's interpreter lock is waited for in steps of its switch interval, 5 ms by default
 * (Python/ceval_gil.c); a step is longer where the timer or the CPU comes late.
 */
#define INTERPRETER_STEP_MIN_NS 4500000
#define INTERPRETER_STEP_MAX_NS 10000000

/*
 * Samples give all futex waits of a thread the address that they saw most. Who comes back for a lock
 * until it has it is let in once in so many timeouts; who only sleeps on a futex hardly ever is.
 */
#define SAMPLED_TIMEOUTS_MAX 16

static bool is_futex(const struct raw_wait *wait)
{
	return wait->key.syscall == TT_SYSCALL(SYS_futex);
}

static bool same_object(const struct raw_wait *a, const struct raw_wait *b)
{
	return is_futex(a) && is_futex(b) && !((a->key.arg ^ b->key.arg) & ~SAME_OBJECT);
}

#define LOOKS_LIKE_LOCK (TT_SITE_FUTEX_LOCK | TT_SITE_FUTEX_MAYBE)
#define LOCK_WAITS	3 /* that a counter with a lock's value does not see of one thread */

struct word {
	pid_t pid;
	uint32_t address; /* low half */
};

static int compare_words(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static struct word word_of(const struct raw_wait *wait, const struct session *session)
{
	return (struct word){session->threads[wait->row].pid, wait->key.arg};
}

/* Threads that share a row do not tell their futexes apart. */
static bool is_of_one(const struct raw_wait *wait, const struct session *session)
{
	return is_futex(wait) && session->threads[wait->row].folded <= 1;
}

/* How often this thread waited so on this word until a thread ended it. */
static int64_t ended_waits(const struct raw_waits *raw, const struct raw_wait *like)
{
	const struct raw_wait *wait;
	int64_t count = 0;

	for (int64_t i = raw->heads[like->row]; i >= 0; i = wait->next) {
		wait = &raw->rows[i];
		if (is_futex(wait) && wait->key.arg == like->key.arg && wait->waker.tid)
			count += wait->count;
	}
	return count;
}

int wait_futex_locks(struct raw_waits *raw, const struct session *session)
{
	struct word *others = malloc((raw->n + 1) * sizeof(*others));
	size_t n = 0;

	if (!others)
		return -ENOMEM;
	for (size_t i = 0; i < raw->n; i++) {
		const struct raw_wait *wait = &raw->rows[i];

		if (is_of_one(wait, session) && !wait->sampled &&
		    !(wait->key.flags & LOOKS_LIKE_LOCK))
			others[n++] = word_of(wait, session);
	}
	qsort(others, n, sizeof(*others), compare_words);
	for (size_t i = 0; i < raw->n; i++) {
		struct raw_wait *wait = &raw->rows[i];
		struct word word = word_of(wait, session);

		if (!(wait->key.flags & LOOKS_LIKE_LOCK) || !is_of_one(wait, session))
			continue;
		if (bsearch(&word, others, n, sizeof(word), compare_words))
			wait->key.flags &= ~LOOKS_LIKE_LOCK;
		else if (wait->key.flags & TT_SITE_FUTEX_MAYBE &&
			 ended_waits(raw, wait) >= LOCK_WAITS)
			wait->key.flags |= TT_SITE_FUTEX_LOCK;
	}
	free(others);
	return 0;
}

static bool is_interpreter_lock(const struct raw_wait *timeouts)
{
	int64_t step_ns = timeouts->ns / timeouts->count;

	return timeouts->python && step_ns >= INTERPRETER_STEP_MIN_NS &&
	       step_ns <= INTERPRETER_STEP_MAX_NS;
}

/* The longest of the row's waits on the same object that a thread ended; NULL without one. */
static const struct raw_wait *ended_by_thread(const struct raw_waits *raw, const size_t *order,
					      size_t from, size_t to, const struct raw_wait *like)
{
	const struct raw_wait *best = NULL;

	for (size_t i = from; i < to; i++) {
		const struct raw_wait *wait = &raw->rows[order[i]];

		if (same_object(wait, like) && wait->waker.tid && (!best || wait->ns > best->ns))
			best = wait;
	}
	return best;
}

static void name_interpreter_lock(struct raw_waits *raw, struct wait_judgement *judged,
				  const size_t *order, size_t from, size_t to,
				  const struct raw_wait *like)
{
	for (size_t i = from; i < to; i++) {
		if (!same_object(&raw->rows[order[i]], like))
			continue;
		judged[order[i]].class = WAIT_LOCK;
		text_copy(judged[order[i]].site, sizeof(judged[order[i]].site),
			  "futex (Python's interpreter lock)");
	}
}

/* For want of its own address only, if so. */
static bool may_be_another(const struct raw_waits *raw, const size_t *order, size_t from, size_t to,
			   const struct raw_wait *timeouts)
{
	bool sampled = timeouts->sampled;
	int64_t ended = 0;

	for (size_t i = from; i < to; i++) {
		const struct raw_wait *wait = &raw->rows[order[i]];

		if (!same_object(wait, timeouts) || !wait->waker.tid)
			continue;
		ended += wait->count;
		sampled |= wait->sampled;
	}
	return sampled && timeouts->count > SAMPLED_TIMEOUTS_MAX * ended;
}

int64_t wait_futex_timeouts(struct raw_waits *raw, struct wait_judgement *judged,
			    const size_t *order, size_t from, size_t to)
{
	int64_t estimated_ns = 0;

	for (size_t i = from; i < to; i++) {
		struct raw_wait *wait = &raw->rows[order[i]];
		const struct raw_wait *other;

		if (!is_futex(wait) || wait->waker.kind != WAKER_TIMER || !wait->count)
			continue;
		other = ended_by_thread(raw, order, from, to, wait);
		if (!other || may_be_another(raw, order, from, to, wait))
			continue;
		if (is_interpreter_lock(wait))
			name_interpreter_lock(raw, judged, order, from, to, other);
		wait->waker = other->waker;
		judged[order[i]] = judged[other - raw->rows];
		estimated_ns += wait->ns;
	}
	return estimated_ns;
}
