/* SPDX-License-Identifier: GPL-2.0-only */
/* The text of the example sessions. */
#include "example_sessions.h"

#include <inttypes.h>

/* The text report; free it. */
static char *text_of(const struct example *example, bool verbose, bool explain)
{
	const struct report_text_options options = {.verbose = verbose, .explain = explain};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(report_text_write(out, &example->session, &example->verdict, &options), 0);
	fclose(out);
	assert_int_equal(strlen(text), size);
	return text;
}

/* Valid UTF-8 without a control character; returns the lines and the widest one's columns. */
static size_t count_lines(const char *text, size_t *columns)
{
	size_t n = mbstowcs(NULL, text, 0), lines = 0, width = 0;
	wchar_t *wide = calloc(n + 1, sizeof(*wide));

	assert_true(n != (size_t)-1);
	assert_non_null(wide);
	mbstowcs(wide, text, n + 1);
	*columns = 0;
	for (size_t i = 0; i < n; i++) {
		if (wide[i] == L'\n') {
			lines++;
			width = 0;
			continue;
		}
		assert_false(iswcntrl((wint_t)wide[i]));
		assert_true(wide[i] != 0x202e);
		if (++width > *columns)
			*columns = width;
	}
	assert_true(n > 0 && wide[n - 1] == L'\n');
	free(wide);
	return lines;
}

static void text_fits_a_bug_report(void **state)
{
	(void)state;
	for (size_t i = 0; i < EXAMPLES; i++) {
		struct example example;
		size_t lines, columns;
		char *text;

		start(&example, examples[i].build);
		text = text_of(&example, false, false);
		lines = count_lines(text, &columns);
		if (lines > 25 || columns > 100)
			fail_msg("%s: %zu lines, %zu columns:\n%s", examples[i].name, lines,
				 columns, text);
		free(text);
		session_free(&example.session);
	}
}

static void verbose_text_is_clean(void **state)
{
	(void)state;
	for (size_t i = 0; i < EXAMPLES; i++) {
		struct example example;
		size_t columns;
		char *text;

		start(&example, examples[i].build);
		text = text_of(&example, true, true);
		count_lines(text, &columns);
		free(text);
		session_free(&example.session);
	}
}

static void assert_found(const char *text, const char *part, bool wanted)
{
	if ((strstr(text, part) != NULL) == wanted)
		return;
	fputs(text, stderr);
	fail_msg("%s in the text above: \"%s\"", wanted ? "not" : "is", part);
}

static void assert_in(const char *text, const char *part)
{
	assert_found(text, part, true);
}

static void assert_not_in(const char *text, const char *part)
{
	assert_found(text, part, false);
}

static void text_has_the_numbers(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, usual);
	text = text_of(&example, false, false);
	assert_int_equal(strncmp(text, "cpu-bound (confidence 0.86): thread preproc-0", 45), 0);
	assert_in(text, "off-CPU 5 %  [scheduler]\n");
	assert_in(text, "takes 93 %; without it at most 14.3x as fast\n");
	assert_in(text, "surer     tracing for 30 s or more\n");
	/* (9.31 + 0.69) / 20 s on a CPU; (0.2 + 0.2) / 20 in a queue; the p99 is in bucket 14:
	 * half of [4.19 ms, 8.39 ms) is above the maximum of 5 ms */
	assert_in(text, "infer/1234 preproc-N                       2     50.0    2.0      48.0 "
			"    5.0 ms    other: 47.0\n");
	assert_in(text, "infer/1234 loader-N                       12      1.0    2.0      97.0 ");
	assert_in(text, "board     GPU 28 % at 306 MHz, EMC 7 % at 2133 MHz, tj up to 52.5 C, "
			"VDD_IN 6.2 W (max 8.1),");
	assert_in(text, "next      spread the work of preproc-N over more threads; see what");
	assert_in(text, "measured  10.0 s; 4 threads, rung tracepoint (1 thing missing: -v)");
	assert_not_in(text, "losses");
	assert_not_in(text, "swap");
	free(text);
	session_free(&example.session);
}

