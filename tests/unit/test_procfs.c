/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/procfs.h"

/* Fields 4 to 22 of a stat line and the rest of it, as Linux 5.15 prints them */
#define STAT_HEAD "77 12 12 0 -1 4194560 1500 0 23 0 812 344 0 0 20 0 9 0 56789"
#define STAT_TAIL                                                                                \
	" 1404780544 8432 18446744073709551615 1 1 0 0 0 0 0 16781312 134234626 0 0 0 17 5 0 0 " \
	"41 "                                                                                    \
	"0 0 0 0 0 0 0 0 0 0\n"

static char root[64];

static void put_bytes(const char *path, const char *text, size_t len)
{
	char full[PATH_MAX];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

static void put_link(const char *path, const char *target)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	assert_int_equal(symlink(target, full), 0);
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/procfs-XXXXXX");
	return mkdtemp(root) ? procfs_set_root(root) : -1;
}

static int drop_root(void **state)
{
	char cmd[128];

	(void)state;
	procfs_set_root(NULL);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	return system(cmd);
}

static void test_stat_fields(void **state)
{
	struct procfs_stat st;

	(void)state;
	put("100/stat", "100 (infer) S " STAT_HEAD STAT_TAIL);
	put("100/task/101/stat", "101 (preproc-1) R " STAT_HEAD STAT_TAIL);
	assert_int_equal(procfs_task_stat(100, PROCFS_PROCESS, &st), 0);
	assert_string_equal(st.comm, "infer");
	assert_int_equal(st.state, 'S');
	assert_int_equal(st.ppid, 77);
	assert_int_equal(st.flags, 4194560);
	assert_int_equal(st.minflt, 1500);
	assert_int_equal(st.majflt, 23);
	assert_int_equal(st.utime_ticks, 812);
	assert_int_equal(st.stime_ticks, 344);
	assert_int_equal(st.num_threads, 9);
	assert_int_equal(st.starttime_ticks, 56789);
	assert_int_equal(st.processor, 5);
	assert_int_equal(st.blkio_delay_ticks, 41);
	assert_false(procfs_is_kthread(&st));
	assert_int_equal(procfs_task_stat(100, 101, &st), 0);
	assert_string_equal(st.comm, "preproc-1");
	assert_int_equal(procfs_task_stat(100, 102, &st), -ESRCH);
	assert_int_equal(procfs_task_stat(99, PROCFS_PROCESS, &st), -ESRCH);
	assert_int_equal(procfs_task_stat(0, PROCFS_PROCESS, &st), -EINVAL);
	assert_int_equal(procfs_task_stat(-5, PROCFS_PROCESS, &st), -EINVAL);
}

static void test_stat_hostile_names(void **state)
{
	static const char *const names[] = {
		"a) (b",	   "a b c",	      ") R 1 1 (", ")",	       "((",
		"\x1b[2J\x01\xff", "x\ny) S 1 2 3\n", "",	   "\xe6\x8e",
	};
	char text[512];
	struct procfs_stat st;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "7 (%s) D " STAT_HEAD STAT_TAIL, names[i]);
		put("7/stat", text);
		assert_int_equal(procfs_task_stat(7, PROCFS_PROCESS, &st), 0);
		assert_string_equal(st.comm, names[i]);
		assert_int_equal(st.state, 'D');
		assert_int_equal(st.ppid, 77);
	}
	snprintf(text, sizeof(text), "7 (%0200d) S " STAT_HEAD STAT_TAIL, 1);
	put("7/stat", text);
	assert_int_equal(procfs_task_stat(7, PROCFS_PROCESS, &st), 0);
	assert_int_equal(strlen(st.comm), PROCFS_COMM_SIZE - 1);
}

