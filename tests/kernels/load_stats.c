/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stands between libbpf and the kernel, and asks the verifier what each program cost it. Appends to
 * the file that $LOAD_STATS names: "PROGRAM<TAB>INSNS<TAB>STATES". Preloaded, or linked into a
 * static tegratrace with --wrap=syscall.
 *
 * A program is told by what it attaches to and its whole name, which the kernel cuts at 15 bytes.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_STATS 4 /* BPF_LOG_STATS: only what it came to, since 5.2 */
#define LOG_BYTES 65536

static char verifier_log[LOG_BYTES];

#ifdef WRAPPED
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
#define real_syscall __real_syscall
#define our_syscall  __wrap_syscall
#else
#define our_syscall syscall
static long real_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	static long (*next)(long number, ...);

	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return next(number, a, b, c, d, e, f);
}
#endif

static const char *kind_of(const union bpf_attr *attr)
{
	switch (attr->prog_type) {
	case BPF_PROG_TYPE_TRACING:
		return "raw";
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
		return "raw_tp";
	case BPF_PROG_TYPE_TRACEPOINT:
		return "tracepoint";
	case BPF_PROG_TYPE_PERF_EVENT:
		return "perf";
	case BPF_PROG_TYPE_KPROBE:
		return "uprobe";
	default:
		return "other";
	}
}

static void name_of(const union bpf_attr *attr, char *name, size_t size)
{
	const struct bpf_func_info *info = (const void *)(uintptr_t)attr->func_info;
	struct bpf_btf_info of = {0};
	__u32 len = sizeof(of);
	struct btf *btf = NULL;
	const struct btf_type *type = NULL;

	snprintf(name, size, "%s", attr->prog_name);
	if (!info || bpf_obj_get_info_by_fd((int)attr->prog_btf_fd, &of, &len))
		return;
	btf = btf__load_from_kernel_by_id(of.id);
	if (btf)
		type = btf__type_by_id(btf, info->type_id);
	if (type)
		snprintf(name, size, "%s", btf__name_by_offset(btf, type->name_off));
	btf__free(btf);
}

static void record(const union bpf_attr *attr)
{
	const char *path = getenv("LOAD_STATS"), *at = strstr(verifier_log, "processed ");
	unsigned int insns, states;
	char name[128];
	FILE *file;

	if (!path || !at || sscanf(at, "processed %u", &insns) != 1)
		return;
	at = strstr(at, "total_states ");
	if (!at || sscanf(at, "total_states %u", &states) != 1)
		return;
	name_of(attr, name, sizeof(name));
	file = fopen(path, "ae");
	if (!file)
		return;
	fprintf(file, "%s/%s\t%u\t%u\n", kind_of(attr), name, insns, states);
	fclose(file);
}

long our_syscall(long number, ...)
{
	long arg[6], result;
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_bpf && arg[0] == BPF_PROG_LOAD) {
		union bpf_attr attr = {0};
		size_t size = (size_t)arg[2] < sizeof(attr) ? (size_t)arg[2] : sizeof(attr);

		memcpy(&attr, (const void *)arg[1], size);
		/* What libbpf loads to find out what the kernel can has no type data. */
		if (!attr.prog_btf_fd || attr.log_level)
			return real_syscall(number, arg[0], arg[1], arg[2], 0, 0, 0);
		attr.log_level = LOG_STATS;
		attr.log_buf = (uintptr_t)verifier_log;
		attr.log_size = sizeof(verifier_log);
		verifier_log[0] = 0;
		result = real_syscall(number, arg[0], (long)&attr, (long)size, 0, 0, 0);
		if (result >= 0)
			record(&attr);
		return result;
	}
	return real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
