/* SPDX-License-Identifier: GPL-2.0-only */
/* Where sleepers sleep and on what: files of /proc in every form, and real sleepers of each kind. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/types.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi.h"
#include "probe/waits/fd_names.h"
#include "probe/procfs.h"
#include "probe/waits/sleep_site.h"
#include "real_sleepers.h"

static char root[64];

static void put(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void put_link(const char *path, const char *target)
{
	char full[PATH_MAX];

	put(path, "");
	snprintf(full, sizeof(full), "%s/%s", root, path);
	assert_int_equal(unlink(full), 0);
	assert_int_equal(symlink(target, full), 0);
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/sleep-site-XXXXXX");
	return mkdtemp(root) ? procfs_set_root(root) : -1;
}

static int drop_root(void **state)
{
	char command[128];

	(void)state;
	procfs_set_root(NULL);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void test_syscall_forms(void **state)
{
	static struct sleep_site site;

	(void)state;
	put("7/task/8/syscall",
	    "29 0x5 0xc0184800 0x7fe4 0x0 0xffffffffffffffff 0x1 0x7ff0 0xffff8\n");
	assert_int_equal(sleep_site_read(&site, 7, 8), 0);
	assert_int_equal(site.syscall, 29);
	assert_true(site.args_known);
	assert_int_equal(site.args[0], 5);
	assert_true(site.args[4] == UINT64_MAX);
	assert_int_equal(site.nframes, 0);
	put("7/task/8/syscall", "-1 0x7fff84bf3c00 0x5582fb309133\n");
	assert_int_equal(sleep_site_read(&site, 7, 8), 0);
	assert_int_equal(site.syscall, WAIT_SYSCALL_NONE);
	assert_false(site.args_known);
	put("7/task/8/syscall", "-1 0x0 0x0\n"); /* dead */
	assert_int_equal(sleep_site_read(&site, 7, 8), 0);
	assert_int_equal(site.syscall, WAIT_SYSCALL_UNKNOWN);
	put("7/task/8/syscall", "running\n");
	assert_int_equal(sleep_site_read(&site, 7, 8), 0);
	assert_true(site.running);
	assert_int_equal(sleep_site_read(&site, 7, 9), -ESRCH);
	assert_int_equal(sleep_site_read(&site, 0, 9), -EINVAL);
}

static void test_syscall_damaged(void **state)
{
	static const char *const broken[] = {
		"",
		"\n",
		"x",
		"29",
		"29 0x1",
		"29 0x1 0x2 0x3 0x4 0x5 zz",
		"99999999999999999999999 0x1 0x2 0x3 0x4 0x5 0x6",
		"-1",
		"-1 0x1",
		"4294967296 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8",
	};
	static struct sleep_site site;

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		put("7/task/8/syscall", broken[i]);
		assert_int_equal(sleep_site_read(&site, 7, 8), 0);
		assert_int_equal(site.syscall, WAIT_SYSCALL_UNKNOWN);
		assert_false(site.args_known);
		assert_false(site.running);
		assert_int_equal(sleep_site_fd(&site), -1);
	}
}

static void test_stack_forms(void **state)
{
	static struct sleep_site site;

	(void)state;
	put("7/task/8/stack", "[<0>] gk20a_channel_wait+0x1b8/0x2e0 [nvgpu]\n"
			      "[<0>] __arm64_sys_ioctl+0xac/0xf0\n");
	assert_int_equal(sleep_site_read(&site, 7, 8), 0);
	assert_int_equal(site.nframes, 2);
	assert_string_equal(site.frames[0], "gk20a_channel_wait");
	assert_string_equal(site.frames[1], "__arm64_sys_ioctl");
	assert_int_equal(site.syscall, WAIT_SYSCALL_UNKNOWN);
	/* Linux 4.9 */
	put("7/task/8/stack", "[<ffffff8008084f40>] __switch_to+0x98/0xb0\n"
			      "[<ffffff80086b1c30>] nvhost_syncpt_wait_timeout+0x298/0x4a8\n"
			      "[<ffffffffffffffff>] 0xffffffffffffffff\n");
	assert_int_equal(sleep_site_read(&site, 7, 8), 0);
	assert_int_equal(site.nframes, 2);
	assert_string_equal(site.frames[1], "nvhost_syncpt_wait_timeout");
	/* no stack: the wait channel */
	put("7/task/8/stack", "");
	put("7/task/8/wchan", "futex_wait_queue");
	assert_int_equal(sleep_site_read(&site, 7, 8), 0);
	assert_int_equal(site.nframes, 1);
	assert_string_equal(site.frames[0], "futex_wait_queue");
	put("7/task/8/wchan", "0");
	assert_int_equal(sleep_site_read(&site, 7, 8), 0);
	assert_int_equal(site.nframes, 0);
}

