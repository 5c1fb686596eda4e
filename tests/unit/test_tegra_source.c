/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources of tegrastats text: real child processes, FIFOs and files. Time is a number that each
 * test hands over, so nothing here depends on how fast the machine is; a call that blocks ends the
 * program by the alarm set in main().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tegra/source.h"

#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)
#define START  (50 * SECOND)

/* L4T R36 on Orin Nano; GR3D_FREQ is left open. */
#define RECORD_HEAD                                                                        \
	"07-26-2026 21:18:15 RAM 3437/7620MB (lfb 10x4MB) SWAP 0/3810MB (cached 0MB) CPU " \
	"[0%@960,25%@960,8%@960,0%@960,off,off] EMC_FREQ 6%@2133 GR3D_FREQ "
#define RECORD_TAIL                                                                                \
	"%@[407] NVDEC off NVJPG off NVJPG1 off VIC off OFA off APE 200 cpu@49.531C soc2@49.375C " \
	"gpu@49.968C tj@49.968C VDD_IN 5440mW/4795mW VDD_CPU_GPU_CV 1397mW/1052mW VDD_SOC "        \
	"1637mW/1514mW\n"
#define RECORD	RECORD_HEAD "50" RECORD_TAIL
#define GARBAGE "tegrastats: command line options changed\n"

static char dir[] = "/tmp/tegratrace-source-XXXXXX";
static struct tegra_source *source;
static struct tegra_summary summary;
static char error[256];
static int64_t now_ns;