static void text_names_the_disk(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, usual);
	usual_block(&example.session);
	text = text_of(&example, false, false);
	/* half of bucket 12, [1.05 ms, 2.10 ms), and of bucket 5, [8.2 us, 16.4 us) */
	assert_in(text, "disk      nvme0n1 read 1000 x 128 KiB, queue 12.3 us/16.3 us, "
			"device 1.6 ms/2.1 ms,\n            by preproc-0 (99 %)\n");
	assert_not_in(text, "write");
	assert_in(text, "losses    block requests not seen to complete: 1\n");
	free(text);

	/* 2.5 s of the others in 10: they are in the way */
	example.session.block[1].device_lat.sum_ns = 2500 * MS;
	text = text_of(&example, false, false);
	assert_in(text, "nvme0n1, others: write 51 x 4.0 KiB, device ");
	free(text);

	text = text_of(&example, true, false);
	assert_in(text, "  nvme0n1      read    target      1000    125 MiB   20.0 us   12.3 us   "
			"16.3 us   60.0 us    2.0 ms    1.6 ms    2.1 ms    5.0 ms\n");
	assert_in(text, "  nvme0n1      write   other         51    204 KiB         -         - ");
	free(text);

	/* 0.1 s of requests in 10: no matter */
	example.session.block[0].queue.sum_ns = 0;
	example.session.block[0].device_lat.sum_ns = example.session.block[1].device_lat.sum_ns =
		100 * MS;
	text = text_of(&example, false, false);
	assert_not_in(text, "disk ");
	free(text);
	session_free(&example.session);
}

/* One thread reads and others, ended ones of a group, write more: each row names its own. */
static void text_names_the_disk_user_by_operation(void **state)
{
	struct example example;
	struct block_row *row;
	char *text;

	(void)state;
	start(&example, usual);
	usual_block(&example.session);
	for (size_t i = 0; i < example.session.nthreads; i++) {
		if (example.session.threads[i].folded > 1)
			example.session.threads[i].io_write_bytes = 3000LL << 17;
	}
	example.session.threads[2].io_write_bytes = 1000LL << 17;
	row = &example.session.block[1];
	row->target = true;
	text = text_of(&example, false, false);
	assert_in(text, "by preproc-0 (99 %)\n");
	assert_in(text, "by loader-N (75 %)\n");
	free(text);

	for (int op = BLOCK_FLUSH; op < BLOCK_OPS; op++) {
		row->op = (enum block_op)op;
		text = text_of(&example, false, false);
		assert_in(text, block_op_name(row->op));
		assert_not_in(text, "by loader-N");
		free(text);
	}
	session_free(&example.session);
}

static void text_names_what_was_short(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, usual);
	usual_system(&example.session);
	text = text_of(&example, true, false);
	assert_in(text,
		  "quota     cgroup /docker/0123 may use 1.50 CPUs: its threads were held back in "
		  "63 % of its\n            periods, 4.10 s in all (CPUs added up)\n");
	assert_in(text,
		  "CPU held  by foreign_hog (PID 77) 71 %, irq/37-host1x (real-time priority 50) "
		  "17 %,\n            its own infer 12 % while preproc-0/1236 waited 1.00 s for "
		  "one\n");
	assert_in(text, "by nobody 100 % while preproc-1/1237 waited 300 ms for one\n");
	assert_in(text, "memory    120 MiB swapped in (zram: costs CPU time, no disk time), 7 "
			"allocations had to reclaim\n");
	assert_in(text, "cgroup /docker/0123 was at its limit of 512 MiB 33 times;");
	assert_in(text, "something waited for memory 12 % of the time\n");
	assert_in(text, "others    foreign_hog/77 87.5 %\n");
	assert_in(text, "stalled   cpu unknown (all tasks: unknown), memory 12 % (all tasks: 0 %)");
	free(text);

	/* one waiter, no quota that hardly held anything back */
	text = text_of(&example, false, false);
	assert_in(text, "/docker/0123");
	assert_not_in(text, "cgroup /docker may");
	assert_not_in(text, "preproc-1/1237 waited");
	free(text);

	/* 0.4 s in 10, a quota used up in 1 % of its periods: no matter */
	example.session.pressure.quotas[0].throttled_periods = 1;
	example.session.ncpu_holders = 1;
	example.session.cpu_holders[0].waited_ns = 400 * MS;
	memset(example.session.pressure.vm, 0, sizeof(example.session.pressure.vm));
	example.session.pressure.nlimits = 0;
	text = text_of(&example, false, false);
	assert_not_in(text, "quota");
	assert_not_in(text, "CPU held");
	assert_not_in(text, "memory");
	free(text);
	session_free(&example.session);
}

static void text_says_what_is_unknown(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, empty);
	text = text_of(&example, false, false);
	assert_in(text, "(confidence ?)");
	assert_in(text, "gain      unknown: no limiting path");
	assert_in(text, "threads   not measured");
	assert_in(text, "board     no tegrastats: GPU, EMC, temperature and power are unknown");
	free(text);

	strcpy(example.session.capability.rung, "btf");
	example.session.tegra.state = TEGRA_LIVE;
	example.session.tegra.samples = 3;
	text = text_of(&example, false, false);
	assert_in(text, "threads   none was seen");
	assert_in(text, "board     GPU unknown, EMC unknown, temperature unknown, power unknown\n");
	free(text);
	session_free(&example.session);
}