static void test_stat_unknown_and_broken(void **state)
{
	static const char *const broken[] = {
		"",
		"\n",
		"7",
		"7 (x",
		"7 x) S " STAT_HEAD,
		"7 )x( S " STAT_HEAD,
		"7 (x)",
		"7 (x) ",
		"7 (x) 1 " STAT_HEAD,
		"7 (x) S",
		"7 (x) S 1 2 3\n",
		"7 (x) S x 12 12 0 -1 4194560 1500 0 23 0 812 344 0 0 20 0 9 0 56789",
		"7 (x) S -4 12 12 0 -1 4194560 1500 0 23 0 812 344 0 0 20 0 9 0 56789",
		"7 (x) S 4294967296 12 12 0 -1 4194560 1500 0 23 0 812 344 0 0 20 0 9 0 56789",
		"7 (x) S 1 12 12 0 -1 4194560 1500 0 23 0 812 344 0 0 20 0 9 0 5x",
		"7 (x) S 1 12 12 0 -1 1 1 0 2 0 8 3 0 0 20 0 9 0 18446744073709551616",
		"7 (x) S 1 12 12 0 -1 1 99999999999999999999 0 2 0 8 3 0 0 20 0 9 0 1",
	};
	struct procfs_stat st;

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		put("7/stat", broken[i]);
		assert_int_equal(procfs_task_stat(7, PROCFS_PROCESS, &st), -EBADMSG);
	}
	put("7/stat", "7 (x) S " STAT_HEAD "\n");
	assert_int_equal(procfs_task_stat(7, PROCFS_PROCESS, &st), 0);
	assert_int_equal(st.processor, PROCFS_UNKNOWN);
	assert_int_equal(st.blkio_delay_ticks, PROCFS_UNKNOWN);
	put("7/stat", "7 (x) S 1 12 12 0 -1 1 1 0 2 0 8 3 0 0 20 0 9 0 18446744073709551615");
	assert_int_equal(procfs_task_stat(7, PROCFS_PROCESS, &st), 0);
	assert_true(st.starttime_ticks == UINT64_MAX);
}

static void test_dead_and_kthread(void **state)
{
	struct procfs_stat st;

	(void)state;
	put("2/stat", "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 3 0 0 20 0 1 0 4\n");
	assert_int_equal(procfs_task_stat(2, PROCFS_PROCESS, &st), 0);
	assert_true(procfs_is_kthread(&st));
	assert_false(procfs_is_dead(&st));
	put("8/stat", "8 (gone) Z 1 8 8 0 -1 4194304 0 0 0 0 0 3 0 0 20 0 1 0 4\n");
	assert_int_equal(procfs_task_stat(8, PROCFS_PROCESS, &st), 0);
	assert_true(procfs_is_dead(&st));
	put("8/stat", "8 (main left) Z 1 8 8 0 -1 4194304 0 0 0 0 0 3 0 0 20 0 4 0 4\n");
	assert_int_equal(procfs_task_stat(8, PROCFS_PROCESS, &st), 0);
	assert_false(procfs_is_dead(&st));
}

static void test_schedstat(void **state)
{
	uint64_t oncpu = 9, runq = 9, slices = 9;

	(void)state;
	put("100/stat", "100 (infer) S " STAT_HEAD STAT_TAIL);
	assert_int_equal(procfs_schedstat(100, 0, &oncpu, &runq, &slices), -EOPNOTSUPP);
	assert_int_equal(procfs_schedstat(101, 0, &oncpu, &runq, &slices), -ESRCH);
	put("100/task/100/schedstat", "18446744073709551615 2000000 31\n");
	assert_int_equal(procfs_schedstat(100, 100, &oncpu, &runq, &slices), 0);
	assert_true(oncpu == UINT64_MAX);
	assert_int_equal(runq, 2000000);
	assert_int_equal(slices, 31);

	put("100/schedstat", "0 0 0\n");
	assert_int_equal(procfs_schedstat(100, 0, &oncpu, &runq, &slices), -EOPNOTSUPP);
	put("self/schedstat", "0 0 0\n");
	assert_int_equal(procfs_schedstat(100, 0, &oncpu, &runq, &slices), -EOPNOTSUPP);
	put("self/schedstat", "5 6 7\n");
	assert_int_equal(procfs_schedstat(100, 0, &oncpu, &runq, &slices), 0);
	assert_int_equal(slices, 0);

	put("100/schedstat", "1 2\n");
	assert_int_equal(procfs_schedstat(100, 0, &oncpu, &runq, &slices), -EBADMSG);
	put("100/schedstat", "1 2 18446744073709551616\n");
	assert_int_equal(procfs_schedstat(100, 0, &oncpu, &runq, &slices), -EBADMSG);
}

