/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Offsets come from tracefs; the perf events are opened here and not by libbpf, because tracefs
 * may be a mount that has no path.
 */
#include "probe/rungs/rung.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/msg.h"
#include "probe/rungs/freezer.h"
#include "probe/rungs/skeleton.h"
#include "probe/rungs/user_regs.h"
#include "probe/tracefs.h"
#include "sched_tracepoint.skel.h"

/* The record offsets that bpf/sched_tracepoint.bpf.c can load from. */
#define OFFSET_MIN 8
#define OFFSET_MAX 88

struct wanted_field {
	const char *event, *field;
	size_t rodata; /* where the program reads the offset */
	bool interrupts;
};

#define WANT(event_name, field_name, variable)                                                     \
	{                                                                                          \
		event_name, field_name, offsetof(struct sched_tracepoint__rodata, variable), false \
	}
#define WANT_INTERRUPT(event_name, field_name, variable)                                          \
	{                                                                                         \
		event_name, field_name, offsetof(struct sched_tracepoint__rodata, variable), true \
	}

static const struct wanted_field wanted[] = {
	WANT("sched/sched_switch", "prev_pid", off_switch_prev_pid),
	WANT("sched/sched_switch", "prev_state", off_switch_prev_state),
	WANT("sched/sched_switch", "next_pid", off_switch_next_pid),
	WANT("sched/sched_switch", "prev_comm", off_switch_prev_comm),
	WANT("sched/sched_waking", "pid", off_waking_pid),
	WANT("sched/sched_wakeup", "pid", off_wakeup_pid),
	WANT("sched/sched_wakeup", "target_cpu", off_wakeup_target_cpu),
	WANT("sched/sched_wakeup_new", "pid", off_wakeup_new_pid),
	WANT("task/task_newtask", "pid", off_newtask_pid),
	WANT("task/task_newtask", "clone_flags", off_newtask_clone_flags),
	WANT("sched/sched_process_exec", "pid", off_exec_pid),
	WANT("sched/sched_process_exec", "old_pid", off_exec_old_pid),
	WANT("sched/sched_process_exit", "pid", off_exit_pid),
	WANT_INTERRUPT("irq/irq_handler_entry", "irq", off_irq_entry_irq),
	WANT_INTERRUPT("irq/softirq_entry", "vec", off_softirq_entry_vec),
};

static int set_offsets(const struct tracefs *tracefs, struct sched_tracepoint *skel,
		       bool interrupts, char reason[RUNG_REASON_LEN])
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct tracefs_field field = {.name = wanted[i].field};
		int err;

		if (wanted[i].interrupts && !interrupts)
			continue;
		err = tracefs_event_fields(tracefs, wanted[i].event, &field, 1);

		if (err) {
			snprintf(reason, RUNG_REASON_LEN, "tracepoint %s has no field %s here: %s",
				 wanted[i].event, wanted[i].field, strerror(-err));
			return err;
		}
		if (field.offset < OFFSET_MIN || field.offset > OFFSET_MAX || field.offset % 4) {
			snprintf(reason, RUNG_REASON_LEN, "%s.%s lies at offset %d: not understood",
				 wanted[i].event, wanted[i].field, field.offset);
			return -EINVAL;
		}
		*(__u32 *)((char *)skel->rodata + wanted[i].rodata) = field.offset;
	}
	return 0;
}

/* Without them its programs tell a wait by stack and waker, and samples from /proc add to that. */
static bool find_registers(struct sched_tracepoint *skel)
{
	struct regs_place place;
	int err = user_regs_find(&place);

	if (err) {
		msg_debug("where user registers lie is not known: %s", strerror(-err));
		return false;
	}
	skel->rodata->off_task_stack = place.task_stack;
	skel->rodata->off_stack_syscall = place.stack_syscall;
	return true;
}

