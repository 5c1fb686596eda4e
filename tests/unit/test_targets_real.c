/* SPDX-License-Identifier: GPL-2.0-only */
/* Targets in the real /proc: threads, kernel threads, other PID namespaces. */
#include "target_set.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int start_real(void **state)
{
	(void)state;
	clear();
	return procfs_set_root(NULL);
}

static int end_real(void **state)
{
	(void)state;
	targets_free(&set);
	return 0;
}

static void write_pids(int fd, pid_t a, pid_t b)
{
	pid_t pids[2] = {a, b};

	if (write(fd, pids, sizeof(pids)) != sizeof(pids))
		_exit(1);
}

static void *report_thread(void *arg)
{
	write_pids(*(int *)arg, getpid(), (pid_t)syscall(SYS_gettid));
	for (;;)
		pause();
	return NULL;
}

static pid_t fork_with_thread(pid_t pids[2])
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "tt) (test\x01");
		if (pthread_create(&thread, NULL, report_thread, &fds[1]))
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], pids, 2 * sizeof(pid_t)), 2 * sizeof(pid_t));
	close(fds[0]);
	return pid;
}

static void test_real_processes(void **state)
{
	char word[32], want[128];
	struct found f = {0};
	pid_t pids[2], pid;

	(void)state;
	if (procfs_self() != getpid() || getppid() < 1) {
		print_message("skipped: our parent, or /proc, is of another PID namespace\n");
		skip();
	}
	pid = fork_with_thread(pids);
	snprintf(word, sizeof(word), "%d", getpid());
	assert_int_equal(add(word), -EPERM);
	snprintf(word, sizeof(word), "%d", pid);
	assert_int_equal(add(word), 0);
	assert_int_equal(set.items[0].pid, pid);
	assert_string_equal(set.items[0].comm, "tt) (test\x01");
	assert_string_equal(notes, "");
	snprintf(word, sizeof(word), "%d,%d", pids[1], getppid());
	assert_int_equal(add(word), 0);
	snprintf(want, sizeof(want),
		 "%d is a thread of process %d (tt) (test\\x01): tracing the whole process\n",
		 pids[1], pid);
	assert_string_equal(notes, want);
	assert_int_equal(set.n, 2);
	assert_int_equal(targets_descendants(&set, keep_child, &f), 0);
	assert_false(has(&f, getpid())); /* though our parent is a target */
	clear();
	assert_int_equal(targets_add_name(&set, "tt) (test\x01", err, sizeof(err)), 0);
	assert_int_equal(set.n, 1);
	assert_int_equal(set.items[0].pid, pid);

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	clear();
	snprintf(word, sizeof(word), "%d", pid);
	assert_int_equal(add(word), -ESRCH);
}

static void test_real_kernel_thread(void **state)
{
	struct procfs_stat st;
	int ret;

	(void)state;
	if (procfs_task_stat(2, PROCFS_PROCESS, &st) || !procfs_is_kthread(&st)) {
		print_message("skipped: PID 2 is no kernel thread here (a container?)\n");
		skip();
	}
	ret = add("2");
	if (ret == 0 || ret == -ENOTUNIQ) {
		print_message("skipped: a container on this machine has a PID 2\n");
		skip();
	}
	assert_int_equal(ret, -EPERM);
	assert_non_null(strstr(err, "PID 2 is the kernel thread kthreadd"));
}

/* The first process of a new namespace: forks until a pid comes that does not exist outside */
static void run_inner_init(int fd)
{
	char path[32], self[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3000; i++) {
		pid_t pid = fork();

		if (pid < 0)
			_exit(1);
		if (pid == 0) {
			ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

			snprintf(path, sizeof(path), "/proc/%d", getpid());
			if (n <= 0 || access(path, F_OK) == 0)
				_exit(0);
			self[n] = 0;
			write_pids(fd, getpid(), (pid_t)atoi(self));
			for (;;)
				pause();
		}
		snprintf(path, sizeof(path), "/proc/%d", pid);
		if (access(path, F_OK))
			break;
		waitpid(pid, NULL, 0);
	}
	close(fd);
	for (;;)
		pause();
}

/* Ends at once where namespaces are not permitted */
static void run_outer(int fd)
{
	pid_t init;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWPID))
		_exit(0);
	init = fork();
	if (init == 0)
		run_inner_init(fd);
	if (init < 0)
		_exit(0);
	write_pids(fd, init, 0);
	close(fd);
	for (;;)
		pause();
}

static void check_nested(const pid_t inner[2])
{
	char word[16], want[160];

	snprintf(word, sizeof(word), "%d", inner[0]);
	assert_int_equal(add(word), 0);
	assert_int_equal(set.n, 1);
	assert_int_equal(set.items[0].pid, inner[1]);
	snprintf(want, sizeof(want),
		 "PID %d does not exist here; using %d (%s), which is PID %d inside a container\n",
		 inner[0], inner[1], set.items[0].comm, inner[0]);
	assert_string_equal(notes, want);
}

static void test_real_namespace(void **state)
{
	pid_t pids[2], outer, init = 0, inner[2] = {0, 0};
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	outer = fork();
	assert_true(outer >= 0);
	if (outer == 0) {
		close(fds[0]);
		run_outer(fds[1]);
	}
	close(fds[1]);
	/* The pid of the new init comes with a 0, its child's inner and outer pid; in any order */
	while ((!init || !inner[0]) && read(fds[0], pids, sizeof(pids)) == sizeof(pids)) {
		if (pids[1] == 0)
			init = pids[0];
		else
			memcpy(inner, pids, sizeof(inner));
	}
	close(fds[0]);
	if (init > 0 && inner[0] > 0)
		check_nested(inner);
	if (init > 0)
		kill(init, SIGKILL);
	kill(outer, SIGKILL);
	assert_int_equal(waitpid(outer, NULL, 0), outer);
	if (init <= 0 || inner[0] <= 0) {
		print_message("skipped: a PID namespace cannot be made (not root?)\n");
		skip();
	}
}

static void check_inside(void)
{
	int ret = targets_check_own_namespace(err, sizeof(err));

	_exit(ret == -EXDEV && strstr(err, "--pid=host") && !strchr(err, '\n') ? 10 : 11);
}

static void test_real_own_namespace(void **state)
{
	uint64_t inode;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(procfs_ns_pid_inode(0, &inode), 0);
	assert_int_equal(targets_check_own_namespace(err, sizeof(err)),
			 inode == PROCFS_INIT_PID_NS ? 0 : -EXDEV);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (unshare(CLONE_NEWPID))
			_exit(0);
		pid = fork();
		if (pid == 0)
			check_inside();
		_exit(waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
									   : 12);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 0) {
		print_message("skipped: a PID namespace cannot be made (not root?)\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 10);
}

int main(void)
{
#define REAL(t) cmocka_unit_test_setup_teardown(t, start_real, end_real)
	const struct CMUnitTest tests[] = {
		REAL(test_real_processes),
		REAL(test_real_kernel_thread),
		REAL(test_real_namespace),
		REAL(test_real_own_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