static void test_status(void **state)
{
	struct procfs_status st;
	static char big[40000] = "Name:\ta\\nTgid:\\t5\nTgid:\t100\nPid:\t101\nPPid:\t0\n"
				 "Uid:\t1000\t0\t1000\t1000\nGroups:\t";

	(void)state;
	/* Lines longer than any buffer come before the ones that matter */
	for (size_t n = strlen(big); n < 30000; n += 6)
		strcpy(big + n, "65534 ");
	strcat(big, "\nNStgid:\t100\t7\nNSpid:\t101\t8\nMems_allowed:\t");
	for (size_t n = strlen(big); n < 39000; n += 9)
		strcpy(big + n, "00000000,");
	strcat(big, "\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3");
	put("100/task/101/status", big);
	assert_int_equal(procfs_status(100, 101, &st), 0);
	assert_int_equal(st.tgid, 100);
	assert_int_equal(st.pid, 101);
	assert_int_equal(st.ppid, 0);
	assert_int_equal(st.uid, 1000);
	assert_int_equal(st.euid, 0);
	assert_int_equal(st.nspid_count, 2);
	assert_int_equal(st.nspid[0], 101);
	assert_int_equal(st.nspid[1], 8);
	assert_int_equal(st.voluntary_switches, 12);
	assert_int_equal(st.nonvoluntary_switches, 3);

	put("5/status", "Tgid:\t5\nPid:\t5\nUid:\t4294967295\t0\t0\t0\n");
	assert_int_equal(procfs_status(5, PROCFS_PROCESS, &st), 0);
	assert_true(st.uid == 4294967295);
	assert_int_equal(st.ppid, PROCFS_UNKNOWN);
	assert_int_equal(st.nspid_count, PROCFS_UNKNOWN);
	assert_int_equal(st.voluntary_switches, PROCFS_UNKNOWN);
	assert_int_equal(st.nonvoluntary_switches, PROCFS_UNKNOWN);
	assert_int_equal(procfs_status(6, PROCFS_PROCESS, &st), -ESRCH);
}

static void test_status_broken(void **state)
{
	static const char *const broken[] = {
		"",
		"Tgid:\t5\n",
		"Pid:\t5\n",
		"Tgid:\t-5\nPid:\t5\n",
		"Tgid:\nPid:\t5\n",
		"Tgid:\t99999999999\nPid:\t5\n",
		"Tgid:\t5\nPid:\t5\nNSpid:\n",
		"Tgid:\t5\nPid:\t5\nNSpid:\t5\tx\n",
		"Tgid:\t5\nPid:\t5\nUid:\t1\n",
	};
	char text[1024] = "Tgid:\t5\nPid:\t5\nNSpid:";
	struct procfs_status st;

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		put("5/status", broken[i]);
		assert_int_equal(procfs_status(5, PROCFS_PROCESS, &st), -EBADMSG);
	}
	for (int i = 0; i < PROCFS_MAX_NESTING; i++)
		strcat(text, "\t5");
	put("5/status", text);
	assert_int_equal(procfs_status(5, PROCFS_PROCESS, &st), 0);
	assert_int_equal(st.nspid_count, PROCFS_MAX_NESTING);
	strcat(text, "\t5");
	put("5/status", text);
	assert_int_equal(procfs_status(5, PROCFS_PROCESS, &st), -EBADMSG);
}

static void test_comm_and_argv0(void **state)
{
	char buf[32], small[4];

	(void)state;
	put("5/comm", "a\nb\n");
	put_bytes("5/cmdline", "/opt/x y/infer\0--fp16\0", 22);
	assert_int_equal(procfs_comm(5, PROCFS_PROCESS, buf, sizeof(buf)), 3);
	assert_string_equal(buf, "a\nb");
	assert_int_equal(procfs_comm(5, PROCFS_PROCESS, small, 3), 2);
	assert_string_equal(small, "a\n");
	assert_int_equal(procfs_comm(5, 6, buf, sizeof(buf)), -ESRCH);
	assert_int_equal(procfs_argv0(5, buf, sizeof(buf)), 14);
	assert_string_equal(buf, "/opt/x y/infer");
	assert_int_equal(procfs_argv0(5, small, sizeof(small)), -ENAMETOOLONG);
	put("5/cmdline", "");
	assert_int_equal(procfs_argv0(5, buf, sizeof(buf)), -ENODATA);
	assert_int_equal(procfs_argv0(6, buf, sizeof(buf)), -ESRCH);
}