/* The stack tells a frozen thread; of those that are not walked otherwise, once a cgroup's event came. */
static void choose_freezer(const struct tracefs *tracefs, struct sched_tracepoint *skel)
{
	struct tt_freezer freezer;

	freezer_find(&freezer, skel->rodata->kernel_stacks);
	memcpy((void *)&skel->rodata->freezer, &freezer, sizeof(freezer));
	if (!freezer.code[TT_FREEZER_SCHEDULE].size ||
	    tracefs_event_id(tracefs, "cgroup/cgroup_freeze") < 0)
		bpf_program__set_autoload(skel->progs.cgroup_freeze, false);
}

static int tracepoint_load(const struct rung_settings *settings, struct rung_objects *objects,
			   char reason[RUNG_REASON_LEN])
{
	struct sched_tracepoint *skel;
	struct tracefs tracefs;
	int err = tracefs_open(&tracefs);
	bool calls;

	if (err) {
		snprintf(reason, RUNG_REASON_LEN, "tracefs %s", tracefs.where);
		return err;
	}
	skel = sched_tracepoint__open();
	if (!skel) {
		err = -errno;
		rung_explain_load(err, reason);
		goto out;
	}
	SKELETON_CHOOSE(skel, settings, objects);
	calls = find_registers(skel);
	choose_freezer(&tracefs, skel);
	err = set_offsets(&tracefs, skel, objects->interrupts, reason);
	if (err)
		goto out;
	err = rung_size_maps(skel->obj, settings);
	if (!err)
		err = sched_tracepoint__load(skel);
	if (err) {
		rung_explain_load(err, reason);
		goto out;
	}
	SKELETON_KEEP(skel, objects);
	objects->calls = calls;
	skel = NULL;
out:
	sched_tracepoint__destroy(skel);
	tracefs_close(&tracefs);
	return err;
}

/* One event on one CPU is enough: a program on a tracepoint acts on all of them. */
static int open_event(const struct tracefs *tracefs, const char *event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.wakeup_events = 1,
	};
	int id = tracefs_event_id(tracefs, event), fd;

	if (id < 0)
		return id;
	attr.config = id;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int attach_program(const struct tracefs *tracefs, struct bpf_program *program,
			  struct bpf_link **link)
{
	/* "tracepoint/sched/sched_switch" */
	const char *event = strchr(bpf_program__section_name(program), '/');
	int fd = event ? open_event(tracefs, event + 1) : -EINVAL;

	if (fd < 0)
		return fd;
	*link = bpf_program__attach_perf_event(program, fd);
	if (!*link) {
		int err = -errno;

		close(fd);
		return err;
	}
	return 0;
}

int rung_attach_tracepoints(struct bpf_object_skeleton *s, char reason[RUNG_REASON_LEN])
{
	struct tracefs tracefs;
	int err = tracefs_open(&tracefs);

	if (err)
		return err;
	for (int i = 0; i < s->prog_cnt && !err; i++) {
		if (!bpf_program__autoload(*s->progs[i].prog))
			continue;
		err = attach_program(&tracefs, *s->progs[i].prog, s->progs[i].link);
		if (err)
			snprintf(reason, RUNG_REASON_LEN, "cannot attach to the tracepoint %s: %s",
				 s->progs[i].name, strerror(-err));
	}
	tracefs_close(&tracefs);
	return err;
}

static int tracepoint_attach(struct rung_objects *objects, char reason[RUNG_REASON_LEN])
{
	struct sched_tracepoint *skel = objects->skeleton;

	return rung_attach_tracepoints(skel->skeleton, reason);
}

static void tracepoint_detach(struct rung_objects *objects)
{
	sched_tracepoint__detach(objects->skeleton);
}

static void tracepoint_destroy(struct rung_objects *objects)
{
	sched_tracepoint__destroy(objects->skeleton);
}

const struct rung_ops rung_tracepoint = {
	.name = "tracepoint",
	.load = tracepoint_load,
	.attach = tracepoint_attach,
	.detach = tracepoint_detach,
	.destroy = tracepoint_destroy,
};
