/* SPDX-License-Identifier: GPL-2.0-only */
/* Who had the CPU: names, kinds and sums, over a /proc written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/waits/blame.h"
#include "probe/procfs.h"
#include "probe/machine/top_processes.h"

#define MS     1000000LL
#define SECOND 1000000000LL

static char root[64];
static struct session session;

static void put(pid_t tid, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d", root, tid);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%d/%s", root, tid, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void put_task(pid_t tid, pid_t pid, const char *comm, unsigned int flags, int rt_priority,
		     int policy)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "%d (%s) S 1 1 1 0 -1 %u 0 0 0 0 5 6 0 0 20 0 1 0 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
		 "17 0 %d %d 0 0 0\n",
		 tid, comm, flags, rt_priority, policy);
	put(tid, "stat", text);
	snprintf(text, sizeof(text), "Name:\tx\nTgid:\t%d\nPid:\t%d\nPPid:\t1\n", pid, tid);
	put(tid, "status", text);
	snprintf(text, sizeof(text), "%s\n", comm);
	put(tid, "comm", text);
}

static int make_root(void **state)
{
	(void)state;
	session_init(&session);
	snprintf(root, sizeof(root), "/tmp/blame-XXXXXX");
	return mkdtemp(root) ? procfs_set_root(root) : -1;
}

static int drop_root(void **state)
{
	char command[128];

	(void)state;
	session_free(&session);
	procfs_set_root(NULL);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static bool is_target(void *ctx, pid_t pid)
{
	(void)ctx;
	return pid == 100;
}

static struct blame *blame;

static void add(pid_t waiter, pid_t holder, const char *comm, int64_t ms)
{
	char raw[16] = "";

	memcpy(raw, comm, strnlen(comm, sizeof(raw)));
	assert_int_equal(blame_add(blame, 100, waiter, "preproc-N", holder, raw, ms * MS, 1), 0);
}

static void finish(void)
{
	assert_int_equal(blame_finish(blame, &session), 0);
	blame_free(blame);
	assert_true(session.cpu_holders_measured);
}

#define PF_KTHREAD 0x00200000

static void test_kinds(void **state)
{
	const struct cpu_holder *row;

	(void)state;
	put_task(100, 100, "infer", 0, 0, SCHED_OTHER);
	put_task(102, 100, "postproc", 0, 0, SCHED_OTHER);
	put_task(501, 501, "foreign_hog", 0, 0, SCHED_OTHER);
	put_task(502, 501, "worker", 0, 0, SCHED_BATCH);
	put_task(37, 37, "irq/37-nvme0q1-host1x-long", PF_KTHREAD, 50, SCHED_FIFO);
	blame = blame_new(is_target, NULL);
	add(101, 502, "worker", 60);
	add(101, 102, "postproc", 50);
	add(101, 37, "irq/37-nvme0q1-", 40);
	add(101, 0, "swapper/1", 30);
	add(101, 9999, "gone\033[31m", 20);
	finish();
	assert_int_equal(session.ncpu_holders, 5);
	row = session.cpu_holders;
	assert_int_equal(row[0].kind, HOLDER_PROCESS);
	assert_int_equal(row[0].holder_pid, 501);
	assert_int_equal(row[0].holder_tid, 502);
	assert_string_equal(row[0].name, "worker");
	assert_string_equal(row[0].process, "foreign_hog");
	assert_int_equal(row[0].policy, SCHED_BATCH);
	assert_int_equal(row[0].tid, 101);
	assert_string_equal(row[0].group, "preproc-N");
	assert_float_equal(row[0].share, 0.3, 1e-9);
	assert_int_equal(row[1].kind, HOLDER_OWN);
	assert_string_equal(row[1].process, "infer");
	assert_int_equal(row[2].kind, HOLDER_KERNEL);
	assert_string_equal(row[2].name, "irq/37-nvme0q1-host1x-long");
	assert_int_equal(row[2].rt_priority, 50);
	assert_int_equal(row[2].policy, SCHED_FIFO);
	assert_int_equal(row[3].kind, HOLDER_IDLE);
	assert_int_equal(row[3].policy, -1);
	assert_int_equal(row[4].kind, HOLDER_ENDED);
	assert_string_equal(row[4].name, "gone\\x1b[31m");
	assert_int_equal(row[4].holder_pid, 0);
	assert_string_equal(row[4].process, "");
}

/* A shell that has become another program since, one that has ended, and a kernel thread. */
static void test_name_after_an_exec(void **state)
{
	(void)state;
	put_task(100, 100, "infer", 0, 0, SCHED_OTHER);
	put_task(601, 601, "decoder", 0, 0, SCHED_OTHER);
	put_task(38, 38, "kworker/0:1-events", PF_KTHREAD, 0, SCHED_OTHER);
	blame = blame_new(is_target, NULL);
	add(101, 100, "bash", 60);
	add(101, 601, "sh", 50);
	add(101, 9999, "dash", 40);
	add(101, 38, "kworker/0:1", 30);
	finish();
	assert_int_equal(session.ncpu_holders, 4);
	assert_string_equal(session.cpu_holders[0].name, "infer");
	assert_int_equal(session.cpu_holders[0].kind, HOLDER_OWN);
	assert_string_equal(session.cpu_holders[1].name, "decoder");
	assert_string_equal(session.cpu_holders[2].name, "dash");
	assert_int_equal(session.cpu_holders[2].kind, HOLDER_ENDED);
	assert_string_equal(session.cpu_holders[3].name, "kworker/0:1-events");
}

