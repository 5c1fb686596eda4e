/* SPDX-License-Identifier: GPL-2.0-only */
/* Where threads sleep: from files written here, and of real threads of this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/types.h>

#include "abi.h"
#include "probe/procfs.h"
#include "probe/waits/site_sampler.h"
#include "real_sleepers.h"

static char root[64];
static struct site_sampler *sampler;

static void put(pid_t tid, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "mkdir -p %s/100/task/%d", root, tid);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/100/task/%d/syscall", root, tid);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int make_root(void **state)
{
	(void)state;
	sampler = site_sampler_new();
	snprintf(root, sizeof(root), "/tmp/sites-XXXXXX");
	return sampler && mkdtemp(root) ? procfs_set_root(root) : -1;
}

static int drop_root(void **state)
{
	char command[128];

	(void)state;
	site_sampler_free(sampler);
	procfs_set_root(NULL);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void pass(pid_t tid, uint64_t since_ns)
{
	const struct site_thread thread = {100, tid, true, since_ns};

	assert_int_equal(site_sampler_pass(sampler, &thread, 1), 0);
}

static struct site_count only_site(pid_t tid)
{
	struct site_count sites[SITES_PER_THREAD];

	assert_int_equal(site_sampler_lookup(sampler, tid, sites), 1);
	return sites[0];
}

#define FUTEX(op, value) futex_line(op, value)

static const char *futex_line(unsigned int op, unsigned int value)
{
	static char line[256];

	snprintf(line, sizeof(line),
		 "%ld 0x7f12345678a0 0x%x 0x%x 0x0 0x0 0xffffffff 0x7ffe1 0x7f3\n", (long)SYS_futex,
		 op, value);
	return line;
}

static void test_futex(void **state)
{
	static const struct {
		unsigned int op, value;
		uint32_t flags;
	} cases[] = {
		{0, 2, TT_SITE_FUTEX_LOCK},    /* FUTEX_WAIT of a contended mutex, shared */
		{0x80, 2, TT_SITE_FUTEX_LOCK}, /* private */
		{0x80, 1, 0},		       /* FUTEX_WAIT of something else */
		{0x189, 0, 0}, /* FUTEX_WAIT_BITSET, realtime: a condition variable */
		{0x189, 2, TT_SITE_FUTEX_MAYBE}, /* a read-write lock, or a counter */
		{0x86, 0, TT_SITE_FUTEX_LOCK},	 /* FUTEX_LOCK_PI */
		{0x8d, 0, TT_SITE_FUTEX_LOCK},	 /* FUTEX_LOCK_PI2 */
		{0x8b, 2, 0},			 /* FUTEX_WAIT_REQUEUE_PI */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct site_count site;

		put(101 + i, FUTEX(cases[i].op, cases[i].value));
		pass(101 + i, 1);
		site = only_site(101 + i);
		assert_int_equal(site.syscall, SYS_futex);
		assert_int_equal(site.arg, 0x345678a0);
		assert_int_equal(site.flags, cases[i].flags);
		assert_int_equal(site.count, 1);
	}
}

static void test_descriptor(void **state)
{
	char line[128];
	struct site_count site;

	(void)state;
	snprintf(line, sizeof(line), "%ld 0x7 0x4020 0x1 0x0 0x0 0x0 0x7ffe1 0x7f3\n",
		 (long)SYS_ioctl);
	put(101, line);
	pass(101, 1);
	assert_int_equal(only_site(101).arg, 7);
	/* the address of its time is on the stack: another each time, and no site */
	snprintf(line, sizeof(line), "%ld 0x7ffe10 0x0 0x1 0x0 0x0 0x0 0x7ffe1 0x7f3\n",
		 (long)SYS_nanosleep);
	put(102, line);
	pass(102, 1);
	site = only_site(102);
	assert_int_equal(site.syscall, SYS_nanosleep);
	assert_int_equal(site.arg, 0);
}

