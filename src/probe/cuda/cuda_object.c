/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/cuda/cuda_object.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cuda.skel.h"
#include "probe/cuda/cuda_calls.h"
#include "probe/symbols/elf_symbols.h"
#include "probe/rungs/rung.h"

#define ITER_PLACES 16
#define PROBES	    128 /* more than there are calls in the table */

/* linux/bpf.h since 6.6; libbpf knows it from 1.3 on. */
#define UPROBE_MULTI	    48 /* BPF_TRACE_UPROBE_MULTI */
#define UPROBE_MULTI_RETURN 1  /* BPF_F_UPROBE_MULTI_RETURN */

/* One or the other. */
struct cuda_link {
	struct bpf_link *link;
	int fd;
};

/* Places in one file. */
struct probes {
	size_t n;
	uint64_t offsets[PROBES], semaphores[PROBES], cookies[PROBES];
};

static int share_maps(struct cuda_object *object, const struct tracer *tracer)
{
	struct cuda *skel = object->skeleton;
	int err;

	object->threads_fd = tracer_map_fd(tracer, "threads");
	err = bpf_map__reuse_fd(skel->maps.tid_slots, tracer_tid_slots_fd(tracer));
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.threads, object->threads_fd);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.cuda_threads, tracer_slots_max(tracer));
	if (!err)
		err = tracer_share_timeline(tracer, skel->maps.timeline,
					    &skel->rodata->keep_timeline);
	return err;
}

static int map_records(struct cuda_object *object, const struct tracer *tracer)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *records;

	object->series_fd = bpf_map__fd(object->skeleton->maps.cuda_series);
	object->free_series_fd = bpf_map__fd(object->skeleton->maps.free_series);
	object->records_size =
		(tracer_slots_max(tracer) * sizeof(struct tt_cuda) + page - 1) / page * page;
	records = mmap(NULL, object->records_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(object->skeleton->maps.cuda_threads), 0);
	if (records == MAP_FAILED)
		return -errno;
	object->records = records;
	for (__u32 i = 1; i < TT_CUDA_SERIES; i++) {
		if (bpf_map_update_elem(object->free_series_fd, NULL, &i, BPF_ANY))
			return -errno;
	}
	return 0;
}

static int load(struct cuda_object *object, const struct tracer *tracer, bool iter_by_probe)
{
	struct bpf_program *program;
	int err;

	object->skeleton = cuda__open();
	if (!object->skeleton)
		return -errno;
	object->skeleton->rodata->iter_by_probe = iter_by_probe;
	bpf_object__for_each_program (program, object->skeleton->obj) {
		bool any = program == object->skeleton->progs.any_call;
		bool shared = program == object->skeleton->progs.leave ||
			      program == object->skeleton->progs.iteration;

		bpf_program__set_autoload(program, shared || any == object->multi);
		if (object->multi)
			bpf_program__set_expected_attach_type(program, UPROBE_MULTI);
	}
	err = share_maps(object, tracer);
	return err ? err : cuda__load(object->skeleton);
}

static int link_multi(const struct bpf_program *program, const char *path,
		      const struct probes *probes, bool at_return)
{
	struct {
		__u32 program_fd, target_fd, attach_type, flags;
		__u64 path, offsets, semaphores, cookies;
		__u32 count, multi_flags, pid, pad;
	} attr = {
		.program_fd = (__u32)bpf_program__fd(program),
		.attach_type = UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)probes->offsets,
		.semaphores = (uintptr_t)probes->semaphores,
		.cookies = (uintptr_t)probes->cookies,
		.count = (__u32)probes->n,
		.multi_flags = at_return ? UPROBE_MULTI_RETURN : 0,
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, offsetof(__typeof__(attr), pad));

	return fd < 0 ? -errno : (int)fd;
}

