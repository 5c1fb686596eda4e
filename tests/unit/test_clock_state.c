/* SPDX-License-Identifier: GPL-2.0-only */
/* The file that says what clocks to put back, and the names of the files of several runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cli/run_files.h"
#include "tegra/clock_state.h"

#define BOOT "0c7f1a32-5b0e-4f7c-9a55-0123456789ab"

static void what_is_written_is_read(void **state)
{
	static const struct clock_state states[] = {
		{BOOT, 1, -1, -1},
		{BOOT, 4194304, 2, 0},
		{"", 77, 0, 999},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct clock_state back;
		char text[256];

		assert_true(clock_state_format(&states[i], text, sizeof(text)) > 0);
		assert_int_equal(clock_state_parse(&back, text), 0);
		assert_string_equal(back.boot_id, states[i].boot_id);
		assert_int_equal(back.pid, states[i].pid);
		assert_int_equal(back.mode_before, states[i].mode_before);
		assert_int_equal(back.mode_set, states[i].mode_set);
		/* Nothing cut off, and nothing behind it, is taken for it. */
		for (size_t cut = 0; cut < strlen(text); cut++) {
			char part[256] = "";

			memcpy(part, text, cut);
			assert_int_not_equal(clock_state_parse(&back, part), 0);
		}
		strcat(text, "\n");
		assert_int_not_equal(clock_state_parse(&back, text), 0);
	}
}

static void garbage_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"mode 2 0\n",
		"tegratrace-clocks 2\nboot " BOOT "\npid 1\nmode 2 0\n",
		"tegratrace-clocks 1\nboot " BOOT "\npid 0\nmode 2 0\n",
		"tegratrace-clocks 1\nboot " BOOT "\npid -1\nmode 2 0\n",
		"tegratrace-clocks 1\nboot " BOOT "\npid 1\nmode 2 -1\n",
		"tegratrace-clocks 1\nboot " BOOT "\npid 1\nmode -2 -2\n",
		"tegratrace-clocks 1\nboot " BOOT "\npid 1\nmode 2 1000\n",
		"tegratrace-clocks 1\nboot " BOOT "\npid 1\nmode  2 0\n",
		"tegratrace-clocks 1\nboot " BOOT "\npid 1\nmode +2 0\n",
		"tegratrace-clocks 1\nboot " BOOT "\npid 99999999999\nmode 2 0\n",
		"tegratrace-clocks 1\nboot $(reboot)\npid 1\nmode 2 0\n",
		"tegratrace-clocks 1\nboot " BOOT "\npid 1\nmode 2 0; reboot\n",
		"tegratrace-clocks 1\r\nboot " BOOT "\r\npid 1\r\nmode 2 0\r\n",
	};
	struct clock_state back;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_not_equal(clock_state_parse(&back, texts[i]), 0);
}

static void names_of_files(void **state)
{
	static const struct {
		const char *path, *numbered;
	} paths[] = {
		{"run.json", "run-2.json"},	    {"run", "run-2"},
		{"a.b/run", "a.b/run-2"},	    {"a.b/run.x.ttr", "a.b/run.x-2.ttr"},
		{"folder/", "folder-2/"},	    {".hidden", ".hidden-2"},
		{"/tmp/.hidden", "/tmp/.hidden-2"},
	};
	char text[64], name[RUN_FILES_NAME];

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_true(run_files_numbered(text, sizeof(text), paths[i].path, 2));
		assert_string_equal(text, paths[i].numbered);
	}
	assert_false(run_files_numbered(text, 8, "run.json", 2));
	run_files_name(name, "./bin/infer-v2.1_x");
	assert_string_equal(name, "infer-v2.1_x");
	run_files_name(name, "-rf \xff;$(x)\n");
	assert_string_equal(name, "_rf_____x__");
	run_files_name(name, ".profile");
	assert_string_equal(name, "_profile");
	run_files_name(name, "bin/");
	assert_string_equal(name, "run");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(garbage_is_refused),
		cmocka_unit_test(names_of_files),
	};

	return cmocka_run_group_tests_name("clock_state", tests, NULL, NULL);
}
