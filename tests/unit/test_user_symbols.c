/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses to names: of our own process, of deleted, replaced and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe/symbols/user_symbols.h"

/* Its name is only in .symtab. */
static __attribute__((noinline, used)) int function_of_this_test(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}

/* A mangled name: tt::resize_planar(int). */
int mangled(int x) __asm__("_ZN2tt13resize_planarEi");
__attribute__((noinline, used)) int mangled(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 5;
}

struct fixture {
	struct mappings *mappings;
	struct user_symbols *symbols;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->mappings = mappings_new();
	fixture->symbols = user_symbols_new(fixture->mappings);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	user_symbols_free(fixture->symbols);
	mappings_free(fixture->mappings);
	free(fixture);
	return 0;
}

static uint64_t at(const void *function)
{
	return (uint64_t)(uintptr_t)function + 1;
}

static void expect(const struct fixture *fixture, int number, const char *library,
		   const char *function)
{
	struct user_symbol symbol;

	user_symbols_get(fixture->symbols, number, &symbol);
	if (library)
		assert_string_equal(symbol.library, library);
	if (!function) {
		assert_null(symbol.function);
		return;
	}
	assert_non_null(symbol.function);
	assert_string_equal(symbol.function, function);
}

static void own_functions(void **state)
{
	struct fixture *fixture = *state;
	int mine = user_symbols_add(fixture->symbols, getpid(), at(function_of_this_test));
	int cxx = user_symbols_add(fixture->symbols, getpid(), at(mangled));
	int library =
		user_symbols_add(fixture->symbols, getpid(), at(dlsym(RTLD_DEFAULT, "envz_merge")));
	char frame[64];

	assert_int_equal(user_symbols_add(fixture->symbols, getpid(), at(mangled)), cxx);
	user_symbols_resolve(fixture->symbols);
	expect(fixture, mine, "test_user_symbols", "function_of_this_test");
	expect(fixture, cxx, "test_user_symbols", "tt::resize_planar");
	expect(fixture, library, "libc.so.6", "envz_merge");
	user_symbols_frame(fixture->symbols, cxx, frame, sizeof(frame));
	assert_string_equal(frame, "tt::resize_planar");
}

static void vdso(void **state)
{
	struct fixture *fixture = *state;
	void *handle = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *function = handle ? dlsym(handle, "__vdso_clock_gettime") : NULL;
	struct user_symbol symbol;
	int number;

	if (!function)
		skip();
	number = user_symbols_add(fixture->symbols, getpid(), at(function));
	user_symbols_resolve(fixture->symbols);
	user_symbols_get(fixture->symbols, number, &symbol);
	assert_string_equal(symbol.library, "[vdso]");
	assert_non_null(strstr(symbol.function, "clock_gettime"));
}

static void nowhere(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(user_symbols_add(fixture->symbols, getpid(), 16), -1);
	assert_int_equal(user_symbols_add(fixture->symbols, 4194305, at(mangled)), -1);
	user_symbols_resolve(fixture->symbols);
	expect(fixture, -1, "[unknown]", NULL);
}

/* A copy of this program in a file of its own, mapped as code. */
struct copy {
	char path[64];
	char *memory;
	size_t size;
};

static char *read_self(size_t *size)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *text;

	*size = (size_t)lseek(fd, 0, SEEK_END);
	text = malloc(*size);
	assert_int_equal(pread(fd, text, *size, 0), *size);
	close(fd);
	return text;
}

static void map_copy(struct copy *copy, const char *text, size_t size)
{
	int fd;

	strcpy(copy->path, "/tmp/tegratrace-symbols-XXXXXX");
	fd = mkstemp(copy->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	copy->size = size;
	copy->memory = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(copy->memory, MAP_FAILED);
	close(fd);
}

static void unmap_copy(struct copy *copy)
{
	munmap(copy->memory, copy->size);
	unlink(copy->path);
}

/* Offset in the file of our own function: from where its mapping says it comes. */
static uint64_t own_offset(struct fixture *fixture)
{
	return mappings_find(fixture->mappings, getpid(), at(function_of_this_test), MAPPING_NAME)
		.offset;
}

static void deleted_and_replaced(void **state)
{
	struct fixture *fixture = *state;
	uint64_t offset = own_offset(fixture);
	struct copy copy;
	size_t size;
	char *self = read_self(&size);
	struct user_symbol symbol;
	int number, fd;

	map_copy(&copy, self, size);
	unlink(copy.path);
	fd = open(copy.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "not an ELF file", 15), 15);
	close(fd);
	mappings_tick(fixture->mappings);
	number = user_symbols_add(fixture->symbols, getpid(),
				  (uint64_t)(uintptr_t)copy.memory + offset);
	user_symbols_resolve(fixture->symbols);
	expect(fixture, number, strrchr(copy.path, '/') + 1, "function_of_this_test");
	user_symbols_get(fixture->symbols, number, &symbol);
	assert_null(strstr(symbol.library, "deleted"));
	unmap_copy(&copy);
	free(self);
}

