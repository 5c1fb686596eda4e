/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that wait for other threads of their process, each for one that is named; who holds a lock
 * or gives what is waited for sleeps meanwhile for a known time.
 *
 *   cond-take, sem-take     a condition variable, a semaphore: given by cond-give, sem-give
 *   mutex-want, pi-want     a mutex, one with priority inheritance: held by mutex-hold, pi-hold
 *   spin-want               a mutex that is spun for a while before its thread sleeps: spin-hold
 *   rw-want                 to read under a read-write lock: written under by rw-hold
 *   wr-want                 to write under one: read under by wr-hold
 *   pool-0 .. pool-2        an idle pool on one condition variable: given jobs by pool-feed
 *   pool-idle               one that never gets any
 *   bar-0, bar-1            a barrier: bar-late is the last
 *   relay-c                 waits for relay-b, and that for relay-a
 *   cond-timeout            a condition variable that nobody signals: the time-out ends it
 *
 *   count=307  waits a thread        us=5003  how long each
 */
#include "waits.h"

enum { H_COND, H_SEM, H_RELAY_B, H_RELAY_C };

/* The holder has it from the begin of a period to 7/10 of it; who wants it asks at 2/10. */
struct contended {
	const char *wanter, *holder;
	void (*make)(struct contended *c);
	int (*hold)(struct contended *c);
	int (*want)(struct contended *c);
	int (*release)(struct contended *c);
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t jobs_cond, never_cond;
	unsigned int jobs;
	bool over;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
	  .jobs_cond = PTHREAD_COND_INITIALIZER,
	  .never_cond = PTHREAD_COND_INITIALIZER};

static pthread_barrier_t barrier;

/* handovers */

static void cond_make(struct handover *h)
{
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->cond, NULL);
}

/* Signalled with the lock free, or the taker would next wait for that. */
static void cond_give(struct handover *h)
{
	pthread_mutex_lock(&h->lock);
	atomic_fetch_add(&h->given, 1);
	pthread_mutex_unlock(&h->lock);
	pthread_cond_signal(&h->cond);
}

static void cond_take(struct handover *h)
{
	pthread_mutex_lock(&h->lock);
	while (atomic_load(&h->given) == h->taken)
		pthread_cond_wait(&h->cond, &h->lock);
	h->taken++;
	pthread_mutex_unlock(&h->lock);
}

static void semaphore_make(struct handover *h)
{
	sem_init(&h->sem, 0, 0);
}

static void semaphore_give(struct handover *h)
{
	sem_post(&h->sem);
}

static void semaphore_take(struct handover *h)
{
	while (sem_wait(&h->sem))
		;
}

static struct handover table[] = {
	[H_COND] = {.taker = "cond-take",
		    .giver = "cond-give",
		    .kind = {"thread", "thread", "cond-give"},
		    .make = cond_make,
		    .give = cond_give,
		    .take = cond_take},
	[H_SEM] = {.taker = "sem-take",
		   .giver = "sem-give",
		   .kind = {"thread", "thread", "sem-give"},
		   .make = semaphore_make,
		   .give = semaphore_give,
		   .take = semaphore_take},
	[H_RELAY_B] = {.taker = "relay-b",
		       .giver = "relay-a",
		       .kind = {"thread", "thread", "relay-a"},
		       .give = futex_give,
		       .take = futex_take},
	[H_RELAY_C] = {.taker = "relay-c",
		       .giver = "relay-b",
		       .kind = {"thread", "thread", "relay-b"},
		       .give = futex_give,
		       .take = futex_take},
};

static void relay(struct wl_thread *t)
{
	struct wait_clock c;
	unsigned int i;

	for (i = 0; i < wait_count; i++) {
		c = wait_read();
		futex_take(&table[H_RELAY_B]);
		wait_end(t, 0, c);
		futex_give(&table[H_RELAY_C]);
	}
}

/* contended locks */

static void mutex_make(struct contended *c)
{
	pthread_mutex_init(&c->mutex, NULL);
}

static void pi_make(struct contended *c)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&c->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

static void adaptive_make(struct contended *c)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&c->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

static void rwlock_make(struct contended *c)
{
	pthread_rwlock_init(&c->rwlock, NULL);
}

static int mutex_lock(struct contended *c)
{
	return pthread_mutex_lock(&c->mutex);
}

static int mutex_unlock(struct contended *c)
{
	return pthread_mutex_unlock(&c->mutex);
}

static int write_lock(struct contended *c)
{
	return pthread_rwlock_wrlock(&c->rwlock);
}

static int read_lock(struct contended *c)
{
	return pthread_rwlock_rdlock(&c->rwlock);
}

static int rwlock_unlock(struct contended *c)
{
	return pthread_rwlock_unlock(&c->rwlock);
}

static struct contended locks[] = {
	{.wanter = "mutex-want",
	 .holder = "mutex-hold",
	 .make = mutex_make,
	 .hold = mutex_lock,
	 .want = mutex_lock,
	 .release = mutex_unlock},
	{.wanter = "pi-want",
	 .holder = "pi-hold",
	 .make = pi_make,
	 .hold = mutex_lock,
	 .want = mutex_lock,
	 .release = mutex_unlock},
	{.wanter = "spin-want",
	 .holder = "spin-hold",
	 .make = adaptive_make,
	 .hold = mutex_lock,
	 .want = mutex_lock,
	 .release = mutex_unlock},
	{.wanter = "wr-want",
	 .holder = "wr-hold",
	 .make = rwlock_make,
	 .hold = read_lock,
	 .want = write_lock,
	 .release = rwlock_unlock},
	{.wanter = "rw-want",
	 .holder = "rw-hold",
	 .make = rwlock_make,
	 .hold = write_lock,
	 .want = read_lock,
	 .release = rwlock_unlock},
};

