/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/tracer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/msg.h"
#include "probe/machine/environment.h"
#include "probe/map_table.h"
#include "probe/rungs/records.h"
#include "probe/rungs/rung.h"
#include "probe/tracer_internal.h"

#define DEFAULT_SLOTS	16384
#define DEFAULT_PID_MAX 4194304
/* A verifier log says at its end why, and has thousands of lines before that. */
#define LIBBPF_LINES 40

static int print_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text, *start, *save = NULL;
	int lines = 0;

	if (level == LIBBPF_DEBUG || !msg_verbose() || vasprintf(&text, format, args) < 0)
		return 0;
	for (start = text + strlen(text); start > text; start--) {
		if (start[-1] == '\n' && *start && ++lines == LIBBPF_LINES)
			break;
	}
	for (char *line = strtok_r(start, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		msg_debug("%s", line);
	free(text);
	return 0;
}

static __u32 read_pid_max(void)
{
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	unsigned int pid_max = 0;

	if (file) {
		if (fscanf(file, "%u", &pid_max) != 1)
			pid_max = 0;
		fclose(file);
	}
	return pid_max ? pid_max : DEFAULT_PID_MAX;
}

int tracer_map_fd(const struct tracer *tracer, const char *name)
{
	struct bpf_map *map;

	if (!tracer->objects.object)
		return -ENOTSUP;
	map = bpf_object__find_map_by_name(tracer->objects.object, name);
	return map ? bpf_map__fd(map) : -ENOENT;
}

static void unload(struct tracer *tracer)
{
	if (tracer->threads && !tracer->records)
		munmap(tracer->threads, tracer->threads_size);
	if (tracer->lines && !tracer->records)
		munmap(tracer->lines, tracer->lines_size);
	free(tracer->seen_dead);
	if (tracer->objects.skeleton)
		tracer->ops->destroy(&tracer->objects);
	records_free(tracer->records);
	tracer->records = NULL;
	tracer->threads = NULL;
	tracer->lines = NULL;
	tracer->seen_dead = NULL;
	memset(&tracer->objects, 0, sizeof(tracer->objects));
}

static int try_rung(struct tracer *tracer, const struct rung_ops *ops,
		    const struct tracer_options *options, char reason[RUNG_REASON_LEN])
{
	struct rung_settings settings = {
		.btf = options->btf,
		.follow_children = options->follow_children,
		.interrupts = options->interrupts,
		.kernel_stacks = options->kernel_stacks,
		.user_stacks = options->user_stacks,
		.timeline_bytes = options->timeline_bytes,
		.slots = tracer->slots,
		.pid_max = tracer->pid_max,
	};
	int err;

	tracer->ops = ops;
	if (ops->in_user_space) {
		tracer->records = records_new(tracer->slots, tracer->pid_max);
		if (!tracer->records)
			return -ENOMEM;
		settings.records = tracer->records;
	}
	err = ops->load(&settings, &tracer->objects, reason);
	if (err) {
		unload(tracer);
		return err;
	}
	err = tracer_set_up_slots(tracer);
	if (err) {
		snprintf(reason, RUNG_REASON_LEN, "cannot map the records: %s", strerror(-err));
	} else {
		err = ops->attach(&tracer->objects, reason);
		tracer->attached = !err;
	}
	if (err)
		unload(tracer);
	return err;
}

/* Below 5.11 maps count against RLIMIT_MEMLOCK; not being allowed to raise it is fatal only there. */
static void raise_memlock(void)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		msg_debug("cannot raise RLIMIT_MEMLOCK (%s): needed only below Linux 5.11",
			  strerror(errno));
}

/* Rung raw without a file would only be rung btf once more. */
static bool wanted(const struct tracer_options *options, enum rung rung)
{
	if (options->rung == RUNG_AUTO)
		return rung != RUNG_RAW || options->btf;
	return options->rung == rung;
}

int tracer_open(const struct tracer_options *options, struct tracer **tracer_out,
		struct capability *capability, char *reason, size_t reason_size)
{
	static const struct rung_ops *const ladder[] = {&rung_btf, &rung_raw, &rung_tracepoint,
							&rung_perf, &rung_proc};
	struct tracer *tracer = calloc(1, sizeof(*tracer));
	char why[RUNG_REASON_LEN] = "", what[32];
	int err = -EINVAL, denied = 0;