/* Waiters in the order of their waits, each one's holders in theirs; nothing gets lost. */
static void test_sums(void **state)
{
	int64_t total = 0, count = 0;
	const struct cpu_holder *row;

	(void)state;
	blame = blame_new(is_target, NULL);
	for (int i = 0; i < 13; i++) {
		add(101, 200 + i, "h", 1 + i);
		add(102, 200 + i, "h", 100);
		add(102, 200 + i, "h", i);
	}
	add(103, 200, "h", 7);
	finish();
	row = session.cpu_holders;
	assert_int_equal(session.ncpu_holders, 8 + 8 + 1);
	assert_int_equal(row[0].tid, 102);
	assert_int_equal(row[0].holder_tid, 212);
	assert_int_equal(row[0].ns, 112 * MS);
	assert_int_equal(row[0].count, 2);
	assert_int_equal(row[7].kind, HOLDER_OTHERS);
	assert_string_equal(row[7].name, "6 more");
	assert_int_equal(row[7].ns, (600 + 0 + 1 + 2 + 3 + 4 + 5) * MS);
	assert_int_equal(row[7].count, 12);
	assert_int_equal(row[8].tid, 101);
	assert_int_equal(row[16].tid, 103);
	for (size_t i = 0; i < session.ncpu_holders; i++) {
		total += row[i].ns;
		count += row[i].count;
	}
	assert_int_equal(total, (91 + 1300 + 78 + 7) * MS);
	assert_int_equal(count, 13 + 26 + 1);
}

/* Exited threads of one group are one waiter, those of another are another. */
static void test_exited(void **state)
{
	static const char comm[16] = "h";

	(void)state;
	blame = blame_new(is_target, NULL);
	blame_add(blame, 100, 0, "a-N", 7, comm, 5, 1);
	blame_add(blame, 100, 0, "b-N", 7, comm, 3, 1);
	blame_add(blame, 100, 0, "a-N", 7, comm, 2, 1);
	finish();
	assert_int_equal(session.ncpu_holders, 2);
	assert_string_equal(session.cpu_holders[0].group, "a-N");
	assert_int_equal(session.cpu_holders[0].ns, 7);
	assert_float_equal(session.cpu_holders[0].share, 1, 0);
	assert_string_equal(session.cpu_holders[1].group, "b-N");
}

/* Waits too short or not over have no holder: the account tells how much that is. */
static void test_waited(void **state)
{
	struct thread_account *thread = session_add_thread(&session);

	(void)state;
	assert_non_null(thread);
	thread->pid = 100;
	thread->tid = 101;
	thread->runq_wake_ns = 100 * MS;
	thread->runq_preempt_ns = 300 * MS;
	blame = blame_new(is_target, NULL);
	add(102, 200, "h", 350);
	add(101, 200, "h", 300);
	finish();
	assert_int_equal(session.cpu_holders[0].tid, 101);
	assert_int_equal(session.cpu_holders[0].waited_ns, 400 * MS);
	assert_float_equal(session.cpu_holders[0].share, 0.75, 1e-9);
	assert_int_equal(session.cpu_holders[1].waited_ns, 350 * MS);
	assert_float_equal(session.cpu_holders[1].share, 1, 0);
}

