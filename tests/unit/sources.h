/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources of tegrastats text: real child processes, FIFOs and files. Time is a number that each
 * test hands over, so nothing here depends on how fast the machine is; a call that blocks ends the
 * program by the alarm of run_sources().
 */
#ifndef TEGRATRACE_TEST_SOURCES_H
#define TEGRATRACE_TEST_SOURCES_H

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

static inline const char *path_of(const char *name)
{
	static char paths[4][128];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static inline void append(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "a");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static inline const char *make_fifo(const char *name)
{
	assert_int_equal(mkfifo(path_of(name), 0600), 0);
	return path_of(name);
}

static inline int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static inline int clean_up(void **state)
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

static inline int open_with(const char *command, const char *log, int interval_ms)
{
	const struct tegra_source_options options = {command, log, interval_ms, 0};

	error[0] = '\0';
	return tegra_source_open(&options, &source, error, sizeof(error));
}

/*
 * Runs `body` with $1 = the directory of the test. A begin right behind it would race with the
 * first line: only a script that waits for the test may have one.
 */
static inline void open_script(const char *body)
{
	char command[256];

	append("script", body);
	snprintf(command, sizeof(command), "sh %s %s", path_of("script"), dir);
	assert_int_equal(open_with(command, NULL, 100), 0);
	assert_non_null(source);
}

static inline void open_log(const char *path)
{
	assert_int_equal(open_with(NULL, path, 100), 0);
	assert_non_null(source);
}

/* Waits for input and takes it. */
static inline void take(void)
{
	struct pollfd input = {.fd = tegra_source_fd(source), .events = POLLIN};

	assert_true(input.fd >= 0);
	assert_true(poll(&input, 1, -1) == 1);
	tegra_source_read(source, now_ns);
}

static inline int64_t samples(void)
{
	const struct tegra_summary *latest = tegra_source_latest(source);

	return latest ? latest->samples : 0;
}

static inline void take_samples(int64_t n)
{
	while (samples() < n)
		take();
	assert_int_equal(samples(), n);
}

static inline void take_to_the_end(void)
{
	while (tegra_source_fd(source) >= 0)
		take();
}

/* Closes; whatever was started is gone and has been waited for. */
static inline void finish(void)
{
	tegra_source_close(source, now_ns, &summary);
	source = NULL;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_true(memchr(summary.note, 0, sizeof(summary.note)) != NULL);
	assert_true(memchr(summary.source, 0, sizeof(summary.source)) != NULL);
}

static inline void expect(enum tegra_state state, int64_t n, int64_t rejected)
{
	assert_int_equal(summary.state, state);
	assert_int_equal(summary.samples, n);
	assert_int_equal(summary.rejected, rejected);
	if (state == TEGRA_LIVE)
		assert_string_equal(summary.note, "");
	else
		assert_string_not_equal(summary.note, "");
}

static inline void expect_near(double got, double want)
{
	if (!(got > want - 1e-9 && got < want + 1e-9))
		fail_msg("%.12f is not %.12f", got, want);
}

/* Runs the rest of a test with the read end of a new pipe as standard input. */
static inline int replace_stdin(int *saved, int flags)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, flags), 0);
	*saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	return ends[1];
}

static inline void restore_stdin(int saved)
{
	if (saved >= 0) {
		dup2(saved, STDIN_FILENO);
		close(saved);
	} else {
		close(STDIN_FILENO);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, clean_up, clean_up)

#define run_sources(tests) \
	(signal(SIGPIPE, SIG_IGN), alarm(60), cmocka_run_group_tests(tests, make_dir, remove_dir))

#endif