struct seen {
	int n;
	long sum;
	int stop_at;
};

static int see_pid(void *ctx, pid_t pid)
{
	struct seen *s = ctx;

	s->sum += pid;
	return ++s->n == s->stop_at ? 42 : 0;
}

static int see_task(void *ctx, pid_t pid, pid_t tid)
{
	assert_int_equal(pid, 40);
	return see_pid(ctx, tid);
}

static int count_task(void *ctx, pid_t pid, pid_t tid)
{
	assert_int_equal(pid, getpid());
	return see_pid(ctx, tid);
}

static void test_walks(void **state)
{
	struct seen s = {0};
	char path[32];

	(void)state;
	for (int i = 1; i <= 1500; i++) {
		snprintf(path, sizeof(path), "%d/x", i);
		put(path, "");
	}
	put("self/x", "");
	put("12x/x", "");
	put("0/x", "");
	put("-3/x", "");
	put("99999999999999999999999/x", "");
	put("4194305/x", "");
	assert_int_equal(procfs_for_each_pid(see_pid, &s), 0);
	assert_int_equal(s.n, 1500);
	assert_int_equal(s.sum, 1500 * 1501 / 2);
	s = (struct seen){.stop_at = 3};
	assert_int_equal(procfs_for_each_pid(see_pid, &s), 42);
	assert_int_equal(s.n, 3);

	put("40/task/40/x", "");
	put("40/task/41/x", "");
	s = (struct seen){0};
	assert_int_equal(procfs_for_each_task(40, see_task, &s), 0);
	assert_int_equal(s.sum, 81);
	assert_int_equal(procfs_for_each_task(41, see_task, &s), -ESRCH);
}

static void test_cpu_totals(void **state)
{
	static struct procfs_cpu_totals t;
	static char text[120000];
	size_t n;

	(void)state;
	assert_int_equal(procfs_cpu_totals(&t), -ENOENT);
	put("stat", "cpu  100 2 30 4000 5 6 7 8 9 10\ncpu0 10 1 3 400 5 1 2 3 0 0\n"
		    "cpu3 11 1 3 400 5 1 2 3 0 0\ncpu1000 12 1 3 400\nintr 5 0 0\nctxt 1\n");
	assert_int_equal(procfs_cpu_totals(&t), 0);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.dropped, 0);
	assert_int_equal(t.all.id, -1);
	assert_int_equal(t.all.user, 100);
	assert_int_equal(t.all.steal, 8);
	assert_int_equal(t.cpu[1].id, 3);
	assert_int_equal(t.cpu[1].nice, 1);
	assert_int_equal(t.cpu[1].system, 3);
	assert_int_equal(t.cpu[1].idle, 400);
	assert_int_equal(t.cpu[1].iowait, 5);
	assert_int_equal(t.cpu[1].irq, 1);
	assert_int_equal(t.cpu[1].softirq, 2);
	assert_int_equal(t.cpu[2].id, 1000);
	assert_int_equal(t.cpu[2].iowait, PROCFS_UNKNOWN);
	assert_int_equal(t.cpu[2].steal, PROCFS_UNKNOWN);

	n = (size_t)sprintf(text, "cpu  1 2 3 4 5 6 7 8 0 0\n");
	for (int i = 0; i < PROCFS_MAX_CPUS + 5; i++)
		n += (size_t)sprintf(text + n, "cpu%d %d 123456789 3 4 5 6 7 8 0 0\n", i * 2, i);
	put("stat", text);
	assert_int_equal(procfs_cpu_totals(&t), 0);
	assert_int_equal(t.n, PROCFS_MAX_CPUS);
	assert_int_equal(t.dropped, 5);
	assert_int_equal(t.cpu[PROCFS_MAX_CPUS - 1].user, PROCFS_MAX_CPUS - 1);

	put("stat", "cpu  1 2 3 4\ncpu0 1 2 x 4\n");
	assert_int_equal(procfs_cpu_totals(&t), -EBADMSG);
	put("stat", "cpu  1 2 3 4 -5\ncpu0 1 2 3 4\n");
	assert_int_equal(procfs_cpu_totals(&t), -EBADMSG);
	put("stat", "cpux 1 2 3 4\n");
	assert_int_equal(procfs_cpu_totals(&t), -EBADMSG);
	put("stat", "intr 1\n");
	assert_int_equal(procfs_cpu_totals(&t), -EBADMSG);
}