/* The process has ended before names are asked for. */
static void outlives_its_process(void **state)
{
	struct fixture *fixture = *state;
	pid_t pid = fork();
	int number;

	if (!pid) {
		pause();
		_exit(0);
	}
	number = user_symbols_add(fixture->symbols, pid, at(function_of_this_test));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	mappings_tick(fixture->mappings);
	assert_int_equal(user_symbols_add(fixture->symbols, pid, at(function_of_this_test)),
			 number);
	user_symbols_resolve(fixture->symbols);
	expect(fixture, number, "test_user_symbols", "function_of_this_test");
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Damaged in its headers, its tables, its length: names may be missing, nothing else. */
static void damaged_files(void **state)
{
	struct fixture *fixture = *state;
	uint64_t offset = own_offset(fixture);
	static struct copy copies[60];
	uint32_t seed = 20011;
	size_t size;
	char *self = read_self(&size), *text = malloc(size);
	int good;

	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		size_t length = i % 3 ? size : size / (i + 2) + 1;
		/* the header, the first headers of segments, the section headers */
		size_t from = i % 3 == 1 ? 0 : size - 4096, range = i % 3 == 1 ? 1024 : 4096;

		memcpy(text, self, size);
		for (int flips = 0; flips < 40 && i % 3; flips++)
			text[from + next_random(&seed) % range] = (char)next_random(&seed);
		if (i % 3 == 1)
			memcpy(text, self, 8); /* else it is seen to be no ELF file at once */
		map_copy(&copies[i], text, length);
	}
	mappings_tick(fixture->mappings);
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
		user_symbols_add(fixture->symbols, getpid(),
				 (uint64_t)(uintptr_t)copies[i].memory + offset % copies[i].size);
	good = user_symbols_add(fixture->symbols, getpid(), at(function_of_this_test));
	user_symbols_resolve(fixture->symbols);
	expect(fixture, good, "test_user_symbols", "function_of_this_test");
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
		unmap_copy(&copies[i]);
	free(text);
	free(self);
}

/* Cut after it was opened. The others have their names. */
static void truncated_while_mapped(void **state)
{
	struct fixture *fixture = *state;
	uint64_t offset = own_offset(fixture);
	struct copy copy, other;
	size_t size;
	char *self = read_self(&size);
	int good, after;

	map_copy(&copy, self, size);
	map_copy(&other, self, size);
	mappings_tick(fixture->mappings);
	user_symbols_add(fixture->symbols, getpid(), (uint64_t)(uintptr_t)copy.memory + offset);
	after = user_symbols_add(fixture->symbols, getpid(),
				 (uint64_t)(uintptr_t)other.memory + offset);
	good = user_symbols_add(fixture->symbols, getpid(), at(function_of_this_test));
	assert_int_equal(truncate(copy.path, 64), 0);
	user_symbols_resolve(fixture->symbols);
	expect(fixture, good, "test_user_symbols", "function_of_this_test");
	expect(fixture, after, NULL, "function_of_this_test");
	unmap_copy(&copy);
	unmap_copy(&other);
	free(self);
}

static atomic_bool all_read;

/* Ends our first child as soon as there is one. Returns its pid; NULL when it came too late. */
static void *kill_child(void *unused)
{
	const struct timespec step = {0, 200000};
	char path[64];

	(void)unused;
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	while (!all_read) {
		FILE *file = fopen(path, "r");
		int pid = 0;

		if (!file)
			return NULL;
		if (fscanf(file, "%d", &pid) != 1)
			pid = 0;
		fclose(file);
		if (pid && !kill(pid, SIGKILL))
			return (void *)(intptr_t)pid;
		nanosleep(&step, NULL);
	}
	return NULL;
}

/* How many of the copies got no name. */
static int read_copies(struct fixture *fixture, const char *self, size_t size, bool *killed)
{
	static struct copy copies[100];
	const size_t n = sizeof(copies) / sizeof(copies[0]);
	uint64_t offset = own_offset(fixture);
	int numbers[100], missing = 0;
	pthread_t killer;
	void *child;

	for (size_t i = 0; i < n; i++)
		map_copy(&copies[i], self, size);
	mappings_tick(fixture->mappings);
	for (size_t i = 0; i < n; i++)
		numbers[i] = user_symbols_add(fixture->symbols, getpid(),
					      (uint64_t)(uintptr_t)copies[i].memory + offset);
	all_read = false;
	assert_int_equal(pthread_create(&killer, NULL, kill_child, NULL), 0);
	user_symbols_resolve(fixture->symbols);
	all_read = true;
	pthread_join(killer, &child);
	for (size_t i = 0; i < n; i++) {
		struct user_symbol symbol;

		user_symbols_get(fixture->symbols, numbers[i], &symbol);
		missing += !symbol.function;
		unmap_copy(&copies[i]);
	}
	*killed = child;
	return missing;
}

