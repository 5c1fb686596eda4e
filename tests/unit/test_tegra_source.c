/* SPDX-License-Identifier: GPL-2.0-only */
/* tegrastats as a command that is started. */
#include "sources.h"

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
		TEST(no_descriptor_leaks_into_a_command),
		TEST(grandchildren_go_with_the_child),
		TEST(grandchildren_that_outlive_the_request_to_end),
		TEST(grandchildren_of_a_child_that_ended),
		TEST(a_flood_does_not_hold_the_run_up),
	};

	return run_sources(tests);
}