	if (!tracer)
		return -ENOMEM;
	libbpf_set_print(print_libbpf);
	raise_memlock();
	tracer->slots = options->slots ? options->slots : DEFAULT_SLOTS;
	if (tracer->slots > TT_MAX_SLOTS)
		tracer->slots = TT_MAX_SLOTS;
	tracer->pid_max = read_pid_max();
	for (size_t i = 0; i < sizeof(ladder) / sizeof(ladder[0]) && err; i++) {
		if (!wanted(options, (enum rung)(RUNG_BTF + i)))
			continue;
		why[0] = '\0';
		err = try_rung(tracer, ladder[i], options, why);
		if (err) {
			/* root gets EACCES from the verifier */
			denied |= err == -EPERM || (err == -EACCES && geteuid());
			snprintf(what, sizeof(what), "rung %s", ladder[i]->name);
			capability_add(capability, what, why);
			msg_debug("rung %s: %s", ladder[i]->name, why);
			if (ladder[i] == &rung_raw && options->rung == RUNG_AUTO && !denied)
				msg_warn("--btf: %s; going on without it", why);
		}
	}
	if (err) {
		snprintf(reason, reason_size, "%s", why);
		free(tracer);
		return denied ? -EPERM : err;
	}
	snprintf(capability->rung, sizeof(capability->rung), "%s", tracer->ops->name);
	if (tracer->ops->polls)
		capability_add(capability, "exact accounts",
			       "rung proc polls /proc: threads that live for less than a poll are "
			       "missed, sleep is told apart by samples, single delays and wakers "
			       "are not seen");
	else if (!tracer->objects.interrupts)
		capability_add(capability, "interrupts",
			       "a wake by an interrupt counts as one by the task it interrupted: "
			       "switched off, or no irq and timer events here");
	if (!tracer->objects.calls && !tracer->ops->polls)
		capability_add(
			capability, "system calls of waits",
			"the rung does not see them: samples of /proc, ten a second, tell a "
			"mutex from a condition variable and which descriptor was waited on");
	if (!options->kernel_stacks)
		capability_add(capability, "kernel stacks",
			       tracer->ops == &rung_tracepoint || tracer->ops == &rung_perf
				       ? "switched off: threads that a freezer holds (docker "
					 "pause) count as asleep"
				       : "switched off");
	if (options->btf && tracer->ops == &rung_btf)
		capability_add(capability, "BTF file",
			       "not read: this kernel has type data of its own");
	*tracer_out = tracer;
	return 0;
}

void tracer_settle(struct tracer *tracer, int64_t end_ns)
{
	if (tracer->attached && tracer->ops->settle)
		tracer->ops->settle(&tracer->objects, (__u64)end_ns);
}

void tracer_detach(struct tracer *tracer)
{
	if (tracer->attached)
		tracer->ops->detach(&tracer->objects);
	tracer->attached = false;
}

void tracer_close(struct tracer *tracer)
{
	if (!tracer)
		return;
	tracer_detach(tracer);
	unload(tracer);
	free(tracer);
}

int tracer_tid_slots_fd(const struct tracer *tracer)
{
	return tracer_map_fd(tracer, "tid_slots");
}

int tracer_share_timeline(const struct tracer *tracer, struct bpf_map *map, bool *keep)
{
	int fd = tracer_map_fd(tracer, "timeline");

	*keep = fd >= 0;
	return *keep ? bpf_map__reuse_fd(map, fd) : bpf_map__set_autocreate(map, false);
}

static const struct {
	const char *map;
	size_t key_size, value_size, max_rows;
} tables[] = {
	[TRACER_EDGES] = {"edges", sizeof(struct tt_edge_key), sizeof(struct tt_edge),
			  TT_MAX_EDGES},
	[TRACER_HOLDERS] = {"holders", sizeof(struct tt_holder_key), sizeof(struct tt_holder),
			    TT_MAX_HOLDERS},
};

static struct hash_table *own_table(const struct tracer *tracer, enum tracer_table table)
{
	return table == TRACER_EDGES ? tracer->records->edges : tracer->records->holders;
}

