/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/type_data.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"

/* In the file: enumerators that tools/make-btf.sh adds. The release stands behind it in hex digits. */
#define RELEASE_MARK "tegratrace_release_"
#define MACHINE_MARK "tegratrace_machine_"

#define DEPTH_MAX \
	16 /* of structs in structs, typedefs and the like; a damaged file may hold a circle */

/* Which of them a kernel has depends on its version: one of those with the same `either` will do. */
static const struct wanted {
	const char *type, *field;
	bool either;
} wanted[] = {
	{"task_struct", "__state", true},
	{"task_struct", "state", true}, /* until 5.14 */
	{"task_struct", "flags", false},
	{"task_struct", "on_cpu", false},
	{"task_struct", "on_rq", false},
	{"task_struct", "se", false},
	{"task_struct", "jobctl", false},
	{"task_struct", "stack", false},
	{"task_struct", "in_iowait", false},
	{"task_struct", "prio", false},
	{"task_struct", "policy", false},
	{"task_struct", "wake_cpu", false},
	{"task_struct", "pid", false},
	{"task_struct", "tgid", false},
	{"task_struct", "comm", false},
	{"sched_entity", "sum_exec_runtime", false},
	{"sched_entity", "prev_sum_exec_runtime", false},
#if defined(__aarch64__)
	{"pt_regs", "regs", false},
	{"pt_regs", "orig_x0", false},
	{"pt_regs", "syscallno", false},
#else
	{"pt_regs", "di", false},
	{"pt_regs", "si", false},
	{"pt_regs", "dx", false},
	{"pt_regs", "orig_ax", false},
#endif
};

#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

static int refuse(char *reason, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(char *reason, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reason, size, format, args);
	va_end(args);
	return -EINVAL;
}

static bool is_struct(const struct btf_type *type)
{
	return btf_is_struct(type) || btf_is_union(type);
}

/* libbpf follows references without a look: all that a type refers to must be there. */
static bool references_are_sound(const struct btf *btf, const struct btf_type *type)
{
	__u32 n = btf__type_cnt(btf), count = btf_vlen(type);

	if (!btf__name_by_offset(btf, type->name_off))
		return false;
	if (is_struct(type)) {
		const struct btf_member *member = btf_members(type);

		for (__u32 i = 0; i < count; i++) {
			if (member[i].type >= n || !btf__name_by_offset(btf, member[i].name_off))
				return false;
		}
		return true;
	}
	if (btf_is_func_proto(type)) {
		const struct btf_param *param = btf_params(type);

		for (__u32 i = 0; i < count; i++) {
			if (param[i].type >= n || !btf__name_by_offset(btf, param[i].name_off))
				return false;
		}
		return type->type < n;
	}
	if (btf_is_array(type))
		return btf_array(type)->type < n && btf_array(type)->index_type < n;
	if (btf_is_any_enum(type) || btf_is_int(type) || btf_is_fwd(type) || btf_is_datasec(type) ||
	    btf_is_float(type))
		return true;
	return type->type < n;
}

static bool is_sound(const struct btf *btf)
{
	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		if (!references_are_sound(btf, btf__type_by_id(btf, id)))
			return false;
	}
	return true;
}

/* Also in unnamed structs and unions within. */
static bool has_field(const struct btf *btf, const struct btf_type *type, const char *field,
		      int depth)
{
	const struct btf_member *member;

	while (type && (btf_is_mod(type) || btf_is_typedef(type)) && depth++ < DEPTH_MAX)
		type = btf__type_by_id(btf, type->type);
	if (!type || !is_struct(type) || depth > DEPTH_MAX)
		return false;
	member = btf_members(type);
	for (int i = 0; i < btf_vlen(type); i++) {
		const char *name = btf__name_by_offset(btf, member[i].name_off);

		if (!strcmp(name, field))
			return true;
		if (!*name &&
		    has_field(btf, btf__type_by_id(btf, member[i].type), field, depth + 1))
			return true;
	}
	return false;
}

static bool is_there(const struct btf *btf, const struct wanted *want)
{
	__s32 id = btf__find_by_name_kind(btf, want->type, BTF_KIND_STRUCT);

	return id > 0 && has_field(btf, btf__type_by_id(btf, (__u32)id), want->field, 0);
}