#define NLOCKS (sizeof(locks) / sizeof(locks[0]))

static void hold(struct wl_thread *t)
{
	struct contended *c = &locks[t->index];
	uint64_t at = wl.start_ns;
	unsigned int i;

	for (i = 0; i < wait_count; i++) {
		at += wait_nap_ns;
		wait_until(t, 0, at);
		c->hold(c);
		wait_until(t, 0, at + wait_nap_ns * 7 / 10);
		c->release(c);
	}
}

static void want(struct wl_thread *t)
{
	struct contended *c = &locks[t->index];
	uint64_t at = wl.start_ns;
	struct wait_clock clock;
	unsigned int i;

	for (i = 0; i < wait_count; i++) {
		at += wait_nap_ns;
		wait_until(t, 1, at + wait_nap_ns * 2 / 10);
		clock = wait_read();
		c->want(c);
		wait_end(t, 0, clock);
		c->release(c);
	}
}

/* the pool */

static bool pool_take(void)
{
	bool got;

	pthread_mutex_lock(&pool.lock);
	while (!pool.jobs && !pool.over)
		pthread_cond_wait(&pool.jobs_cond, &pool.lock);
	got = pool.jobs > 0;
	pool.jobs -= got;
	pthread_mutex_unlock(&pool.lock);
	return got;
}

static void pool_worker(struct wl_thread *t)
{
	struct wait_clock c;
	bool got = true;

	while (got) {
		c = wait_read();
		got = pool_take();
		wait_end(t, 0, c);
	}
}

static void pool_idle(struct wl_thread *t)
{
	struct wait_clock c = wait_read();

	pthread_mutex_lock(&pool.lock);
	while (!pool.over)
		pthread_cond_wait(&pool.never_cond, &pool.lock);
	pthread_mutex_unlock(&pool.lock);
	wait_end(t, 0, c);
}

static void pool_feed(struct wl_thread *t)
{
	unsigned int i;

	for (i = 0; i < wait_count; i++) {
		wait_nap(t, 0, wait_nap_ns);
		pthread_mutex_lock(&pool.lock);
		pool.jobs++;
		pthread_mutex_unlock(&pool.lock);
		pthread_cond_signal(&pool.jobs_cond);
	}
	pthread_mutex_lock(&pool.lock);
	pool.over = true;
	pthread_mutex_unlock(&pool.lock);
	pthread_cond_broadcast(&pool.jobs_cond);
	pthread_cond_broadcast(&pool.never_cond);
}

/* the barrier, the time-out */

static void barrier_early(struct wl_thread *t)
{
	struct wait_clock c;
	unsigned int i;

	for (i = 0; i < wait_count; i++) {
		c = wait_read();
		pthread_barrier_wait(&barrier);
		wait_end(t, 0, c);
	}
}

static void barrier_late(struct wl_thread *t)
{
	unsigned int i;

	for (i = 0; i < wait_count; i++) {
		wait_nap(t, 0, wait_nap_ns);
		pthread_barrier_wait(&barrier);
	}
}

static void timeout(struct wl_thread *t)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct wait_clock c;
	struct timespec ts;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < wait_count && !wl_stopped(); i++) {
		c = wait_read();
		ts = wl_ts(wl_now() + wait_nap_ns);
		while (!pthread_cond_clockwait(&cond, &lock, CLOCK_MONOTONIC, &ts))
			;
		wait_end(t, 0, c);
	}
	pthread_mutex_unlock(&lock);
}

/* setting up */

static void add_handovers(void)
{
	handovers = table;
	handover_add(H_COND, true);
	handover_add(H_SEM, true);
	handover_add(H_RELAY_B, true);
	handover_add(H_RELAY_C, false);
	table[H_RELAY_B].taker_thread->fn = relay;
}

static void add_locks(void)
{
	struct wl_thread *t;
	size_t i;

	for (i = 0; i < NLOCKS; i++) {
		locks[i].make(&locks[i]);
		t = wait_add(want, locks[i].wanter,
			     (struct wait_kind){"lock", "thread", locks[i].holder});
		wait_also(t, 1, wait_timer);
		t->index = (int)i;
		wait_add(hold, locks[i].holder, wait_timer)->index = (int)i;
	}
}

static void add_pool(void)
{
	const struct wait_kind fed = {"thread", "thread", "pool-feed"};

	wait_add(pool_worker, "pool-0", fed);
	wait_add(pool_worker, "pool-1", fed);
	wait_add(pool_worker, "pool-2", fed);
	wait_add(pool_idle, "pool-idle", fed);
	wait_add(pool_feed, "pool-feed", wait_timer);
}

static void add_barrier(void)
{
	const struct wait_kind late = {"thread", "thread", "bar-late"};

	pthread_barrier_init(&barrier, NULL, 3);
	wait_add(barrier_early, "bar-0", late);
	wait_add(barrier_early, "bar-1", late);
	wait_add(barrier_late, "bar-late", wait_timer);
}

int main(int argc, char **argv)
{
	wl_init("waits_sync", argc, argv, 3);
	wait_args(307, 5003);
	wl_args_done();
	add_handovers();
	add_locks();
	add_pool();
	add_barrier();
	wait_add(timeout, "cond-timeout", wait_timer);
	wl_launch();
	wait_load();
	return wl_finish(wait_json);
}
