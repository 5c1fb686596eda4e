/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of type data, written here: whole ones, of other kernels and machines, and damaged ones. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/rungs/type_data.h"

static const char *const task_fields[] = {"flags", "on_cpu",	"on_rq",    "se",   "jobctl",
					  "stack", "in_iowait", "wake_cpu", "prio", "policy",
					  "pid",   "tgid",	"comm"};
#if defined(__aarch64__)
static const char *const reg_fields[] = {"regs", "orig_x0", "syscallno"};
#else
static const char *const reg_fields[] = {"di", "si", "dx", "orig_ax"};
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct shape {
	const char *state; /* NULL: neither name of it */
	const char *without;
	const char *release, *machine; /* NULL: no marks */
	bool unnamed;		       /* the registers lie in an unnamed struct */
	bool swapped;
	bool no_task;
};

static char path[] = "/tmp/test_type_data.XXXXXX";
static char reason[192];

static int add_fields(struct btf *btf, const char *const *names, size_t n,
		      const struct shape *shape, int type)
{
	for (size_t i = 0; i < n; i++) {
		if (shape->without && !strcmp(shape->without, names[i]))
			continue;
		assert_int_equal(btf__add_field(btf, names[i], type, 32 * (__u32)i, 0), 0);
	}
	return 0;
}

static void add_mark(struct btf *btf, const char *name)
{
	assert_true(btf__add_enum(btf, "mark", 4) > 0);
	assert_int_equal(btf__add_enum_value(btf, name, 0), 0);
}

static struct btf *build(const struct shape *shape)
{
	static const char *const entity[] = {"sum_exec_runtime", "prev_sum_exec_runtime"};
	struct btf *btf = btf__new_empty();
	char mark[256] = "tegratrace_release_";
	int number, regs;

	assert_non_null(btf);
	number = btf__add_int(btf, "unsigned int", 4, 0);
	btf__add_struct(btf, "sched_entity", 64);
	add_fields(btf, entity, COUNT(entity), shape, number);
	if (!shape->no_task) {
		btf__add_struct(btf, "task_struct", 256);
		add_fields(btf, task_fields, COUNT(task_fields), shape, number);
		if (shape->state)
			btf__add_field(btf, shape->state, number, 1024, 0);
	}
	regs = btf__add_struct(btf, shape->unnamed ? NULL : "pt_regs", 64);
	add_fields(btf, reg_fields, COUNT(reg_fields), shape, number);
	if (shape->unnamed) {
		btf__add_struct(btf, "pt_regs", 64);
		btf__add_field(btf, NULL, regs, 0, 0);
	}
	if (shape->release) {
		for (const char *c = shape->release; *c; c++)
			sprintf(mark + strlen(mark), "%02x", (unsigned char)*c);
		add_mark(btf, mark);
	}
	if (shape->machine) {
		snprintf(mark, sizeof(mark), "tegratrace_machine_%s", shape->machine);
		add_mark(btf, mark);
	}
	if (shape->swapped)
		assert_int_equal(btf__set_endianness(btf, BTF_BIG_ENDIAN), 0);
	return btf;
}

static void put(const void *data, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static int check_file(const void *data, size_t size)
{
	put(data, size);
	*reason = '\0';
	return type_data_check(path, reason, sizeof(reason));
}

static int check_shape(const struct shape *shape)
{
	struct btf *btf = build(shape);
	__u32 size;
	const void *data = btf__raw_data(btf, &size);
	int err = check_file(data, size);

	btf__free(btf);
	return err;
}

static void assert_refused(const struct shape *shape, const char *words)
{
	assert_int_equal(check_shape(shape), -EINVAL);
	if (!strstr(reason, words))
		fail_msg("'%s' does not say '%s'", reason, words);
	assert_null(strchr(reason, '\n'));
}

static void test_whole(void **state)
{
	struct utsname host;

	(void)state;
	uname(&host);
	assert_int_equal(check_shape(&(struct shape){.state = "__state"}), 0);
	assert_int_equal(check_shape(&(struct shape){.state = "state"}), 0);
	assert_int_equal(check_shape(&(struct shape){.state = "state", .unnamed = true}), 0);
	assert_int_equal(check_shape(&(struct shape){.state = "__state",
						     .release = host.release,
						     .machine = host.machine}),
			 0);
}

static void test_of_another_kernel(void **state)
{
	struct utsname host;
	char other[80];

	(void)state;
	uname(&host);
	snprintf(other, sizeof(other), "%.64s-rebuilt", host.release);
	assert_refused(&(struct shape){.state = "__state", .release = other}, other);
	assert_refused(&(struct shape){.state = "__state", .release = "5.15.148-tegra"},
		       "5.15.148-tegra");
	assert_refused(&(struct shape){.state = "__state", .machine = "riscv64"}, "riscv64");
	assert_refused(&(struct shape){.state = "__state", .release = "5\x1b[31m"}, "5\\x1b[31m");
	assert_refused(&(struct shape){.state = "__state", .swapped = true}, "byte order");
}

static void test_fields_that_are_missing(void **state)
{
	(void)state;
	assert_refused(&(struct shape){0}, "task_struct.__state");
	assert_refused(&(struct shape){.state = "__state", .without = "in_iowait"},
		       "it lacks task_struct.in_iowait");
	assert_refused(&(struct shape){.state = "__state", .without = "sum_exec_runtime"},
		       "it lacks sched_entity.sum_exec_runtime");
	assert_refused(&(struct shape){.state = "__state", .without = reg_fields[0]},
		       "it lacks pt_regs.");
	assert_refused(&(struct shape){.no_task = true}, "no task_struct");
}

static void test_no_type_data(void **state)
{
	(void)state;
	assert_int_equal(check_file("", 0), -EINVAL);
	assert_int_equal(check_file("garbage, and not short of it\n", 29), -EINVAL);
	assert_non_null(strstr(reason, "holds no type data"));
	assert_int_equal(type_data_check("/dev/zero", reason, sizeof(reason)), -EINVAL);
	assert_int_equal(type_data_check("/tmp", reason, sizeof(reason)), -EINVAL);
	assert_int_equal(type_data_check("/nonexistent/file", reason, sizeof(reason)), -ENOENT);
	assert_string_equal(reason, "cannot read file: No such file or directory");
}

/* Each byte changed, each length: refused or taken, never a crash (the sanitizers look on). */
static void test_damage(void **state)
{
	struct btf *btf =
		build(&(struct shape){.state = "__state", .unnamed = true, .machine = "x"});
	__u32 size;
	const void *data = btf__raw_data(btf, &size);
	unsigned char *copy = malloc(size);
	int refused = 0;

	(void)state;
	assert_non_null(copy);
	for (__u32 i = 0; i < size; i++) {
		memcpy(copy, data, size);
		copy[i] ^= 0xff;
		refused += check_file(copy, size) != 0;
		assert_int_not_equal(check_file(data, i), 0);
	}
	assert_true(refused > 50);
	free(copy);
	btf__free(btf);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	libbpf_set_print(NULL);
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_of_another_kernel),
		cmocka_unit_test(test_fields_that_are_missing),
		cmocka_unit_test(test_no_type_data),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