int tracer_read_table(const struct tracer *tracer, enum tracer_table table, struct map_table *rows)
{
	int err;

	if (!tracer->records)
		return map_table_read(rows, tracer_map_fd(tracer, tables[table].map),
				      tables[table].max_rows, tables[table].key_size,
				      tables[table].value_size);
	pthread_mutex_lock(&tracer->records->lock);
	err = hash_table_read(own_table(tracer, table), rows);
	pthread_mutex_unlock(&tracer->records->lock);
	return err;
}

void tracer_delete_row(const struct tracer *tracer, enum tracer_table table, const void *key)
{
	if (!tracer->records) {
		bpf_map_delete_elem(tracer_map_fd(tracer, tables[table].map), key);
		return;
	}
	pthread_mutex_lock(&tracer->records->lock);
	hash_table_delete(own_table(tracer, table), key);
	pthread_mutex_unlock(&tracer->records->lock);
}

int tracer_read_stack(const struct tracer *tracer, __u64 key, struct tt_stack *stack)
{
	const struct tt_stack *found;

	if (!tracer->records)
		return bpf_map_lookup_elem(tracer_map_fd(tracer, "stacks"), &key, stack);
	pthread_mutex_lock(&tracer->records->lock);
	found = hash_table_find(tracer->records->stacks, &key);
	if (found)
		*stack = *found;
	pthread_mutex_unlock(&tracer->records->lock);
	return found ? 0 : -ENOENT;
}

int tracer_read_site(const struct tracer *tracer, __u64 key, struct sleep_site *site)
{
	if (!tracer->ops->read_site)
		return -ENOENT;
	return tracer->ops->read_site(&tracer->objects, key, site);
}

bool tracer_polls(const struct tracer *tracer)
{
	return tracer->ops->polls;
}

bool tracer_sees_calls(const struct tracer *tracer)
{
	return tracer->objects.calls;
}

int64_t tracer_events(const struct tracer *tracer)
{
	return tracer->ops->events ? (int64_t)tracer->ops->events(&tracer->objects) : UNKNOWN_COUNT;
}

int tracer_add_object(struct tracer *tracer, const struct bpf_object *object,
		      struct tt_window *window)
{
	if (tracer->nothers == TRACER_OTHERS)
		return -ENOSPC;
	tracer->others[tracer->nothers].object = object;
	tracer->others[tracer->nothers++].window = window;
	return 0;
}

void tracer_publish_begin(struct tracer *tracer, int64_t begin_ns)
{
	__atomic_store_n(&tracer->objects.window->begin_ns, (__u64)begin_ns, __ATOMIC_RELEASE);
	for (int i = 0; i < tracer->nothers; i++)
		__atomic_store_n(&tracer->others[i].window->begin_ns, (__u64)begin_ns,
				 __ATOMIC_RELEASE);
}

void tracer_publish_end(struct tracer *tracer, int64_t end_ns)
{
	__atomic_store_n(&tracer->objects.window->end_ns, (__u64)end_ns, __ATOMIC_RELEASE);
	for (int i = 0; i < tracer->nothers; i++)
		__atomic_store_n(&tracer->others[i].window->end_ns, (__u64)end_ns,
				 __ATOMIC_RELEASE);
}

struct tt_losses tracer_losses(const struct tracer *tracer)
{
	return *tracer->objects.losses;
}

static int object_costs(const struct bpf_object *object, struct program_cost *costs, int room)
{
	struct bpf_program *program;
	int n = 0;

	bpf_object__for_each_program (program, object) {
		struct bpf_prog_info info = {};
		__u32 size = sizeof(info);

		if (n == room || bpf_program__fd(program) < 0)
			continue;
		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			continue;
		snprintf(costs[n].name, sizeof(costs[n].name), "%s", bpf_program__name(program));
		costs[n].runs = info.run_cnt;
		costs[n].ns = info.run_time_ns;
		n++;
	}
	return n;
}

int tracer_program_costs(const struct tracer *tracer, struct program_cost costs[TRACER_PROGRAMS])
{
	int n = 0;

	if (!tracer->objects.object)
		return 0;
	n = object_costs(tracer->objects.object, costs, TRACER_PROGRAMS);
	for (int i = 0; i < tracer->nothers; i++)
		n += object_costs(tracer->others[i].object, costs + n, TRACER_PROGRAMS - n);
	return n;
}