/*
 * A file that crashes the library costs its own names, or the one being read at that time. The child
 * is there for some 40 ms only, in which the killer may not get a CPU.
 */
static void crash_in_the_child(void **state)
{
	size_t size;
	char *self = read_self(&size);
	bool killed = false;

	for (int tries = 0; tries < 50 && !killed; tries++)
		assert_in_range(read_copies(*state, self, size, &killed), 0, 1);
	free(self);
	assert_true(killed);
}

static void perf_map(void **state)
{
	struct fixture *fixture = *state;
	char *code = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	int first, second, none;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%llx 40 old\n%llx 40 jitted resize\nnonsense\n%llx 20 Interp;x\x1b\n",
		(unsigned long long)(uintptr_t)code, (unsigned long long)(uintptr_t)code,
		(unsigned long long)(uintptr_t)code + 0x100);
	fclose(file);
	first = user_symbols_add(fixture->symbols, getpid(), (uint64_t)(uintptr_t)code + 0x3f);
	second = user_symbols_add(fixture->symbols, getpid(), (uint64_t)(uintptr_t)code + 0x100);
	none = user_symbols_add(fixture->symbols, getpid(), (uint64_t)(uintptr_t)code + 0x40);
	user_symbols_resolve(fixture->symbols);
	unlink(path);
	expect(fixture, first, "[jit]", "jitted resize");
	expect(fixture, second, "[jit]", "Interp;x\\x1b");
	expect(fixture, none, "[anon]", NULL);
	munmap(code, 8192);
}

static void maps_lines(void **state)
{
	static const struct {
		const char *text;
		enum mapping_kind kind;
		const char *path;
	} cases[] = {
		{"aaaac0000000-aaaac0021000 rw-p 00000000 00:00 0          [heap]\n", MAPPING_HEAP,
		 "[heap]"},
		{"ffff80000000-ffff80021000 rw-p 00000000 00:00 0 \n", MAPPING_ANON, ""},
		{"ffff80000000-ffff80021000 r-xp 00001000 b3:01 77  /usr/lib/x y.so (deleted)\n",
		 MAPPING_FILE, "/usr/lib/x y.so (deleted)"},
		{"ffff8000-ffff9000 rw-s 00000000 00:05 9  /dev/nvhost-gpu\n", MAPPING_DEVICE,
		 "/dev/nvhost-gpu"},
		{"ffff8000-ffff9000 rw-s 00000000 00:01 1234  /memfd:pool (deleted)\n",
		 MAPPING_SHARED, "/memfd:pool (deleted)"},
		{"ffff8000-ffff9000 rw-s 00000000 00:17 4  /dev/shm/torch_1\n", MAPPING_SHARED,
		 "/dev/shm/torch_1"},
		{"ffffe000-fffff000 rw-p 00000000 00:00 0  [stack]\n", MAPPING_STACK, "[stack]"},
		{"ffff8000-ffff9000 r-xp 00000000 00:00 0  [vdso]\n", MAPPING_VDSO, "[vdso]"},
		{"ffff8000-ffff9000 rw-p 00000000 00:00 0  [anon:arena]\n", MAPPING_ANON,
		 "[anon:arena]"},
		{"", MAPPING_KINDS, NULL},
		{"ffff9000-ffff8000 r-xp 00000000 00:00 0\n", MAPPING_KINDS, NULL},
		{"ffff8000-ffff9000 r-xp", MAPPING_KINDS, NULL},
		{"fffffffffffffffffffff-1 r-xp 0 0:0 0\n", MAPPING_KINDS, NULL},
	};
	struct maps_line line;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(text, cases[i].text);
		if (!cases[i].path) {
			assert_false(maps_parse_line(text, &line));
			continue;
		}
		assert_true(maps_parse_line(text, &line));
		assert_string_equal(line.path, cases[i].path);
		assert_int_equal(maps_kind(&line), cases[i].kind);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(own_functions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(vdso, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nowhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(deleted_and_replaced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(outlives_its_process, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damaged_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(truncated_while_mapped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(crash_in_the_child, set_up, tear_down),
		cmocka_unit_test_setup_teardown(perf_map, set_up, tear_down),
		cmocka_unit_test(maps_lines),
	};

	return cmocka_run_group_tests_name("user_symbols", tests, NULL, NULL);
}