static void test_stack_damaged(void **state)
{
	static const char *const broken[] = {
		"\n\n",		  "[", "[<0>", "[<0>]", "[<0>] \n", "]]]\n", "[<0>] +0x1/0x2\n",
		"name+0x1/0x2\n",
	};
	static struct sleep_site site;
	static char text[8192];

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		put("7/task/8/stack", broken[i]);
		assert_int_equal(sleep_site_read(&site, 7, 8), 0);
		assert_int_equal(site.nframes, 0);
	}
	for (int i = 0; i < 100; i++)
		strcat(text, "[<0>] a_function_of_a_rather_long_name_as_they_are_seldom+0x1/0x2\n");
	put("7/task/8/stack", text);
	assert_int_equal(sleep_site_read(&site, 7, 8), 0);
	assert_int_equal(site.nframes, SLEEP_SITE_FRAMES);
	put("7/task/8/stack", "[<0>] \x1b[2J\xff+0x1/0x2\n");
	assert_int_equal(sleep_site_read(&site, 7, 8), 0);
	assert_string_equal(site.frames[0], "\\x1b[2J\\xff");
}

static void test_descriptor_names(void **state)
{
	struct fd_names *names = fd_names_new();
	char long_target[200], link[32], full[PATH_MAX];

	(void)state;
	assert_non_null(names);
	memset(long_target, 'x', sizeof(long_target) - 1);
	long_target[0] = '/';
	long_target[sizeof(long_target) - 1] = 0;
	put_link("7/fd/5", "/dev/nvhost-ctrl");
	put_link("7/fd/6", "socket:[4711]");
	put_link("7/fd/7", "/tmp/\x1b[2J");
	put_link("7/fd/8", long_target);
	put_link("70/fd/5", "pipe:[9]");
	assert_string_equal(fd_names_get(names, 7, 5), "/dev/nvhost-ctrl");
	assert_string_equal(fd_names_get(names, 70, 5), "pipe:[9]");
	assert_string_equal(fd_names_get(names, 7, 6), "socket:[4711]");
	assert_string_equal(fd_names_get(names, 7, 7), "/tmp/\\x1b[2J");
	assert_true(strlen(fd_names_get(names, 7, 8)) < sizeof(long_target));
	assert_null(fd_names_get(names, 7, 99));
	assert_null(fd_names_get(names, 8, 5));
	assert_null(fd_names_get(names, 0, 5));
	assert_null(fd_names_get(names, 7, -1));
	/* more than it can hold; each is still right */
	for (int fd = 100; fd < 5000; fd++) {
		char target[32];

		snprintf(link, sizeof(link), "9/fd/%d", fd);
		snprintf(target, sizeof(target), "/f%d", fd);
		put_link(link, target);
		assert_string_equal(fd_names_get(names, 9, fd), target);
	}
	assert_string_equal(fd_names_get(names, 7, 5), "/dev/nvhost-ctrl");
	/* asked once: a descriptor closed since keeps its name until it is asked for anew */
	snprintf(full, sizeof(full), "%s/7/fd/5", root);
	assert_int_equal(unlink(full), 0);
	assert_string_equal(fd_names_get(names, 7, 5), "/dev/nvhost-ctrl");
	fd_names_forget(names);
	assert_null(fd_names_get(names, 7, 5));
	put_link("7/fd/5", "pipe:[9]");
	fd_names_forget(names);
	assert_string_equal(fd_names_get(names, 7, 5), "pipe:[9]");
	fd_names_free(names);
}