static void test_none(void **state)
{
	(void)state;
	blame = blame_new(is_target, NULL);
	finish();
	assert_int_equal(session.ncpu_holders, 0);
}

/* The kernel's own stat and status of a thread that is not its process' first. */
static void *hold_fifo(void *arg)
{
	struct sched_param param = {.sched_priority = 42};
	int *tid = arg;

	pthread_setname_np(pthread_self(), "rt-holder");
	if (sched_setscheduler(0, SCHED_RR, &param))
		*tid = -1;
	else
		__atomic_store_n(tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	pause();
	return NULL;
}

static void test_real_thread(void **state)
{
	const struct cpu_holder *row;
	pthread_t thread;
	int tid = 0;

	(void)state;
	procfs_set_root(NULL);
	assert_int_equal(pthread_create(&thread, NULL, hold_fifo, &tid), 0);
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		usleep(100);
	if (tid < 0)
		skip();
	blame = blame_new(is_target, NULL);
	add(101, tid, "rt-holder", 5);
	add(101, 2, "kthreadd", 4);
	finish();
	row = session.cpu_holders;
	assert_int_equal(session.ncpu_holders, 2);
	assert_int_equal(row[0].kind, HOLDER_PROCESS);
	assert_int_equal(row[0].holder_pid, getpid());
	assert_string_equal(row[0].process, "test_blame");
	assert_int_equal(row[0].policy, SCHED_RR);
	assert_int_equal(row[0].rt_priority, 42);
	assert_int_equal(row[1].kind, HOLDER_KERNEL);
}

static void put_usage(pid_t pid, const char *comm, int utime, int stime, int starttime)
{
	char text[512];

	snprintf(text, sizeof(text), "%d (%s) S 1 1 1 0 -1 0 0 0 0 0 %d %d 0 0 20 0 1 0 %d 0\n",
		 pid, comm, utime, stime, starttime);
	put(pid, "stat", text);
}

static void test_top(void **state)
{
	const long hz = sysconf(_SC_CLK_TCK);
	struct top_watch *watch;

	(void)state;
	put_usage(100, "infer", 0, 0, 1);
	put_usage(200, "hog", hz, hz, 1);
	put_usage(201, "idle", 5 * hz, hz, 1);
	put_usage(202, "reused", 50 * hz, 0, 1);
	for (int i = 0; i < 8; i++)
		put_usage(300 + i, "small", 0, 0, 1);
	watch = top_watch_begin(SECOND);
	assert_non_null(watch);
	put_usage(100, "infer", 10 * hz, 0, 1);
	put_usage(200, "h\033g", 3 * hz, 2 * hz, 1);
	put_usage(202, "reused", 4 * hz, 0, 77);
	put_usage(203, "born", hz, hz, 90);
	for (int i = 0; i < 8; i++)
		put_usage(300 + i, "small", 0, 1 + i, 1);
	top_watch_end(watch, 3 * SECOND, is_target, NULL, &session);
	top_watch_free(watch);
	assert_int_equal(session.ntop_processes, 5);
	assert_int_equal(session.top_processes[0].pid, 202);
	assert_float_equal(session.top_processes[0].cpu_share, 2, 1e-9);
	assert_int_equal(session.top_processes[1].pid, 200);
	assert_float_equal(session.top_processes[1].cpu_share, 1.5, 1e-9);
	assert_string_equal(session.top_processes[1].comm, "h\\x1bg");
	assert_int_equal(session.top_processes[2].pid, 203);
	assert_int_equal(session.top_processes[3].pid, 307);
	assert_int_equal(session.top_processes[4].pid, 306);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, drop_root)
		TEST(test_kinds),	TEST(test_name_after_an_exec),
		TEST(test_sums),	TEST(test_exited),
		TEST(test_waited),	TEST(test_none),
		TEST(test_real_thread), TEST(test_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