/* The names of what is missing; empty when nothing is. */
static void list_missing(const struct btf *btf, char *missing, size_t size)
{
	bool either = false;

	*missing = '\0';
	for (size_t i = 0; i < WANTED; i++) {
		bool there = is_there(btf, &wanted[i]);

		either |= there && wanted[i].either;
		if (there || wanted[i].either)
			continue;
		text_appendf(missing, size, "%s%s.%s", *missing ? ", " : "", wanted[i].type,
			     wanted[i].field);
	}
	if (!either)
		text_appendf(missing, size, "%stask_struct.__state", *missing ? ", " : "");
}

/* What stands behind the mark in the name of an enumerator; NULL when the file has no such mark. */
static const char *marked(const struct btf *btf, const char *mark)
{
	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		const char *name;

		if (!btf_is_enum(type) || !btf_vlen(type))
			continue;
		name = btf__name_by_offset(btf, btf_enum(type)[0].name_off);
		if (name && !strncmp(name, mark, strlen(mark)))
			return name + strlen(mark);
	}
	return NULL;
}

static void from_hex(const char *hex, char *text, size_t size)
{
	unsigned int byte;
	size_t n = 0;

	while (n + 1 < size && sscanf(hex + 2 * n, "%2x", &byte) == 1 && hex[2 * n + 1])
		text[n++] = (char)byte;
	text[n] = '\0';
}

static int check_kernel(const struct btf *btf, const char *path, char *reason, size_t size)
{
	const char *machine = marked(btf, MACHINE_MARK), *hex = marked(btf, RELEASE_MARK);
	char release[sizeof(((struct utsname *)0)->release)], clean[TEXT_SANITIZED_SIZE(64)];
	struct utsname host;

	if (uname(&host))
		return -errno;
	if (machine && strcmp(machine, host.machine) != 0) {
		text_sanitize(clean, sizeof(clean), machine, strnlen(machine, 64));
		return refuse(reason, size,
			      "%s is type data of a kernel for %s, this machine is %s", path, clean,
			      host.machine);
	}
	if (!hex)
		return 0;
	from_hex(hex, release, sizeof(release));
	if (!strcmp(release, host.release))
		return 0;
	text_sanitize(clean, sizeof(clean), release, strlen(release));
	return refuse(reason, size, "%s is type data of kernel %s, this one is %s", path, clean,
		      host.release);
}

static int check(const struct btf *btf, const char *path, char *reason, size_t size)
{
	char missing[128];
	int err;

	if (!is_sound(btf))
		return refuse(reason, size, "%s is damaged: it refers to types that it lacks",
			      path);
	if (btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT) < 0)
		return refuse(reason, size,
			      "%s is no type data of a kernel, or of reduced debug info: it has no "
			      "task_struct",
			      path);
	err = check_kernel(btf, path, reason, size);
	if (err)
		return err;
	list_missing(btf, missing, sizeof(missing));
	if (*missing)
		return refuse(reason, size, "%s is of another kernel or machine: it lacks %s", path,
			      missing);
	return 0;
}

int type_data_check(const char *path, char *reason, size_t reason_size)
{
	char shown[TEXT_SANITIZED_SIZE(48)];
	const char *slash = strrchr(path, '/'), *name;
	struct btf *btf = NULL;
	struct stat st;
	int err = 0;

	name = slash && slash[1] ? slash + 1 : path;
	text_sanitize(shown, sizeof(shown), name, strnlen(name, 48));
	if (stat(path, &st) || access(path, R_OK)) {
		err = -errno;
		refuse(reason, reason_size, "cannot read %s: %s", shown, strerror(-err));
		return err;
	}
	/* reading a pipe would wait */
	if (S_ISREG(st.st_mode))
		btf = btf__parse(path, NULL);
	if (!btf)
		return refuse(reason, reason_size, "%s holds no type data (BTF)", shown);
	if (btf__endianness(btf) != BTF_LITTLE_ENDIAN)
		err = refuse(reason, reason_size, "%s is of a machine of the other byte order",
			     shown);
	else
		err = check(btf, shown, reason, reason_size);
	btf__free(btf);
	return err;
}