static void text_counts_losses_and_the_rest(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, big);
	text = text_of(&example, false, false);
	assert_in(text,
		  "losses    threads whose times do not add up (a bug: please report it): 7,");
	assert_in(text, " more (-v)\n");
	assert_in(text, " more with ");
	assert_in(text, "tegrastats ended after 4.2 s with exit status 1");
	assert_in(text, "10.0 s (interrupted); the command was killed by signal 9; 504 threads,");
	free(text);
	session_free(&example.session);
}

/* Whatever the session counts as lost, a new field too. */
static void text_tells_of_every_loss(void **state)
{
	struct example example;
	int64_t *fields;
	char number[32], *text;

	(void)state;
	_Static_assert(sizeof(example.session.losses) % sizeof(*fields) == 0, "counts");
	for (size_t i = 0; i < sizeof(example.session.losses) / sizeof(*fields); i++) {
		start(&example, usual);
		fields = (int64_t *)&example.session.losses;
		memset(fields, 0, sizeof(example.session.losses));
		fields[i] = 73400 + (int64_t)i;
		snprintf(number, sizeof(number), "%" PRId64, fields[i]);
		text = text_of(&example, false, false);
		assert_in(text, "losses    ");
		assert_in(text, number);
		free(text);
		session_free(&example.session);
	}
}

static void verbose_shows_every_thread(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, usual);
	text = text_of(&example, true, false);
	assert_in(text, "identity: on + run-queue + off + stopped + unknown == wall for 15 of 15 "
			"threads\n");
	assert_in(text, "  1236 preproc-0                    10.0 s     9.31 s     150 ms    "
			"50.0 ms     490 ms       0 ns       0 ns\n");
	assert_in(text, "  1234 infer                        10.0 s     1.00 s     150 ms    "
			"50.0 ms     8.80 s       0 ns       0 ns\n");
	assert_in(text, " - loader-N x12 ended ");
	assert_in(text, "missing   disk waits: this kernel has no BTF: give one with --btf\n");
	assert_in(text, "CPU busy  0: 93 % (irq 1 %), 1: off\n");
	assert_in(text, "412 ns per context switch, 1.23 % of one CPU");
	assert_in(text, "peak memory 9.0 MiB");
	free(text);

	example.session.threads[1].oncpu_ns++;
	text = text_of(&example, true, false);
	assert_in(text, "== wall for 14 of 15 threads\n");
	free(text);
	session_free(&example.session);
}

static void explain_shows_fired_and_near(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, usual);
	text = text_of(&example, false, true);
	assert_in(text, "fired     gpu-idle: 0.284 < 0.7; a GPU under 70 % waits for something\n");
	assert_in(text, "fired     busy-thread: 0.931 >= 0.8; ");
	assert_in(text, "nearly    run-queue: 0.09 < 0.1; ");
	assert_in(text, "no input  swap\n");
	assert_not_in(text, "emc-saturated");
	free(text);
	session_free(&example.session);
}

static void only_color_has_escapes(void **state)
{
	const struct report_text_options options = {.color = true};
	struct example example;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	start(&example, usual);
	assert_int_equal(report_text_write(out, &example.session, &example.verdict, &options), 0);
	fclose(out);
	assert_int_equal(strncmp(text, "\033[1mcpu-bound (confidence 0.86)\033[0m: thread", 42), 0);
	assert_null(strchr(strchr(text, '\n'), '\033'));
	free(text);
	session_free(&example.session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_fits_a_bug_report),
		cmocka_unit_test(verbose_text_is_clean),
		cmocka_unit_test(text_has_the_numbers),
		cmocka_unit_test(text_names_the_disk),
		cmocka_unit_test(text_names_the_disk_user_by_operation),
		cmocka_unit_test(text_names_what_was_short),
		cmocka_unit_test(text_says_what_is_unknown),
		cmocka_unit_test(text_counts_losses_and_the_rest),
		cmocka_unit_test(text_tells_of_every_loss),
		cmocka_unit_test(verbose_shows_every_thread),
		cmocka_unit_test(explain_shows_fired_and_near),
		cmocka_unit_test(only_color_has_escapes),
	};

	signal(SIGPIPE, SIG_IGN);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