static const char *path_of(const char *name)
{
	static char paths[4][128];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void append(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "a");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static const char *make_fifo(const char *name)
{
	assert_int_equal(mkfifo(path_of(name), 0600), 0);
	return path_of(name);
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static int clean_up(void **state)
{
	static const char *const names[] = {"script", "log", "fifo", "go", "tegrastats", "hold"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_of(names[i]));
	tegra_source_close(source, now_ns, &summary); /* of a test that failed */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	source = NULL;
	now_ns = START;
	memset(&summary, 0xa5, sizeof(summary));
	return 0;
}

static int open_with(const char *command, const char *log, int interval_ms)
{
	const struct tegra_source_options options = {command, log, interval_ms, 0};

	error[0] = '\0';
	return tegra_source_open(&options, &source, error, sizeof(error));
}

/*
 * Runs `body` with $1 = the directory of the test. A begin right behind it would race with the
 * first line: only a script that waits for the test may have one.
 */
static void open_script(const char *body)
{
	char command[256];

	append("script", body);
	snprintf(command, sizeof(command), "sh %s %s", path_of("script"), dir);
	assert_int_equal(open_with(command, NULL, 100), 0);
	assert_non_null(source);
}

static void open_log(const char *path)
{
	assert_int_equal(open_with(NULL, path, 100), 0);
	assert_non_null(source);
}

/* Waits for input and takes it. */
static void take(void)
{
	struct pollfd input = {.fd = tegra_source_fd(source), .events = POLLIN};

	assert_true(input.fd >= 0);
	assert_true(poll(&input, 1, -1) == 1);
	tegra_source_read(source, now_ns);
}

static int64_t samples(void)
{
	const struct tegra_summary *latest = tegra_source_latest(source);

	return latest ? latest->samples : 0;
}

static void take_samples(int64_t n)
{
	while (samples() < n)
		take();
	assert_int_equal(samples(), n);
}

static void take_to_the_end(void)
{
	while (tegra_source_fd(source) >= 0)
		take();
}

/* Closes; whatever was started is gone and has been waited for. */
static void finish(void)
{
	tegra_source_close(source, now_ns, &summary);
	source = NULL;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_true(memchr(summary.note, 0, sizeof(summary.note)) != NULL);
	assert_true(memchr(summary.source, 0, sizeof(summary.source)) != NULL);
}

static void expect(enum tegra_state state, int64_t n, int64_t rejected)
{
	assert_int_equal(summary.state, state);
	assert_int_equal(summary.samples, n);
	assert_int_equal(summary.rejected, rejected);
	if (state == TEGRA_LIVE)
		assert_string_equal(summary.note, "");
	else
		assert_string_not_equal(summary.note, "");
}

static void expect_near(double got, double want)
{
	if (!(got > want - 1e-9 && got < want + 1e-9))
		fail_msg("%.12f is not %.12f", got, want);
}

static void no_source_is_no_error(void **state)
{
	char *path = strdup(getenv("PATH"));

	(void)state;
	setenv("PATH", dir, 1);
	assert_int_equal(open_with(NULL, NULL, 100), 0);
	setenv("PATH", path, 1);
	free(path);
	assert_null(source);
	assert_int_equal(tegra_source_fd(NULL), -1);
	assert_null(tegra_source_latest(NULL));
	tegra_source_begin(NULL, now_ns);
	tegra_source_read(NULL, now_ns);
	finish();
	assert_int_equal(summary.state, TEGRA_NONE);
	assert_int_equal(summary.samples, 0);
	assert_int_equal(summary.gpu_busy.n, 0);
	assert_string_equal(summary.source, "");
}

static void tegrastats_on_the_path_is_given_the_interval(void **state)
{
	char *path = strdup(getenv("PATH")), joined[512];

	(void)state;
	append("tegrastats", "#!/bin/sh\n[ \"$*\" = \"--interval 250\" ] || exit 1\n"
			     "echo '" RECORD "'\nexec sleep 100\n");
	assert_int_equal(chmod(path_of("tegrastats"), 0700), 0);
	snprintf(joined, sizeof(joined), ":/nowhere:%s:%s", dir, path);
	setenv("PATH", joined, 1);
	assert_int_equal(open_with(NULL, NULL, 250), 0);
	assert_non_null(source);
	take_samples(1);
	setenv("PATH", path, 1);
	free(path);
	finish();
	expect(TEGRA_LIVE, 1, 0);
	assert_string_equal(summary.source, "tegrastats --interval 250");
}

/* One record for each token, so that each arrives at a time that the test chose. */
#define STEPPED                                              \
	"exec 3<$1/go\n"                                     \
	"for i in 10 20 30 40 50; do read x <&3\n"           \
	"	echo '" RECORD_HEAD "'$i'" RECORD_TAIL "'\n" \
	"done\n"

static void lines_that_come_in_step_and_end(void **state)
{
	int go = open(make_fifo("go"), O_RDWR | O_CLOEXEC);

	(void)state;
	open_script(STEPPED);
	tegra_source_begin(source, now_ns);
	for (int i = 1; i <= 5; i++) {
		now_ns += 100 * MS;
		assert_int_equal(write(go, "\n", 1), 1);
		take_samples(i);
	}
	take_to_the_end();
	assert_int_equal(tegra_source_fd(source), -1);
	tegra_source_read(source, now_ns); /* after the end: nothing */
	now_ns += 3 * SECOND;
	finish();
	close(go);
	expect(TEGRA_DIED, 5, 0);
	assert_non_null(strstr(summary.note, "3"));
	expect_near(summary.interval_ms, 100);
	assert_int_equal(summary.gpu_busy.n, 5);
	expect_near(summary.gpu_busy.mean, 0.3);
	expect_near(summary.gpu_busy.min, 0.1);
	expect_near(summary.gpu_busy.max, 0.5);
	expect_near(summary.gpu_busy.last, 0.5);
	expect_near(summary.emc_busy.mean, 0.06);
	expect_near(summary.cpu_busy_max.mean, 0.25);
	assert_int_equal(summary.cpus_off, 2);
}

static void samples_before_the_window_do_not_count(void **state)
{
	int go = open(make_fifo("go"), O_RDWR | O_CLOEXEC);

	(void)state;
	open_script(STEPPED);
	assert_int_equal(write(go, "\n\n", 2), 2);
	take_samples(2);
	tegra_source_begin(source, now_ns);
	assert_null(tegra_source_latest(source));
	assert_int_equal(write(go, "\n", 1), 1);
	take_samples(1);
	finish();
	close(go);
	expect(TEGRA_LIVE, 1, 0);
	expect_near(summary.gpu_busy.mean, 0.3);
	assert_true(isnan(summary.interval_ms));
}

static void lines_that_come_at_once_are_a_recording(void **state)
{
	(void)state;
	open_script("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo '" RECORD "'; done\n");
	take_to_the_end();
	finish();
	expect(TEGRA_RECORDED, 12, 0);
}

static void a_command_that_prints_nothing(void **state)
{
	(void)state;
	open_script("exec sleep 100\n");
	tegra_source_read(source, now_ns);
	tegra_source_begin(source, now_ns);
	tegra_source_read(source, now_ns);
	assert_null(tegra_source_latest(source));
	assert_true(tegra_source_fd(source) >= 0);
	now_ns += 10 * SECOND;
	finish();
	expect(TEGRA_SILENT, 0, 0);
	assert_int_equal(summary.gpu_busy.n, 0);
}

static void a_command_that_falls_silent(void **state)
{
	static const struct {
		int interval_ms;
		int64_t later_ns;
		enum tegra_state want;
	} cases[] = {
		{100, 2 * SECOND, TEGRA_LIVE}, /* five intervals, but not under 2 s */
		{100, 2 * SECOND + 1, TEGRA_SILENT},
		{1000, 5 * SECOND, TEGRA_LIVE},
		{1000, 5 * SECOND + 1, TEGRA_SILENT},
	};

	(void)state;
	append("script", "echo '" RECORD "'\nexec sleep 100\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char command[256];

		snprintf(command, sizeof(command), "sh %s", path_of("script"));
		assert_int_equal(open_with(command, NULL, cases[i].interval_ms), 0);
		take_samples(1);
		now_ns += cases[i].later_ns;
		finish();
		expect(cases[i].want, 1, 0);
	}
}

static void a_command_that_ignores_the_request_to_end(void **state)
{
	(void)state;
	open_script("trap '' TERM INT HUP\necho '" RECORD "'\nwhile :; do sleep 100; done\n");
	take_samples(1);
	finish();
	expect(TEGRA_LIVE, 1, 0);
}

static void garbage_only(void **state)
{
	(void)state;
	open_script("echo hello\necho\necho world\nprintf '\\001\\002\\n'\n");
	take_to_the_end();
	assert_null(tegra_source_latest(source));
	finish();
	expect(TEGRA_GARBAGE, 0, 3); /* an empty line is none */
	assert_non_null(strstr(summary.note, "3"));
}

static void garbage_between_records(void **state)
{
	(void)state;
	open_script("echo '" GARBAGE RECORD GARBAGE RECORD "'\nexec sleep 100\n");
	take_samples(2);
	finish();
	expect(TEGRA_LIVE, 2, 2);
}

/* The end is not seen before the process is waiting to be reaped. */
static void let_it_end(void)
{
	siginfo_t info;

	take_to_the_end();
	assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
}

static void no_such_command(void **state)
{
	static const char *const commands[] = {"no-such-tegrastats", "no-such-tegrastats --fast",
					       "/no/such/tegrastats"};

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		assert_int_equal(open_with(commands[i], NULL, 100), 0);
		tegra_source_begin(source, now_ns);
		let_it_end();
		finish();
		expect(TEGRA_DIED, 0, 0);
		assert_non_null(strstr(summary.note, "no such command"));
		assert_non_null(strstr(summary.source, "no"));
	}
}

static void a_command_that_fails_or_is_killed(void **state)
{
	(void)state;
	open_script("exit 3\n");
	let_it_end();
	finish();
	expect(TEGRA_DIED, 0, 0);
	assert_null(strstr(summary.note, "no such command"));
	clean_up(NULL);
	open_script("echo '" RECORD "'\nkill -KILL $$\n");
	take_samples(1);
	let_it_end();
	finish();
	expect(TEGRA_DIED, 1, 0);
}

static void a_line_cut_by_the_end_still_counts_as_far_as_it_goes(void **state)
{
	(void)state;
	open_script("printf '%s' '07-26-2026 21:18:15 RAM 3437/7620MB (lfb 10x4MB) GR3D_FREQ 7'\n");
	take_to_the_end();
	finish();
	expect(TEGRA_DIED, 1, 0);
	expect_near(summary.ram_used_mb.mean, 3437);
	assert_int_equal(summary.gpu_busy.n, 0); /* 7, 70 or 77 % */
}

static void a_command_line_is_run_whole_or_refused(void **state)
{
	char command[2200];
	int err;

	(void)state;
	memset(command, 0, sizeof(command));
	strcpy(command, "sh -c 'true ");
	memset(command + strlen(command), 'x', 1500);
	strcat(command, "; echo \"" RECORD "\"; exec sleep 100'");
	err = open_with(command, NULL, 100);
	if (err) {
		assert_null(source);
		assert_true(err < 0 && error[0]);
		return;
	}
	take_samples(1);
	finish();
}

static void a_log_that_grows(void **state)
{
	(void)state;
	append("log", GARBAGE RECORD RECORD);
	open_log(path_of("log"));
	assert_int_equal(tegra_source_fd(source), -1); /* poll has nothing to say of a file */
	tegra_source_begin(source, now_ns);
	assert_null(tegra_source_latest(source));
	for (int i = 1; i <= 4; i++) {
		now_ns += 250 * MS;
		append("log", RECORD_HEAD);
		tegra_source_read(source, now_ns);
		assert_int_equal(samples(), i - 1);
		append("log", "80" RECORD_TAIL);
		tegra_source_read(source, now_ns);
		assert_int_equal(samples(), i);
	}
	append("log", GARBAGE);
	finish();
	expect(TEGRA_LIVE, 4, 1);
	expect_near(summary.interval_ms, 250);
	expect_near(summary.gpu_busy.mean, 0.8);
	assert_non_null(strstr(summary.source, "log"));
}

static void an_old_log_is_a_recording(void **state)
{
	(void)state;
	append("log", RECORD GARBAGE RECORD RECORD);
	open_log(path_of("log"));
	tegra_source_begin(source, now_ns);
	for (int i = 0; i < 3; i++)
		tegra_source_read(source, now_ns += SECOND);
	assert_null(tegra_source_latest(source));
	finish();
	expect(TEGRA_RECORDED, 3, 1);
	assert_int_equal(summary.gpu_busy.n, 3);
}

static void logs_without_a_record(void **state)
{
	(void)state;
	append("log", "");
	open_log(path_of("log"));
	tegra_source_begin(source, now_ns);
	finish();
	expect(TEGRA_SILENT, 0, 0);
	append("log", GARBAGE GARBAGE);
	open_log(path_of("log"));
	tegra_source_begin(source, now_ns);
	finish();
	expect(TEGRA_GARBAGE, 0, 2);
}

static void a_fifo_whose_writer_comes_late(void **state)
{
	int writer;

	(void)state;
	open_log(make_fifo("fifo"));
	tegra_source_begin(source, now_ns);
	for (int i = 0; i < 3; i++)
		tegra_source_read(source, now_ns += SECOND);
	assert_true(tegra_source_fd(source) >= 0);
	writer = open(path_of("fifo"), O_WRONLY | O_CLOEXEC);
	assert_true(writer >= 0);
	tegra_source_read(source, now_ns);
	for (int i = 1; i <= 3; i++) {
		now_ns += 100 * MS;
		assert_int_equal(write(writer, RECORD, strlen(RECORD)), strlen(RECORD));
		take_samples(i);
	}
	tegra_source_read(source, now_ns);
	assert_true(tegra_source_fd(source) >= 0);
	close(writer);
	take_to_the_end();
	now_ns += SECOND;
	finish();
	expect(TEGRA_DIED, 3, 0);
	expect_near(summary.interval_ms, 100);
}

/* poll() reports a hangup from then on, at once and for ever: it must not be asked again. */
static void a_fifo_whose_writer_says_nothing(void **state)
{
	int writer;

	(void)state;
	open_log(make_fifo("fifo"));
	tegra_source_begin(source, now_ns);
	writer = open(path_of("fifo"), O_WRONLY | O_CLOEXEC);
	assert_true(writer >= 0);
	close(writer);
	take();
	assert_int_equal(tegra_source_fd(source), -1);
	finish();
	expect(TEGRA_DIED, 0, 0);
}

static void a_device_that_is_always_at_its_end(void **state)
{
	(void)state;
	open_log("/dev/null");
	tegra_source_begin(source, now_ns);
	tegra_source_read(source, now_ns);
	assert_int_equal(tegra_source_fd(source), -1);
	finish();
	expect(TEGRA_DIED, 0, 0);
}

static void what_cannot_be_opened_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(open_with(NULL, dir, 100), -EISDIR);
	assert_null(source);
	assert_non_null(strstr(error, dir));
	assert_int_equal(open_with(NULL, path_of("missing"), 100), -ENOENT);
	assert_null(source);
	assert_non_null(strstr(error, "missing"));
	assert_int_equal(open_with("echo x", "/no/such\033[31m\n", 100), -ENOENT);
	assert_null(source);
	assert_null(strpbrk(error, "\033\n"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* the log wins: nothing was started */
}

/* Runs the rest of a test with the read end of a new pipe as standard input. */
static int replace_stdin(int *saved, int flags)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, flags), 0);
	*saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	return ends[1];
}

