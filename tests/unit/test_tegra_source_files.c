/* SPDX-License-Identifier: GPL-2.0-only */
/* Logs, FIFOs and standard input as sources. */
#include "sources.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_log_that_grows),
		TEST(an_old_log_is_a_recording),
		TEST(logs_without_a_record),
		TEST(a_fifo_whose_writer_comes_late),
		TEST(a_fifo_whose_writer_says_nothing),
		TEST(a_device_that_is_always_at_its_end),
		TEST(what_cannot_be_opened_is_an_error),
		TEST(standard_input_gets_its_flags_back),
		TEST(standard_input_that_ends_without_a_byte),
	};

	return run_sources(tests);
}