static void test_no_site(void **state)
{
	static const char *const texts[] = {"running\n", "", "x", "7\n", "7 0x1 0x2\n"};
	struct site_count sites[SITES_PER_THREAD];

	(void)state;
	for (int i = 0; i < 5; i++) {
		put(101 + i, texts[i]);
		pass(101 + i, 1);
		assert_int_equal(site_sampler_lookup(sampler, 101 + i, sites), 0);
	}
	pass(4000, 1);
	assert_int_equal(site_sampler_lookup(sampler, 4000, sites), 0);
	assert_int_equal(site_sampler_lookup(sampler, 4001, sites), 0);
	put(110, "-1 0x7ffe1 0x7f3\n");
	pass(110, 1);
	assert_int_equal(only_site(110).syscall, -1);
}

/* One long sleep is read once; each pass counts. */
static void test_same_sleep(void **state)
{
	(void)state;
	put(101, FUTEX(0x80, 2));
	for (int i = 0; i < 13; i++)
		pass(101, 77);
	assert_int_equal(only_site(101).count, 13);
	assert_int_equal(site_sampler_cost(sampler).reads, 1);
	for (int i = 0; i < 3; i++)
		pass(101, 78 + i);
	assert_int_equal(only_site(101).count, 16);
	assert_int_equal(site_sampler_cost(sampler).reads, 4);
}

static void test_awake_between(void **state)
{
	const struct site_thread awake = {100, 101, false, 78};
	struct site_count sites[SITES_PER_THREAD];

	(void)state;
	put(101, FUTEX(0x80, 2));
	pass(101, 77);
	assert_int_equal(site_sampler_pass(sampler, &awake, 1), 0);
	put(101, "-1 0x1 0x2\n");
	pass(101, 79);
	pass(101, 79);
	assert_int_equal(site_sampler_cost(sampler).reads, 2);
	assert_int_equal(site_sampler_lookup(sampler, 101, sites), 2);
	assert_int_equal(sites[0].syscall, -1);
	assert_int_equal(sites[0].count, 2);
	assert_int_equal(sites[1].count, 1);
}

/* More threads than a pass looks at: each gets its turn, and its sample stands for those missed. */
static void test_round_robin(void **state)
{
	enum { THREADS = 997, PASSES = 200 };
	static struct site_thread threads[THREADS];
	uint64_t samples = 0;
	int seen = 0;

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		put(1000 + i, FUTEX(0x80, 2));
		threads[i] = (struct site_thread){100, 1000 + i, true, 0};
	}
	for (int p = 0; p < PASSES; p++) {
		for (int i = 0; i < THREADS; i++)
			threads[i].since_ns = p;
		assert_int_equal(site_sampler_pass(sampler, threads, THREADS), 0);
	}
	assert_true(site_sampler_cost(sampler).reads <= PASSES * 128);
	for (int i = 0; i < THREADS; i++) {
		struct site_count sites[SITES_PER_THREAD];

		seen += site_sampler_lookup(sampler, 1000 + i, sites) == 1;
		samples += sites[0].count;
	}
	assert_int_equal(seen, THREADS);
	/* at most the last round of each is still owed */
	assert_true(samples > THREADS * PASSES * 3 / 4 && samples <= THREADS * PASSES);
}

/* Threads come and go: what is kept is bounded, and the recently ended can still be asked for. */
static void test_ageing(void **state)
{
	struct site_count sites[SITES_PER_THREAD];

	(void)state;
	put(50, FUTEX(0x80, 2));
	pass(50, 1);
	for (int i = 0; i < 99; i++)
		pass(51, 1);
	assert_int_equal(site_sampler_lookup(sampler, 50, sites), 1);
	for (int i = 0; i < 200; i++)
		pass(51, 1);
	assert_int_equal(site_sampler_lookup(sampler, 50, sites), 0);
}

/* A tid used again by another process begins anew. */
static void test_reused(void **state)
{
	const struct site_thread other = {200, 50, true, 1};
	struct site_count sites[SITES_PER_THREAD];

	(void)state;
	put(50, FUTEX(0x80, 2));
	pass(50, 1);
	assert_int_equal(site_sampler_pass(sampler, &other, 1), 0);
	assert_int_equal(site_sampler_lookup(sampler, 50, sites), 0);
}

