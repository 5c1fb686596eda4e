/* SPDX-License-Identifier: GPL-2.0-only */
/* Targets in a /proc built by hand. */
#include "target_set.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KTHREAD "2129984" /* flags with PF_KTHREAD */
#define USER	"4194560"

static char root[64];
static void put(const char *text, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void put(const char *text, size_t len, const char *fmt, ...)
{
	char full[PATH_MAX];
	size_t n = (size_t)snprintf(full, sizeof(full), "%s/", root);
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(full + n, sizeof(full) - n, fmt, ap);
	va_end(ap);
	for (char *slash = full + n; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put_process_as(int pid, int ppid, const char *comm, char state, const char *flags,
			   const char *nspid, const char *argv0)
{
	char text[512];

	snprintf(text, sizeof(text), "%d (%s) %c %d 1 1 0 -1 %s 0 0 0 0 5 5 0 0 20 0 1 0 %d00\n",
		 pid, comm, state, ppid, flags, pid);
	put(text, strlen(text), "%d/stat", pid);
	snprintf(text, sizeof(text), "Name:\tx\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\nNSpid:\t%s\n", pid,
		 pid, ppid, nspid);
	put(text, strlen(text), "%d/status", pid);
	put(argv0, strlen(argv0) + 1, "%d/cmdline", pid);
}

static void put_process(int pid, int ppid, const char *comm)
{
	char nspid[16];

	snprintf(nspid, sizeof(nspid), "%d", pid);
	put_process_as(pid, ppid, comm, 'S', USER, nspid, "/usr/bin/argv0");
}

static void put_nested(int pid, const char *comm, const char *nspid)
{
	put_process_as(pid, 1, comm, 'S', USER, nspid, "x");
}

static void put_thread(int pid, int tid)
{
	char text[128];

	snprintf(text, sizeof(text), "Tgid:\t%d\nPid:\t%d\nNSpid:\t%d\n", pid, tid, tid);
	put(text, strlen(text), "%d/status", tid);
}

static void be(int pid)
{
	char path[PATH_MAX], name[16];

	snprintf(path, sizeof(path), "%s/self", root);
	snprintf(name, sizeof(name), "%d", pid);
	unlink(path);
	assert_int_equal(symlink(name, path), 0);
}

static int start_fixture(void **state)
{
	(void)state;
	clear();
	snprintf(root, sizeof(root), "/tmp/targets-XXXXXX");
	if (!mkdtemp(root) || procfs_set_root(root))
		return -1;
	be(99);
	put_process(1, 0, "systemd");
	put_process_as(2, 0, "kthreadd", 'S', KTHREAD, "2", "");
	put_process_as(9, 2, "kworker/0:1-ev", 'I', KTHREAD, "9", "");
	put_process(100, 1, "python3");
	put_thread(100, 123);
	put_process_as(55, 44, "done", 'Z', USER, "55", "");
	return 0;
}

static int end_fixture(void **state)
{
	char cmd[128];

	(void)state;
	targets_free(&set);
	procfs_set_root(NULL);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	return system(cmd);
}

static void expect_refused(const char *list, int code, const char *line)
{
	int before = set.n;

	assert_int_equal(add(list), code);
	assert_string_equal(err, line);
	assert_int_equal(set.n, before);
}

static void test_words(void **state)
{
	static const char *const garbage[][2] = {
		{"x", "x"},
		{"12x", "12x"},
		{"-5", "-5"},
		{"+5", "+5"},
		{"1.5", "1.5"},
		{"0x10", "0x10"},
		{"100,", ""},
		{",100", ""},
		{"100,,1", ""},
		{"100;1", "100;1"},
		{"1e3", "1e3"},
		{"100, ,1", ""},
		{"\x1b[2J", "\\x1b[2J"},
		{"\xff", "\\xff"},
		{"\xe2\x80\xae"
		 "1",
		 "\\xe2\\x80\\xae1"},
	};
	static const char *const out_of_range[] = {
		"0",
		"000",
		"4194305",
		"4294967396",
		"18446744073709551716",
		"99999999999999999999999999999999999999999",
	};
	char line[256];

	(void)state;
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		snprintf(line, sizeof(line),
			 "'%s' is not a PID: give plain decimal numbers, as in -p 123,456",
			 garbage[i][1]);
		expect_refused(garbage[i][0], -EINVAL, line);
	}
	for (size_t i = 0; i < sizeof(out_of_range) / sizeof(out_of_range[0]); i++) {
		snprintf(line, sizeof(line), "'%s' is not a PID: PIDs are from 1 to 4194304",
			 out_of_range[i]);
		expect_refused(out_of_range[i], -EINVAL, line);
	}
	expect_refused("", -EINVAL,
		       "the list of PIDs is empty: no such process ran when it was made? List "
		       "candidates with pgrep -a NAME");
	assert_int_equal(add(" \n"), -EINVAL);
	assert_string_equal(notes, "");
}

static void test_plain_pids(void **state)
{
	(void)state;
	assert_int_equal(add("100"), 0);
	assert_int_equal(set.n, 1);
	assert_int_equal(set.items[0].pid, 100);
	assert_string_equal(set.items[0].comm, "python3");
	assert_int_equal(set.items[0].starttime, 10000);
	assert_int_equal(add("1,100,1"), 0);
	assert_int_equal(set.n, 2);
	assert_int_equal(add(" 100 1\n"), 0); /* what pidof and pgrep print */
	assert_int_equal(add("0000100 , 1"), 0);
	assert_int_equal(set.n, 2);
	assert_string_equal(notes, "");
}

static void test_all_or_none(void **state)
{
	(void)state;
	expect_refused("100,1,7", -ESRCH,
		       "no process 7: it has ended or was never here; list candidates with "
		       "pgrep -a NAME");
	assert_int_equal(set.n, 0);
	assert_int_equal(add("1"), 0);
	expect_refused("100,x", -EINVAL,
		       "'x' is not a PID: give plain decimal numbers, as in -p 123,456");
	assert_int_equal(set.n, 1);
	assert_int_equal(targets_add_pids(&set, "7", NULL, 0), -ESRCH);
	assert_int_equal(targets_add_pids(&set, "7", err, 12), -ESRCH);
	assert_string_equal(err, "no process ");
}

static void test_thread_id(void **state)
{
	(void)state;
	assert_int_equal(add("123,100"), 0);
	assert_int_equal(set.n, 1);
	assert_int_equal(set.items[0].pid, 100);
	assert_string_equal(notes, "123 is a thread of process 100 (python3): tracing the whole "
				   "process\n");
}

static void test_refused(void **state)
{
	(void)state;
	be(100);
	expect_refused("100", -EPERM,
		       "PID 100 is tegratrace itself, not an inference process; list candidates "
		       "with pgrep -a NAME");
	assert_int_equal(add("123"), -EPERM); /* our own thread */
	expect_refused("55", -EPERM,
		       "process 55 (done) has ended and only waits for its parent 44 to collect it "
		       "(zombie): there is nothing to trace");
	expect_refused("2", -EPERM,
		       "PID 2 is the kernel thread kthreadd, not an inference process; list "
		       "candidates with pgrep -a NAME");
	assert_string_equal(notes, "");
	put("7 (x", 4, "7/stat");
	put("Tgid:\t7\nPid:\t7\n", 14, "7/status");
	expect_refused("7", -EBADMSG, "cannot read process 7: Bad message");
}

static void test_nested_one(void **state)
{
	(void)state;
	put_nested(4321, "infer", "4321\t7");
	put_nested(4322, "other", "4322\t7\t30"); /* 7 is not its innermost number */
	put_nested(4400, "two deep", "4400\t50\t2");
	assert_int_equal(add("7"), 0);
	assert_string_equal(notes, "PID 7 does not exist here; using 4321 (infer), which is PID 7 "
				   "inside a container\n");
	assert_int_equal(set.items[0].pid, 4321);
	notes[0] = 0;
	assert_int_equal(add("2"), 0);
	assert_string_equal(notes, "PID 2 is the kernel thread kthreadd here; using 4400 (two "
				   "deep), which is PID 2 inside a container\n");
	assert_int_equal(set.n, 2);
	assert_int_equal(set.items[1].pid, 4400);
	assert_int_equal(add("4321"), 0);
	assert_int_equal(set.n, 2);
	assert_int_equal(add("100"), 0); /* exists here: no container is asked */
}

static void test_nested_several(void **state)
{
	(void)state;
	put_nested(4321, "infer", "4321\t7");
	put_nested(4322, "a) \x1b[1m", "4322\t40\t7");
	put_process_as(4323, 1, "dead", 'Z', USER, "4323\t7", "");
	assert_int_equal(add("7"), -ENOTUNIQ);
	assert_int_equal(set.n, 0);
	assert_non_null(strstr(err, "PID 7 does not exist here, and 2 processes have it inside "
				    "containers: "));
	assert_non_null(strstr(err, "4321 (infer)"));
	assert_non_null(strstr(err, "4322 (a) \\x1b[1m)"));
	assert_non_null(strstr(err, "; give one of these PIDs instead"));
	for (int i = 0; i < 20; i++)
		put_nested(5000 + i, "\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b",
			   "1\t2");
	assert_int_equal(add("2"), -ENOTUNIQ);
	assert_non_null(strstr(err, "PID 2 is the kernel thread kthreadd here, and 20 processes"));
	assert_non_null(strstr(err, " and 12 more; give one of these PIDs instead"));
}

static void test_nested_self_is_none(void **state)
{
	(void)state;
	put_nested(4321, "tegratrace", "4321\t7");
	be(4321);
	assert_int_equal(add("7"), -ESRCH);
}

static void test_name(void **state)
{
	(void)state;
	put_process(200, 1, "infer");
	put_process(201, 1, "VLLM::EngineCor");
	put_process_as(202, 1, "main", 'S', USER, "202", "/opt/my app/infer-server");
	put_process_as(203, 1, "infer", 'Z', USER, "203", "");
	put_process_as(204, 2, "infer", 'S', KTHREAD, "204", "");
	assert_int_equal(targets_add_name(&set, "infer", err, sizeof(err)), 0);
	assert_int_equal(set.n, 1);
	assert_int_equal(set.items[0].pid, 200);
	assert_int_equal(targets_add_name(&set, "VLLM::EngineCore", err, sizeof(err)), 0);
	assert_int_equal(set.items[1].pid, 201);
	assert_int_equal(targets_add_name(&set, "infer-server", err, sizeof(err)), 0);
	assert_int_equal(set.items[2].pid, 202);
	assert_string_equal(notes, "");

	put_process(210, 1, "infer");
	assert_int_equal(targets_add_name(&set, "infer", err, sizeof(err)), 0);
	assert_int_equal(set.n, 4);
	assert_non_null(strstr(notes, "2 processes are named 'infer', tracing all: "));
	assert_non_null(strstr(notes, "200 (infer)"));
	assert_non_null(strstr(notes, "210 (infer)"));
}

static void test_name_none(void **state)
{
	static const char *const names[] = {"inf",
					    "infer-",
					    "nfer",
					    "^infer",
					    "kthreadd",
					    "VLLM::Engine",
					    "VLLM::Engine_Core",
					    "/opt/infer"};

	(void)state;
	put_process(200, 1, "infer");
	put_process(201, 1, "VLLM::EngineCor");
	put_process(202, 1, "VLLM::E");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(targets_add_name(&set, names[i], err, sizeof(err)), -ESRCH);
	assert_string_equal(err, "no process is named '/opt/infer': it is not running or has "
				 "another name; ps -eo pid,comm,args lists all");
	assert_int_equal(targets_add_name(&set, "", err, sizeof(err)), -EINVAL);
	assert_int_equal(targets_add_name(&set, "a\nb", err, sizeof(err)), -ESRCH);
	assert_null(strchr(err, '\n'));
	assert_int_equal(set.n, 0);
}

static void test_name_leaves_us_out(void **state)
{
	(void)state;
	put_process(300, 1, "bash");
	put_process(301, 300, "sudo");
	put_process(302, 301, "sudo");
	put_process(303, 302, "tegratrace");
	put_process(310, 1, "sudo");
	put_process(311, 310, "tegratrace");
	be(303);
	assert_int_equal(targets_add_name(&set, "sudo", err, sizeof(err)), 0);
	assert_int_equal(targets_add_name(&set, "tegratrace", err, sizeof(err)), 0);
	assert_int_equal(set.n, 2);
	assert_int_equal(set.items[0].pid, 310);
	assert_int_equal(set.items[1].pid, 311);
	assert_int_equal(add("300"), 0); /* the shell is fair game */
}

static void test_no_proc(void **state)
{
	(void)state;
	procfs_set_root("/nonexistent");
	assert_int_equal(add("7"), -ENOENT);
	assert_string_equal(err, "cannot list processes: No such file or directory; is /proc "
				 "mounted?");
	assert_int_equal(targets_add_name(&set, "x", err, sizeof(err)), -ENOENT);
	assert_int_equal(targets_check_own_namespace(err, sizeof(err)), -ESRCH);
	assert_non_null(strstr(err, "is /proc mounted?"));
}

static void test_descendants(void **state)
{
	struct found f = {0};

	(void)state;
	/* Chains against the order of pids, a loop, a stranger and what we started ourselves */
	put_process(500, 1, "root");
	put_process(400, 500, "child");
	put_process(450, 400, "grandchild");
	put_process(401, 450, "great");
	put_process_as(402, 450, "gone", 'Z', USER, "402", "");
	put_process(600, 601, "loop");
	put_process(601, 600, "loop");
	put_process(700, 1, "stranger");
	put_process(510, 500, "sudo");
	put_process(511, 510, "tegratrace");
	put_process(512, 511, "tegrastats");
	be(511);
	assert_int_equal(targets_descendants(&set, keep_child, &f), 0);
	assert_int_equal(f.n, 0);
	assert_int_equal(add("500,600"), 0);
	assert_int_equal(targets_descendants(&set, keep_child, &f), 0);
	assert_int_equal(f.n, 4);
	assert_true(has(&f, 400) && has(&f, 450) && has(&f, 401) && has(&f, 601));
	assert_int_equal(set.n, 2);
	f = (struct found){.stop_at = 2};
	assert_int_equal(targets_descendants(&set, keep_child, &f), 42);
	assert_int_equal(f.n, 2);
	/* The pid now belongs to another process */
	set.items[0].starttime++;
	f = (struct found){0};
	assert_int_equal(targets_descendants(&set, keep_child, &f), 0);
	assert_int_equal(f.n, 1);
}

static int fork_late(void *ctx, const struct target *child, pid_t parent)
{
	put_process(child->pid == 400 ? 401 : 402, 400, "late");
	return keep_child(ctx, child, parent);
}

static void test_descendants_born_meanwhile(void **state)
{
	struct found f = {0};

	(void)state;
	put_process(500, 1, "root");
	put_process(400, 500, "child");
	assert_int_equal(add("500"), 0);
	assert_int_equal(targets_descendants(&set, fork_late, &f), 0);
	assert_int_equal(f.n, 3);
	assert_true(has(&f, 400) && has(&f, 401) && has(&f, 402));
}

static void test_many(void **state)
{
	static char list[8000];
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		put_process(1000 + i, 1, "many");
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%d", i ? "," : "", 1000 + i);
	}
	assert_int_equal(add(list), 0);
	assert_int_equal(set.n, 1000);
	assert_int_equal(targets_add_name(&set, "many", err, sizeof(err)), 0);
	assert_int_equal(set.n, 1000);
	assert_non_null(strstr(notes, " and 992 more"));
}

int main(void)
{
#define FIXTURE(t) cmocka_unit_test_setup_teardown(t, start_fixture, end_fixture)
	const struct CMUnitTest tests[] = {
		FIXTURE(test_words),
		FIXTURE(test_plain_pids),
		FIXTURE(test_all_or_none),
		FIXTURE(test_thread_id),
		FIXTURE(test_refused),
		FIXTURE(test_nested_one),
		FIXTURE(test_nested_several),
		FIXTURE(test_nested_self_is_none),
		FIXTURE(test_name),
		FIXTURE(test_name_none),
		FIXTURE(test_name_leaves_us_out),
		FIXTURE(test_no_proc),
		FIXTURE(test_descendants),
		FIXTURE(test_descendants_born_meanwhile),
		FIXTURE(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