static void test_descriptors_of_one_kind(void **state)
{
	(void)state;
	assert_true(fd_names_alike("pipe:[9]", "pipe:[4711]"));
	assert_true(fd_names_alike("socket:[9]", "socket:[10]"));
	assert_true(fd_names_alike("/dev/nvmap", "/dev/nvmap"));
	assert_false(fd_names_alike("pipe:[9]", "socket:[9]"));
	assert_false(fd_names_alike("anon_inode:[eventfd]", "anon_inode:[timerfd]"));
	assert_false(fd_names_alike("socket unix", "socket tcp"));
	assert_false(fd_names_alike("/a:[1]", "/a:[2]"));
	assert_false(fd_names_alike("", "pipe:[9]"));
}

static void test_socket_protocols(void **state)
{
	static const struct {
		int family, type;
		const char *name;
	} kinds[] = {
		{AF_UNIX, SOCK_STREAM, "socket unix"}, {AF_UNIX, SOCK_DGRAM, "socket unix"},
		{AF_INET, SOCK_STREAM, "socket tcp"},  {AF_INET, SOCK_DGRAM, "socket udp"},
		{AF_INET6, SOCK_STREAM, "socket tcp"},
	};
	struct fd_names *names = fd_names_new();
	const char *name;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		fd = socket(kinds[i].family, kinds[i].type, 0);
		if (fd < 0)
			continue; /* no IPv6 */
		name = fd_names_get(names, getpid(), fd);
		assert_non_null(name);
		assert_string_equal(name, kinds[i].name);
		/* kept open: the next one gets another number */
	}
	fd_names_free(names);
}

/* Real sleepers, each in a child. */

static char buffer[4096];

static void sleep_in_futex(void)
{
	int word = 0;

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void sleep_in_mutex(void)
{
	int word = 2;

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void sleep_in_nanosleep(void)
{
	sleep(600);
}

static void sleep_in_poll(void)
{
	struct pollfd fd = {.fd = socket(AF_INET, SOCK_DGRAM, 0), .events = POLLIN};

	poll(&fd, 1, -1);
}

static void sleep_in_epoll(void)
{
	struct epoll_event event;

	epoll_wait(epoll_create1(0), &event, 1, -1);
}

static void sleep_in_pipe(void)
{
	int fds[2];

	if (!pipe(fds) && read(fds[0], buffer, 1) < 0)
		_exit(1);
}

static void sleep_in_eventfd(void)
{
	if (read(eventfd(0, 0), buffer, 8) < 0)
		_exit(1);
}

static void sleep_in_timerfd(void)
{
	struct itimerspec when = {.it_value = {600, 0}};
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	timerfd_settime(fd, 0, &when, NULL);
	if (read(fd, buffer, 8) < 0)
		_exit(1);
}

static void sleep_in_unix_socket(void)
{
	int fds[2];

	if (!socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		recv(fds[0], buffer, 1, 0);
}

static void sleep_in_udp(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)))
		recv(fd, buffer, 1, 0);
}

static void sleep_in_accept(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (!listen(fd, 1))
		accept(fd, NULL, NULL);
}

static void sleep_in_wait(void)
{
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	waitpid(child, NULL, 0);
}

static void sleep_in_flock(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/sleep-site-lock-%d", getpid());
	flock(open(path, O_RDWR | O_CREAT, 0600), LOCK_EX);
	unlink(path);
	flock(open("/proc/self/fd/3", O_RDWR), LOCK_EX); /* the first one's file */
}

static void sleep_in_terminal(void)
{
	int controller = posix_openpt(O_RDWR | O_NOCTTY);
	int fd;

	if (grantpt(controller) || unlockpt(controller))
		_exit(1);
	fd = open(ptsname(controller), O_RDWR | O_NOCTTY);
	if (read(fd, buffer, 1) < 0)
		_exit(1);
}