/* A folder cannot be probed, and a kernel that has these links says so: -EBADF, not -EINVAL. */
static bool has_multi(const struct cuda_object *object)
{
	const struct probes none = {.n = 1};

	return link_multi(object->skeleton->progs.leave, "/", &none, true) == -EBADF;
}

static void unload(struct cuda_object *object)
{
	cuda__destroy(object->skeleton);
	object->skeleton = NULL;
}

/*
 * Taking down a perf event takes several grace periods, some 50 ms each, and one probe is one
 * event. A link of many probes is taken down at once: since 6.6.
 */
static int load_best(struct cuda_object *object, const struct tracer *tracer, bool iter_by_probe)
{
	const char *kind = getenv("TEGRATRACE_UPROBES");
	libbpf_print_fn_t print;
	int err;

	/* for tests: as on a kernel before 6.6 */
	if (kind && !strcmp(kind, "events"))
		return load(object, tracer, iter_by_probe);
	print = libbpf_set_print(NULL);
	object->multi = true;
	err = load(object, tracer, iter_by_probe);
	libbpf_set_print(print);
	if (!err && has_multi(object))
		return 0;
	unload(object);
	object->multi = false;
	return load(object, tracer, iter_by_probe);
}

int cuda_object_open(struct cuda_object *object, const struct tracer *tracer, bool iter_by_probe,
		     char reason[CUDA_REASON])
{
	int err = load_best(object, tracer, iter_by_probe);

	_Static_assert(CUDA_REASON == RUNG_REASON_LEN, "the same explanations");
	if (!err)
		err = map_records(object, tracer);
	if (err) {
		rung_explain_load(err, reason);
		cuda_object_close(object);
		return err;
	}
	object->window = (struct tt_window *)&object->skeleton->data->window;
	object->object = object->skeleton->obj;
	rung_raise_file_limit(); /* two a probe, a few hundred in all */
	return 0;
}

void cuda_object_close(struct cuda_object *object)
{
	for (int i = 0; i < object->nlinks; i++) {
		if (object->links[i].link)
			bpf_link__destroy(object->links[i].link);
		else
			close(object->links[i].fd);
	}
	free(object->links);
	if (object->records)
		munmap(object->records, object->records_size);
	cuda__destroy(object->skeleton);
	memset(object, 0, sizeof(*object));
}

static int keep_link(struct cuda_object *object, struct cuda_link link)
{
	bool full = !(object->nlinks & (object->nlinks - 1));
	struct cuda_link *links = object->links;

	if (full) {
		links = reallocarray(links, object->nlinks ? 2 * (size_t)object->nlinks : 1,
				     sizeof(*links));
		if (!links)
			return -ENOMEM;
		object->links = links;
	}
	links[object->nlinks++] = link;
	return 0;
}

static int attach_events(struct cuda_object *object, const struct bpf_program *program,
			 const char *path, const struct probes *probes, bool at_return)
{
	for (size_t i = 0; i < probes->n; i++) {
		DECLARE_LIBBPF_OPTS(bpf_uprobe_opts, options, .retprobe = at_return,
				    .ref_ctr_offset = probes->semaphores[i]);
		struct cuda_link link = {.fd = -1};
		int err;

		link.link = bpf_program__attach_uprobe_opts(program, -1, path, probes->offsets[i],
							    &options);
		err = link.link ? keep_link(object, link) : -errno;
		if (err)
			return err;
	}
	return 0;
}

