/* SPDX-License-Identifier: GPL-2.0-only */
/* Folded stacks: one line a stack whatever the names hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/frame.h"
#include "report/flame/folded.h"

static void escapes(void **state)
{
	static const struct {
		const char *name, *frame;
	} cases[] = {
		{"main", "main"},
		{"operator new", "operator_new"},
		{"a;b", "a:b"},
		{"line\nbreak", "line\\x0abreak"},
		{"\x1b[31mred", "\\x1b[31mred"},
		{"\xff", "\\xff"},
		{"", "?"},
		{"std::vector<int, x>", "std::vector<int,_x>"},
	};
	char frame[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		frame_escape(frame, sizeof(frame), cases[i].name);
		assert_string_equal(frame, cases[i].frame);
	}
	frame_escape(frame, 4, "abcdef");
	assert_string_equal(frame, "abc");
}

static char *written(const struct session *session)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(report_folded_write(out, session), 0);
	fclose(out);
	return text;
}

static void waits_and_sites(void **state)
{
	struct oncpu_site sites[] = {
		{.group = "evil; 7\n",
		 .library = "lib a.so",
		 .function = "f;g",
		 .kernel = "do it",
		 .kind = ONCPU_SPIN,
		 .samples = 99},
		{.group = "plain", .library = "infer", .kind = ONCPU_WORK, .samples = 1},
	};
	struct wait_stack stack = {.group = "feeder",
				   .class = WAIT_DISK,
				   .frames = "main;read;io_schedule_[k]",
				   .ns = 1999999};
	struct session session;
	char *text;

	(void)state;
	session_init(&session);
	session.oncpu = sites;
	session.noncpu = 2;
	session.oncpu_hz = 99;
	session.stacks = &stack;
	session.nstacks = 1;
	text = written(&session);
	assert_string_equal(text, "feeder;off-CPU:disk;main;read;io_schedule_[k] 1999\n"
				  "evil:_7\\x0a;on-CPU:spin;lib_a.so;f:g;do_it_[k] 1000000\n"
				  "plain;on-CPU;infer 10101\n");
	free(text);
}

/* Whole stacks hold what the sites hold: one of both. */
static void whole_stacks(void **state)
{
	struct oncpu_site site = {.group = "g", .library = "l", .samples = 2};
	struct oncpu_stack stack = {
		.group = "g", .kind = ONCPU_GPU_SPIN, .frames = "main;wait", .samples = 2};
	struct session session;
	char *text;

	(void)state;
	session_init(&session);
	session.oncpu = &site;
	session.noncpu = 1;
	session.oncpu_stacks = &stack;
	session.noncpu_stacks = 1;
	session.oncpu_hz = 100;
	text = written(&session);
	assert_string_equal(text, "g;on-CPU:gpu-spin;main;wait 20000\n");
	free(text);
}

static void full_disk(void **state)
{
	struct wait_stack stack = {.group = "g", .frames = "main", .ns = 1000};
	struct session session;
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	session_init(&session);
	session.stacks = &stack;
	session.nstacks = 1;
	assert_non_null(out);
	assert_true(report_folded_write(out, &session) < 0);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes),
		cmocka_unit_test(waits_and_sites),
		cmocka_unit_test(whole_stacks),
		cmocka_unit_test(full_disk),
	};

	return cmocka_run_group_tests_name("folded", tests, NULL, NULL);
}