static const struct sleeper {
	const char *name;
	void (*sleep)(void);
	enum wait_class class; /* with no waker */
	const char *site;      /* NULL: the architectures differ */
} sleepers[] = {
	{"futex", sleep_in_futex, WAIT_THREAD, "futex"},
	{"nanosleep", sleep_in_nanosleep, WAIT_TIMER, "clock_nanosleep"},
	{"poll", sleep_in_poll, WAIT_EVENT, NULL},
	{"epoll", sleep_in_epoll, WAIT_EVENT, NULL},
	{"pipe", sleep_in_pipe, WAIT_EVENT, "read pipe"},
	{"eventfd", sleep_in_eventfd, WAIT_EVENT, "read eventfd"},
	{"timerfd", sleep_in_timerfd, WAIT_TIMER, "read timerfd"},
	{"unix socket", sleep_in_unix_socket, WAIT_EVENT, "recvfrom socket unix"},
	{"udp", sleep_in_udp, WAIT_NET, "recvfrom socket udp"},
	{"accept", sleep_in_accept, WAIT_NET, "accept socket tcp"},
	{"wait", sleep_in_wait, WAIT_CHILD, "wait4"},
	{"flock", sleep_in_flock, WAIT_LOCK, NULL},
	{"terminal", sleep_in_terminal, WAIT_DEVICE, NULL},
};

static pid_t start(void (*sleep_somewhere)(void))
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int fd = 3; fd < 256; fd++) /* so that its own begin at 3 */
			close(fd);
		sleep_somewhere();
		_exit(1);
	}
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static struct wait_judgement judge(struct wait_site site)
{
	struct wait_evidence evidence = {.site = site};
	struct wait_judgement judgement;

	wait_judge(&evidence, &judgement);
	return judgement;
}

static void check_judgement(const struct sleeper *sleeper, const char *rung,
			    const struct wait_judgement *judgement)
{
	if (judgement->class != sleeper->class)
		fail_msg("%s, %s: %s (%s)", sleeper->name, rung, wait_class_name(judgement->class),
			 judgement->site);
	if (sleeper->site && strcmp(judgement->site, sleeper->site))
		fail_msg("%s, %s: site '%s'", sleeper->name, rung, judgement->site);
}

/* The rung with syscall numbers and the one with stacks must say the same of the same sleep */
static void test_real_sleepers_by_syscall_and_by_stack(void **state)
{
	struct fd_names *names = fd_names_new();
	static struct sleep_site site;

	(void)state;
	for (size_t i = 0; i < sizeof(sleepers) / sizeof(sleepers[0]); i++) {
		const struct sleeper *sleeper = &sleepers[i];
		pid_t pid = start(sleeper->sleep);
		struct wait_judgement by_call, by_stack, by_both;
		struct wait_site evidence;
		const char *file;

		wait_until_asleep(pid, pid, &site);
		file = fd_names_get(names, pid, sleep_site_fd(&site));
		evidence = sleep_site_evidence(&site, file);
		by_both = judge(evidence);
		evidence.nframes = 0;
		by_call = judge(evidence);
		evidence = sleep_site_evidence(&site, NULL);
		evidence.syscall = WAIT_SYSCALL_UNKNOWN;
		by_stack = judge(evidence);
		stop(pid);
		check_judgement(sleeper, "both", &by_both);
		check_judgement(sleeper, "by syscall", &by_call);
		if (site.nframes > 2) /* the kernel gives stacks to root */
			check_judgement(sleeper, "by stack", &by_stack);
	}
	fd_names_free(names);
}

static void test_real_mutex_wait_is_a_lock(void **state)
{
	static struct sleep_site site;
	pid_t pid = start(sleep_in_mutex);

	(void)state;
	wait_until_asleep(pid, pid, &site);
	stop(pid);
	assert_int_equal(judge(sleep_site_evidence(&site, NULL)).class, WAIT_LOCK);
}

#define FIXTURE(name) cmocka_unit_test_setup_teardown(name, make_root, drop_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE(test_syscall_forms),
		FIXTURE(test_syscall_damaged),
		FIXTURE(test_stack_forms),
		FIXTURE(test_stack_damaged),
		FIXTURE(test_descriptor_names),
		cmocka_unit_test(test_descriptors_of_one_kind),
		cmocka_unit_test(test_socket_protocols),
		cmocka_unit_test(test_real_sleepers_by_syscall_and_by_stack),
		cmocka_unit_test(test_real_mutex_wait_is_a_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