static int attach(struct cuda_object *object, const struct bpf_program *program, int fd,
		  const struct probes *probes, bool at_return)
{
	struct cuda_link link = {0};
	char path[40];

	/* The kernel looks the path up again, and only the descriptor is sure to be the same file. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!object->multi)
		return attach_events(object, program, path, probes, at_return);
	link.fd = link_multi(program, path, probes, at_return);
	return link.fd < 0 ? link.fd : keep_link(object, link);
}

/* The return first: an entry without its return would leave the thread inside the call. */
static int attach_calls(struct cuda_object *object, const char *program_name, int fd,
			const struct probes *probes)
{
	struct bpf_program *entry;
	int err;

	entry = bpf_object__find_program_by_name(object->skeleton->obj, program_name);
	if (!entry)
		return -ENOENT;
	err = attach(object, object->skeleton->progs.leave, fd, probes, true);
	return err ? err : attach(object, entry, fd, probes, false);
}

static void add_probe(struct probes *probes, uint64_t offset, uint64_t semaphore, uint64_t cookie)
{
	probes->offsets[probes->n] = offset;
	probes->semaphores[probes->n] = semaphore;
	probes->cookies[probes->n++] = cookie;
}

static int attach_call(struct cuda_object *object, const struct cuda_call *call, int fd,
		       uint64_t offset)
{
	struct probes probes = {0};
	char name[32] = "any_call";

	if (!object->multi)
		cuda_call_program(call, name, sizeof(name));
	add_probe(&probes, offset, 0, TT_CUDA_COOKIE(call->kind, call->bytes_argument));
	return attach_calls(object, name, fd, &probes);
}

/* Two names of one function would count it twice. */
static bool is_alias(const uint64_t *offsets, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (offsets[k] == offsets[i])
			return true;
	}
	return false;
}

/* push of a register, with and without the prefix for r8 to r15 */
static bool begins_with_push(int fd, uint64_t offset)
{
	unsigned char code[2];

	if (pread(fd, code, sizeof(code), (off_t)offset) != sizeof(code))
		return false;
	return (code[0] & 0xf8) == 0x50 || (code[0] == 0x41 && (code[1] & 0xf8) == 0x50);
}

static int explain_attach(int err, char reason[CUDA_REASON])
{
	if (err == -ENOENT && access("/sys/bus/event_source/devices/uprobe", F_OK))
		snprintf(reason, CUDA_REASON,
			 "this kernel has no uprobes (CONFIG_UPROBE_EVENTS): not on JetPack 5");
	else
		snprintf(reason, CUDA_REASON, "cannot set a uprobe: %s", strerror(-err));
	return err;
}

/* Returns how many of the functions; *err is the last failure. One that cannot be is left out. */
static int attach_one_by_one(struct cuda_object *object, const struct cuda_call *const calls[],
			     const struct probes *probes, int fd, int *err)
{
	int attached = 0;

	for (size_t i = 0; i < probes->n; i++) {
		int failed = attach_call(object, calls[i], fd, probes->offsets[i]);

		attached += !failed;
		*err = failed ? failed : *err;
	}
	return attached;
}

int cuda_object_attach_calls(struct cuda_object *object, const struct target_file *file,
			     enum cuda_mode mode, char reason[CUDA_REASON])
{
	size_t n;
	const struct cuda_call *calls = cuda_calls(&n), *wanted[PROBES];
	const char *names[n];
	uint64_t offsets[n];
	struct probes probes = {0};
	int attached, err;

	for (size_t i = 0; i < n; i++)
		names[i] = calls[i].symbol;
	err = elf_find_functions(file->fd, names, n, offsets);
	for (size_t i = 0; i < n && err > 0 && probes.n < PROBES; i++) {
		if (!offsets[i] || is_alias(offsets, i) ||
		    (mode == CUDA_MODE_SYNC && cuda_kind_is_work(calls[i].kind)))
			continue;
		wanted[probes.n] = &calls[i];
		add_probe(&probes, offsets[i], 0,
			  TT_CUDA_COOKIE(calls[i].kind, calls[i].bytes_argument));
		object->pushes += begins_with_push(file->fd, offsets[i]);
	}
	if (!probes.n) {
		snprintf(reason, CUDA_REASON, "%.100s has none of the CUDA driver's functions",
			 file->path);
		return err < 0 ? err : -ENOENT;
	}
	object->functions += (int)probes.n;
	if (object->multi && !attach_calls(object, "any_call", file->fd, &probes))
		return (int)probes.n;
	attached = attach_one_by_one(object, wanted, &probes, file->fd, &err);
	return attached ? attached : explain_attach(err, reason);
}