static void restore_stdin(int saved)
{
	if (saved >= 0) {
		dup2(saved, STDIN_FILENO);
		close(saved);
	} else {
		close(STDIN_FILENO);
	}
}

static void standard_input_gets_its_flags_back(void **state)
{
	static const int flags[] = {0, O_NONBLOCK};
	int saved, writer, after;

	(void)state;
	for (int i = 0; i < 2; i++) {
		writer = replace_stdin(&saved, flags[i]);
		open_log("-");
		tegra_source_begin(source, now_ns);
		tegra_source_read(source, now_ns);
		assert_int_equal(fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
		assert_int_equal(write(writer, RECORD, strlen(RECORD)), strlen(RECORD));
		take_samples(1);
		finish();
		after = fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK;
		close(writer);
		restore_stdin(saved);
		assert_int_equal(after, flags[i]);
		expect(TEGRA_LIVE, 1, 0);
		assert_string_equal(summary.source, "standard input");
	}
}

static void standard_input_that_ends_without_a_byte(void **state)
{
	int saved, fd;

	(void)state;
	close(replace_stdin(&saved, 0));
	open_log("-");
	tegra_source_begin(source, now_ns);
	tegra_source_read(source, now_ns);
	fd = tegra_source_fd(source);
	finish();
	restore_stdin(saved);
	assert_int_equal(fd, -1);
	expect(TEGRA_DIED, 0, 0);
}

static bool closes_on_exec(void)
{
	return fcntl(tegra_source_fd(source), F_GETFD) & FD_CLOEXEC;
}

static void no_descriptor_leaks_into_a_command(void **state)
{
	int saved, writer;
	bool closes;

	(void)state;
	open_script("exec sleep 100\n");
	assert_true(closes_on_exec());
	finish();
	open_log(make_fifo("fifo"));
	assert_true(closes_on_exec());
	finish();
	writer = replace_stdin(&saved, 0);
	open_log("-");
	closes = closes_on_exec();
	finish();
	close(writer);
	restore_stdin(saved);
	assert_true(closes);
}

/* Orphans come to this process; each must have been killed, none may have ended on its own. */
static int reap_orphans(int *survivors)
{
	int status, n = 0;

	*survivors = 0;
	while (waitpid(-1, &status, 0) > 0) {
		n++;
		*survivors += !WIFSIGNALED(status);
	}
	return n;
}

/* `ends`: the script ends by itself, which is awaited before the close. */
static void check_family(const char *body, bool ends)
{
	int survivors, orphans;
	char ready;
	int hold;

	clean_up(NULL);
	hold = open(make_fifo("hold"), O_RDWR | O_CLOEXEC);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	open_script(body);
	take_samples(1);
	assert_int_equal(read(hold, &ready, 1), 1);
	if (ends)
		let_it_end();
	tegra_source_close(source, now_ns, &summary);
	source = NULL;
	orphans = reap_orphans(&survivors);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	close(hold);
	assert_int_equal(orphans, 1);
	assert_int_equal(survivors, 0);
}

/* The grandchild says on $1/hold that it is ready, and ends by itself before long. */
#define GRANDCHILD(setup, out) "sh -c '" setup " echo >$1/hold; exec sleep 5' x $1 " out " &\n"

static void grandchildren_go_with_the_child(void **state)
{
	(void)state;
	check_family(GRANDCHILD("", "") "echo '" RECORD "'\nwait\n", false);
}

static void grandchildren_that_outlive_the_request_to_end(void **state)
{
	(void)state;
	check_family(GRANDCHILD("trap \"\" TERM;", "") "echo '" RECORD "'\nexec sleep 100\n",
		     false);
}

static void grandchildren_of_a_child_that_ended(void **state)
{
	(void)state;
	check_family(GRANDCHILD("", ">$1/log") "echo '" RECORD "'\n", true);
}

/* Input that never runs dry, as from a writer faster than the reader: each call still returns. */
static void a_flood_does_not_hold_the_run_up(void **state)
{
	const struct rlimit cpu = {1, 2}, core = {0, 0};
	int status;
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setrlimit(RLIMIT_CORE, &core);
		setrlimit(RLIMIT_CPU, &cpu);
		if (open_with(NULL, "/dev/zero", 100))
			_exit(0); /* refused: as good */
		tegra_source_begin(source, now_ns);
		tegra_source_read(source, now_ns);
		tegra_source_close(source, now_ns, &summary);
		_exit(summary.samples ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, clean_up, clean_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_source_is_no_error),
		TEST(tegrastats_on_the_path_is_given_the_interval),
		TEST(lines_that_come_in_step_and_end),
		TEST(samples_before_the_window_do_not_count),
		TEST(lines_that_come_at_once_are_a_recording),
		TEST(a_command_that_prints_nothing),
		TEST(a_command_that_falls_silent),
		TEST(a_command_that_ignores_the_request_to_end),
		TEST(garbage_only),
		TEST(garbage_between_records),
		TEST(no_such_command),
		TEST(a_command_that_fails_or_is_killed),
		TEST(a_line_cut_by_the_end_still_counts_as_far_as_it_goes),
		TEST(a_command_line_is_run_whole_or_refused),
		TEST(a_log_that_grows),
		TEST(an_old_log_is_a_recording),
		TEST(logs_without_a_record),
		TEST(a_fifo_whose_writer_comes_late),
		TEST(a_fifo_whose_writer_says_nothing),
		TEST(a_device_that_is_always_at_its_end),
		TEST(what_cannot_be_opened_is_an_error),
		TEST(standard_input_gets_its_flags_back),
		TEST(standard_input_that_ends_without_a_byte),
		TEST(no_descriptor_leaks_into_a_command),
		TEST(grandchildren_go_with_the_child),
		TEST(grandchildren_that_outlive_the_request_to_end),
		TEST(grandchildren_of_a_child_that_ended),
		TEST(a_flood_does_not_hold_the_run_up),
	};

	signal(SIGPIPE, SIG_IGN);
	alarm(60);
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
