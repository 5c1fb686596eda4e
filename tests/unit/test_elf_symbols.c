/* SPDX-License-Identifier: GPL-2.0-only */
/* Places of functions in an ELF file, here this test itself; and files that are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/symbols/elf_symbols.h"

#define CODE 16

static const char *const names[] = {"landmark", "no_such_function_here", "main"};

/* A body long enough to be compared. */
__attribute__((noinline)) int landmark(volatile int *value);
int landmark(volatile int *value)
{
	return *value * 31 + (*value << 3) - *value / 7;
}

static int own_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void functions_are_where_their_code_is(void **state)
{
	uint64_t offsets[3];
	unsigned char code[CODE];
	int fd = own_file();

	(void)state;
	assert_int_equal(elf_find_functions(fd, names, 3, offsets), 2);
	assert_int_equal(pread(fd, code, CODE, (off_t)offsets[0]), CODE);
	assert_memory_equal(code, (const void *)landmark, CODE);
	assert_int_equal(offsets[1], 0);
	assert_true(offsets[2] != 0);
	close(fd);
}

static void not_an_elf_file(void **state)
{
	struct elf_usdt places[2];
	uint64_t offsets[3];
	int fd = memfd_create("text", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(elf_find_functions(fd, names, 3, offsets), -ENOEXEC);
	assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
	assert_int_equal(elf_find_functions(fd, names, 3, offsets), -ENOEXEC);
	assert_int_equal(elf_find_usdt(fd, "a", "b", places, 2), -ENOEXEC);
	close(fd);
}

/* Must not crash or read outside (make check runs this under the sanitizers). */
static void read_damaged(const char *bytes, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct elf_usdt places[2];
	uint64_t offsets[3];

	assert_int_equal(write(fd, bytes, size), size);
	elf_find_functions(fd, names, 3, offsets);
	elf_find_usdt(fd, "prov", "name", places, 2);
	close(fd);
}

static void damaged_files(void **state)
{
	int fd = own_file();
	struct stat st;
	char *bytes;
	unsigned int seed = 7;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_non_null(bytes);
	assert_int_equal(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
	for (size_t part = 0; part < 41; part++)
		read_damaged(bytes, (size_t)st.st_size * part / 41);
	for (int i = 0; i < 101; i++) {
		/* the ELF header, the program headers, or the section headers at the end */
		size_t at = (size_t)(rand_r(&seed) % 1024);
		char *byte = bytes + (i % 2 ? at : (size_t)st.st_size - 1 - at);
		char was = *byte;

		*byte = (char)rand_r(&seed);
		read_damaged(bytes, (size_t)st.st_size);
		*byte = was;
	}
	free(bytes);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_where_their_code_is),
		cmocka_unit_test(not_an_elf_file),
		cmocka_unit_test(damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
