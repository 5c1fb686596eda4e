/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/symbols/kernel_symbols.h"

static char path[64];

static void put_bytes(const char *text, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void put(const char *text)
{
	put_bytes(text, strlen(text));
}

static int make_path(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/kallsyms-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int drop_path(void **state)
{
	(void)state;
	return unlink(path);
}

static void check(uint64_t address, const char *name, const char *module)
{
	struct kernel_symbol symbol;

	assert_int_equal(kernel_symbols_resolve(path, &address, 1, &symbol), 0);
	assert_string_equal(symbol.name, name);
	assert_string_equal(symbol.module, module);
}

/* The layout of arm64, with the module area below the image and its lines last and unsorted */
static const char kernel[] = "ffffffc008000000 T _text\n"
			     "ffffffc008010000 T _stext\n"
			     "ffffffc008010000 t __pi_do_one_initcall\n"
			     "ffffffc008010000 T do_one_initcall\n"
			     "ffffffc008010200 t futex_wait_queue_me\n"
			     "ffffffc008010400 W weak_function\n"
			     "ffffffc008010800 T schedule\n"
			     "ffffffc008010a00 T _etext\n"
			     "ffffffc008020000 D data_begin\n"
			     "ffffffc008010500 d data_in_text\n"
			     "ffffffc008010580 r rodata_in_text\n"
			     "ffffffc000910000 t gk20a_channel_wait\t[nvgpu]\n"
			     "ffffffc000900000 t nvgpu_poweron\t[nvgpu]\n"
			     "ffffffc000a00000 b bss_of_module\t[nvgpu]\n"
			     "ffffffc000800000 t nvmap_ioctl\t[nvmap]\n"
			     "ffffffc000910300 T gk20a_busy\t[nvgpu]\n";

static void test_functions_of_kernel_and_modules(void **state)
{
	(void)state;
	put(kernel);
	check(0xffffffc008010000, "do_one_initcall", "");
	check(0xffffffc0080101ff, "do_one_initcall", "");
	check(0xffffffc008010200, "futex_wait_queue_me", "");
	check(0xffffffc008010450, "weak_function", "");
	check(0xffffffc0080109ff, "schedule", "");
	check(0xffffffc000900100, "nvgpu_poweron", "nvgpu");
	check(0xffffffc000910000, "gk20a_channel_wait", "nvgpu");
	check(0xffffffc0009102ff, "gk20a_channel_wait", "nvgpu");
	check(0xffffffc000910310, "gk20a_busy", "nvgpu");
	check(0xffffffc000800004, "nvmap_ioctl", "nvmap");
}

static void test_code_of_named_functions(void **state)
{
	static const char *const names[] = {"schedule",	   "__pi_do_one_initcall",
					    "nvmap_ioctl", "futex_wait",
					    "_etext",	   "get_signal"};
	struct kernel_code code[6];

	(void)state;
	put("ffffffc00800f000 t get_signal.cold\n"
	    "ffffffc00800f100 T get_signal.isra.0\n");
	assert_int_equal(kernel_symbols_find(path, names, 6, code), 0);
	assert_int_equal(code[5].begin, 0xffffffc00800f100);
	assert_int_equal(code[5].size, 0); /* where it ends is not known */
	put(kernel);
	assert_int_equal(kernel_symbols_find(path, names, 6, code), 0);
	assert_int_equal(code[0].begin, 0xffffffc008010800);
	assert_int_equal(code[0].size, 0x200);
	assert_int_equal(code[1].begin, 0xffffffc008010000);
	assert_int_equal(code[1].size, 0x200);
	for (int i = 2; i < 6; i++) /* a module's, none, no end, none */
		assert_int_equal(code[i].size, 0);
	put("0000000000000000 T schedule\n0000000000000000 T _etext\n");
	assert_int_equal(kernel_symbols_find(path, names, 6, code), -EACCES);
	assert_int_equal(code[0].size, 0);
	assert_int_equal(kernel_symbols_find("/none", names, 6, code), -ENOENT);
}

static void test_data_never_names_a_frame(void **state)
{
	(void)state;
	put(kernel);
	check(0xffffffc008010510, "weak_function", "");
	check(0xffffffc008010590, "weak_function", "");
	check(0xffffffc008020010, "[unknown]", "");
}

static void test_addresses_outside(void **state)
{
	(void)state;
	put(kernel);
	check(0, "[unknown]", "");
	check(0x7f0000001000, "[unknown]", "");
	check(0xffffffc0007fffff, "[unknown]", "");
	check(0xffffffc008010a00, "[unknown]", "");
	check(0xffffffc001910400, "[unknown]", ""); /* far behind the last of a module */
	check(UINT64_MAX, "[unknown]", "");
}

static void test_many_addresses_at_once(void **state)
{
	/* unsorted, twice the same, several in one function */
	static const uint64_t addresses[] = {
		0xffffffc008010802, 0xffffffc000910001, 0xffffffc008010801, 1,
		0xffffffc008010802, 0xffffffc008010204, 0xffffffc0080108ff,
	};
	static const char *const names[] = {
		"schedule", "gk20a_channel_wait",  "schedule", "[unknown]",
		"schedule", "futex_wait_queue_me", "schedule"};
	struct kernel_symbol symbols[7];

	(void)state;
	put(kernel);
	assert_int_equal(kernel_symbols_resolve(path, addresses, 7, symbols), 0);
	for (int i = 0; i < 7; i++)
		assert_string_equal(symbols[i].name, names[i]);
	assert_int_equal(kernel_symbols_resolve(path, NULL, 0, NULL), 0);
}

static void test_hidden_addresses(void **state)
{
	uint64_t address = 0xffffffc008010000;
	struct kernel_symbol symbol;

	(void)state;
	put("0000000000000000 T _text\n0000000000000000 T _stext\n"
	    "0000000000000000 t gk20a_channel_wait\t[nvgpu]\n");
	assert_int_equal(kernel_symbols_resolve(path, &address, 1, &symbol), -EACCES);
	assert_string_equal(symbol.name, "[unknown]");
	/* x86: per-CPU symbols are at 0 even where nothing is hidden */
	put("0000000000000000 A fixed_percpu_data\nffffffc008010000 T _stext\n");
	assert_int_equal(kernel_symbols_resolve(path, &address, 1, &symbol), 0);
	assert_string_equal(symbol.name, "_stext");
}

static void test_garbage(void **state)
{
	static const char *const broken[] = {"",
					     "\n\n",
					     "hello\n",
					     "ffff\n",
					     "ffff T\n",
					     "ffff T \n",
					     "12345678901234567 T long\n",
					     " ffff T x\n"};
	uint64_t address = 0xffffffc008010000;
	struct kernel_symbol symbol;
	static char huge[200000];

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		put(broken[i]);
		assert_int_equal(kernel_symbols_resolve(path, &address, 1, &symbol), -EBADMSG);
		assert_string_equal(symbol.name, "[unknown]");
	}
	memset(huge, 'x', sizeof(huge));
	put_bytes(huge, sizeof(huge));
	assert_int_equal(kernel_symbols_resolve(path, &address, 1, &symbol), -EBADMSG);
	put("nonsense\nffffffc008010000 T a\x1b[2J\nffffffc008010100 t b\t[unclosed\n"
	    "ffffffc008010200 t c"); /* no newline at the end */
	check(0xffffffc008010000, "a\\x1b[2J", "");
	check(0xffffffc008010100, "b", "");
	check(0xffffffc008010200, "c", "");
	assert_int_equal(kernel_symbols_resolve("/nonexistent", &address, 1, &symbol), -ENOENT);
	assert_string_equal(symbol.name, "[unknown]");
}

static void test_long_names_are_cut(void **state)
{
	uint64_t address = 0xffffffc008010000;
	struct kernel_symbol symbol;
	char line[700] = "ffffffc008010000 T ";

	(void)state;
	memset(line + strlen(line), 'n', 512);
	put(line);
	assert_int_equal(kernel_symbols_resolve(path, &address, 1, &symbol), 0);
	assert_int_equal(strlen(symbol.name), KSYM_NAME_SIZE - 1);
}

/* The kernel's own: every function's first byte must give a name at that address */
static void test_this_kernel(void **state)
{
	enum { SAMPLES = 4096 };
	static uint64_t addresses[SAMPLES];
	static struct kernel_symbol symbols[SAMPLES];
	static char names[SAMPLES][256];
	FILE *file = fopen("/proc/kallsyms", "r");
	struct rusage before, after;
	char line[1024], type;
	int n = 0, right = 0, seen = 0;

	(void)state;
	assert_non_null(file);
	while (n < SAMPLES && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx %c %255s", &addresses[n], &type, names[n]) == 3 &&
		    (type == 't' || type == 'T') && addresses[n] && ++seen % 17 == 0)
			n++;
	fclose(file);
	if (n < 100)
		skip();
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(kernel_symbols_resolve(NULL, addresses, (size_t)n, symbols), 0);
	getrusage(RUSAGE_SELF, &after);
	for (int i = 0; i < n; i++)
		right += !strncmp(symbols[i].name, names[i], KSYM_NAME_SIZE - 1);
	/* aliases of one address are called by one name */
	assert_true(right > n * 9 / 10);
	/* nothing in proportion to the symbols of the kernel: those take over 4 MiB */
	assert_true(after.ru_maxrss - before.ru_maxrss < 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_of_named_functions),
		cmocka_unit_test(test_functions_of_kernel_and_modules),
		cmocka_unit_test(test_data_never_names_a_frame),
		cmocka_unit_test(test_addresses_outside),
		cmocka_unit_test(test_many_addresses_at_once),
		cmocka_unit_test(test_hidden_addresses),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_long_names_are_cut),
		cmocka_unit_test(test_this_kernel),
	};

	return cmocka_run_group_tests(tests, make_path, drop_path);
}