static void test_links_and_sysctl(void **state)
{
	uint64_t inode = 0;
	char deep[3000];

	(void)state;
	assert_int_equal(procfs_ns_pid_inode(0, &inode), -ESRCH);
	assert_int_equal(procfs_self(), getpid());
	put("9/ns/x", "");
	put_link("9/ns/pid", "pid:[4026532777]");
	put_link("self", "9");
	assert_int_equal(procfs_ns_pid_inode(9, &inode), 0);
	assert_int_equal(inode, 4026532777);
	assert_int_equal(procfs_ns_pid_inode(0, &inode), 0);
	assert_int_equal(procfs_self(), 9);
	put("10/ns/x", "");
	put_link("10/ns/pid", "net:[1]");
	assert_int_equal(procfs_ns_pid_inode(10, &inode), -EBADMSG);
	assert_int_equal(procfs_ns_pid_inode(-1, &inode), -EINVAL);

	assert_int_equal(procfs_delayacct(), -ENOENT);
	put("sys/kernel/task_delayacct", "1\n");
	assert_int_equal(procfs_delayacct(), 1);
	put("sys/kernel/task_delayacct", "0\n");
	assert_int_equal(procfs_delayacct(), 0);

	memset(deep, '/', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	assert_int_equal(procfs_set_root(deep), -ENAMETOOLONG);
	assert_int_equal(procfs_self(), 9);
}

static void test_real_proc(void **state)
{
	static struct procfs_cpu_totals cpus;
	struct procfs_stat st;
	struct procfs_status status;
	struct seen s = {0};
	char comm[PROCFS_COMM_SIZE];
	pid_t self = getpid();

	(void)state;
	procfs_set_root(NULL);
	assert_int_equal(procfs_self(), self);
	assert_int_equal(procfs_task_stat(self, PROCFS_PROCESS, &st), 0);
	assert_int_equal(st.state, 'R');
	assert_int_equal(st.ppid, getppid());
	assert_true(st.processor >= 0 && st.starttime_ticks > 0);
	assert_true(procfs_comm(self, self, comm, sizeof(comm)) > 0);
	assert_string_equal(comm, st.comm);
	assert_int_equal(procfs_status(self, self, &status), 0);
	assert_int_equal(status.tgid, self);
	assert_int_equal(status.uid, getuid());
	assert_true(status.nspid_count >= 1 && status.nspid[0] == self);
	assert_true(status.voluntary_switches >= 0);
	assert_int_equal(procfs_for_each_task(self, count_task, &s), 0);
	assert_int_equal(s.n, st.num_threads);
	assert_true(procfs_for_each_pid(see_pid, &s) == 0 && s.n > 1);
	assert_int_equal(procfs_cpu_totals(&cpus), 0);
	assert_int_equal(cpus.n, sysconf(_SC_NPROCESSORS_ONLN));
}

static void test_real_zombie(void **state)
{
	struct procfs_stat st;
	siginfo_t info;
	pid_t pid = fork();

	(void)state;
	procfs_set_root(NULL);
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(procfs_task_stat(pid, PROCFS_PROCESS, &st), 0);
	assert_true(procfs_is_dead(&st));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(procfs_task_stat(pid, PROCFS_PROCESS, &st), -ESRCH);
}

int main(void)
{
#define IN_ROOT(t) cmocka_unit_test_setup_teardown(t, make_root, drop_root)
	const struct CMUnitTest tests[] = {
		IN_ROOT(test_stat_fields),
		IN_ROOT(test_stat_hostile_names),
		IN_ROOT(test_stat_unknown_and_broken),
		IN_ROOT(test_dead_and_kthread),
		IN_ROOT(test_schedstat),
		IN_ROOT(test_status),
		IN_ROOT(test_status_broken),
		IN_ROOT(test_comm_and_argv0),
		IN_ROOT(test_walks),
		IN_ROOT(test_cpu_totals),
		IN_ROOT(test_links_and_sysctl),
		cmocka_unit_test(test_real_proc),
		cmocka_unit_test(test_real_zombie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