static void find_iteration(const struct target_file *file, const struct iter_spec *spec,
			   struct probes *probes)
{
	const char *names[] = {spec->symbol};
	struct elf_usdt places[ITER_PLACES];
	uint64_t offset;
	int n;

	if (!spec->usdt) {
		if (elf_find_functions(file->fd, names, 1, &offset) == 1)
			add_probe(probes, offset, 0, 0);
		return;
	}
	n = elf_find_usdt(file->fd, spec->provider, spec->symbol, places, ITER_PLACES);
	for (int i = 0; i < n; i++)
		add_probe(probes, places[i].offset, places[i].semaphore, 0);
}

int cuda_object_attach_iteration(struct cuda_object *object, const struct target_file *file,
				 const struct iter_spec *spec, char reason[CUDA_REASON])
{
	struct probes probes = {0};
	int err;

	find_iteration(file, spec, &probes);
	if (!probes.n) {
		snprintf(reason, CUDA_REASON, "%.80s has no %s %.40s", file->path,
			 spec->usdt ? "tracepoint" : "function", spec->symbol);
		return -ENOENT;
	}
	err = attach(object, object->skeleton->progs.iteration, file->fd, &probes, false);
	return err ? explain_attach(err, reason) : 0;
}

__u64 cuda_object_timeline_lost(const struct cuda_object *object)
{
	return object->skeleton ? object->skeleton->bss->timeline_lost : 0;
}

void cuda_object_take_series(struct cuda_object *object, __u32 index, struct tt_cuda_series *series)
{
	static const struct tt_cuda_series none;

	if (bpf_map_lookup_elem(object->series_fd, &index, series))
		*series = none;
	bpf_map_update_elem(object->series_fd, &index, &none, BPF_ANY);
	bpf_map_update_elem(object->free_series_fd, NULL, &index, BPF_ANY);
}

/*
 * What a probe costs depends on the instruction that it stands on: the kernel emulates a push on
 * x86, and steps through nearly all others, which takes several times as long.
 */
void measured_push(void);
void measured_step(void);
#if defined(__x86_64__)
__asm__(".text\n"
	".type measured_push, @function\nmeasured_push: push %rbp\npop %rbp\nret\n"
	".type measured_step, @function\nmeasured_step: sub $8, %rsp\nadd $8, %rsp\nret\n");
#else
__asm__(".text\n.balign 4\n"
	".type measured_push, %function\nmeasured_push:\n"
	".type measured_step, %function\nmeasured_step:\n"
	"stp x29, x30, [sp, #-16]!\nldp x29, x30, [sp], #16\nret\n");
#endif

/* Where our own function lies in our own file. */
static uint64_t own_offset(const void *function)
{
	uint64_t address = (uint64_t)(uintptr_t)function, start, end, offset, found = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t size = 0;

	while (maps && !found && getline(&line, &size, maps) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
			    3 &&
		    address >= start && address < end)
			found = address - start + offset;
	}
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

#define COST_CALLS 500

static double time_calls(void (*function)(void))
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < COST_CALLS; i++)
		function();
	clock_gettime(CLOCK_MONOTONIC, &to);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
	       COST_CALLS;
}

double cuda_object_cost_ns(struct cuda_object *object)
{
	static const struct cuda_call call = {.kind = TT_CUDA_STREAM_SYNC};
	void (*function)(void) =
		object->pushes * 2 > object->functions ? measured_push : measured_step;
	uint64_t offset = own_offset((const void *)function);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	double without, with = NAN;

	if (fd < 0)
		return NAN;
	without = time_calls(function);
	if (offset && !attach_call(object, &call, fd, offset))
		with = time_calls(function);
	close(fd);
	return with - without;
}