static void test_many_sites(void **state)
{
	struct site_count sites[SITES_PER_THREAD];
	char line[128];

	(void)state;
	for (int i = 0; i < 60; i++) {
		int fd = i % 2 ? 3 : 4 + i / 2;

		snprintf(line, sizeof(line), "%ld 0x%x 0x1 0x1 0x0 0x0 0x0 0x1 0x1\n",
			 (long)SYS_read, fd);
		put(101, line);
		pass(101, i);
	}
	assert_int_equal(site_sampler_lookup(sampler, 101, sites), SITES_PER_THREAD);
	assert_int_equal(sites[0].arg, 3);
	assert_int_equal(sites[0].count, 30);
}

/* Real sleepers of this process */

enum sleeper {
	SLEEP_TIMER,
	SLEEP_PIPE,
	SLEEP_MUTEX,
	SLEEP_PI,
	SLEEP_CONDITION,
	SLEEP_EPOLL,
	SLEEPERS
};

static pid_t tids[SLEEPERS];
static int pipes[2], epoll_fd;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, pi, free_one = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *sleeper(void *arg)
{
	enum sleeper what = (enum sleeper)(intptr_t)arg;
	struct timespec ts = {600, 0};
	struct epoll_event event;
	char byte;

	__atomic_store_n(&tids[what], syscall(SYS_gettid), __ATOMIC_RELEASE);
	if (what == SLEEP_TIMER)
		nanosleep(&ts, NULL);
	else if (what == SLEEP_PIPE)
		(void)!read(pipes[0], &byte, 1);
	else if (what == SLEEP_MUTEX)
		pthread_mutex_lock(&held);
	else if (what == SLEEP_PI)
		pthread_mutex_lock(&pi);
	else if (what == SLEEP_EPOLL)
		epoll_wait(epoll_fd, &event, 1, -1);
	else {
		pthread_mutex_lock(&free_one);
		pthread_cond_wait(&condition, &free_one);
	}
	return NULL;
}

static void start_sleepers(void)
{
	static struct sleep_site site;
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&pi, &attributes);
	assert_int_equal(pipe(pipes), 0);
	epoll_fd = epoll_create1(0);
	pthread_mutex_lock(&held);
	pthread_mutex_lock(&pi);
	for (intptr_t i = 0; i < SLEEPERS; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, sleeper, (void *)i), 0);
		while (!__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE))
			usleep(100);
	}
	for (int i = 0; i < SLEEPERS; i++)
		wait_until_asleep(getpid(), tids[i], &site);
}

static void test_real_sleepers(void **state)
{
	struct site_thread threads[SLEEPERS];
	struct site_count site[SLEEPERS];

	(void)state;
	procfs_set_root(NULL);
	start_sleepers();
	for (int i = 0; i < SLEEPERS; i++)
		threads[i] = (struct site_thread){getpid(), tids[i], true, 1};
	assert_int_equal(site_sampler_pass(sampler, threads, SLEEPERS), 0);
	for (int i = 0; i < SLEEPERS; i++)
		site[i] = only_site(tids[i]);
	assert_true(site[SLEEP_TIMER].syscall == SYS_nanosleep ||
		    site[SLEEP_TIMER].syscall == SYS_clock_nanosleep);
	assert_int_equal(site[SLEEP_PIPE].syscall, SYS_read);
	assert_int_equal(site[SLEEP_PIPE].arg, pipes[0]);
	assert_int_equal(site[SLEEP_MUTEX].syscall, SYS_futex);
	assert_int_equal(site[SLEEP_MUTEX].flags, TT_SITE_FUTEX_LOCK);
	assert_int_equal(site[SLEEP_MUTEX].arg, (uint32_t)(uintptr_t)&held);
	assert_int_equal(site[SLEEP_PI].flags, TT_SITE_FUTEX_LOCK);
	assert_int_equal(site[SLEEP_CONDITION].syscall, SYS_futex);
	assert_int_equal(site[SLEEP_CONDITION].flags, 0);
	assert_int_equal(site[SLEEP_EPOLL].arg, epoll_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, drop_root)
		TEST(test_futex),	  TEST(test_descriptor),    TEST(test_no_site),
		TEST(test_same_sleep),	  TEST(test_awake_between), TEST(test_round_robin),
		TEST(test_ageing),	  TEST(test_reused),	    TEST(test_many_sites),
		TEST(test_real_sleepers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
