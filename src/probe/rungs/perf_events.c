/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/perf_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Common to all records (include/linux/trace_events.h, struct trace_entry): on RT kernels more follows. */
#define COMMON_TYPE  0
#define COMMON_FLAGS 2
#define COMMON_PID   4
#define COMMON_SIZE  8

/* In this order in event_format.offset. */
static const struct {
	const char *name;
	const char *fields[EVENT_FIELDS];
} events[EVENT_KINDS] = {
	[EVENT_SWITCH] = {"sched/sched_switch",
			  {"prev_pid", "prev_state", "next_pid", "prev_comm"}},
	[EVENT_WAKING] = {"sched/sched_waking", {"pid"}},
	[EVENT_WAKEUP] = {"sched/sched_wakeup", {"pid", "target_cpu"}},
	[EVENT_WAKEUP_NEW] = {"sched/sched_wakeup_new", {"pid"}},
	[EVENT_NEWTASK] = {"task/task_newtask", {"pid", "clone_flags"}},
	[EVENT_EXEC] = {"sched/sched_process_exec", {"pid", "old_pid"}},
	[EVENT_EXIT] = {"sched/sched_process_exit", {"pid", "comm"}},
	[EVENT_IRQ_ENTRY] = {"irq/irq_handler_entry", {"irq"}},
	[EVENT_IRQ_EXIT] = {"irq/irq_handler_exit", {"irq"}},
	[EVENT_SOFTIRQ_ENTRY] = {"irq/softirq_entry", {"vec"}},
	[EVENT_SOFTIRQ_EXIT] = {"irq/softirq_exit", {"vec"}},
	[EVENT_TIMER_ENTRY] = {"timer/hrtimer_expire_entry", {0}},
	[EVENT_TIMER_EXIT] = {"timer/hrtimer_expire_exit", {0}},
};

const char *event_name(enum event_kind kind)
{
	return events[kind].name;
}

static int read_format(const struct tracefs *tracefs, enum event_kind kind,
		       struct event_format *format)
{
	struct tracefs_field fields[EVENT_FIELDS];
	int n = 0, err = 0;

	for (; n < EVENT_FIELDS && events[kind].fields[n]; n++)
		fields[n] = (struct tracefs_field){.name = events[kind].fields[n]};
	format->id = tracefs_event_id(tracefs, events[kind].name);
	if (format->id < 0)
		return format->id;
	if (n)
		err = tracefs_event_fields(tracefs, events[kind].name, fields, n);
	format->size = COMMON_SIZE;
	for (int i = 0; i < n && !err; i++) {
		int end = fields[i].offset + fields[i].size;

		if (fields[i].offset < COMMON_SIZE || fields[i].size < 4 || end > 65535)
			return -EINVAL;
		format->offset[i] = fields[i].offset;
		format->field_size[i] = fields[i].size;
		if (end > format->size)
			format->size = end;
	}
	return err;
}

int event_formats_read(const struct tracefs *tracefs, bool *interrupts,
		       struct event_formats *formats, char *reason, size_t reason_size)
{
	for (int i = 0; i < EVENT_KINDS; i++)
		formats->of[i].id = -1;
	for (int i = 0; i < (*interrupts ? EVENT_KINDS : EVENT_FIRST_INTERRUPT); i++) {
		int err = read_format(tracefs, i, &formats->of[i]);

		if (err && i >= EVENT_FIRST_INTERRUPT) {
			*interrupts = false;
			for (i = EVENT_FIRST_INTERRUPT; i < EVENT_KINDS; i++)
				formats->of[i].id = -1;
		} else if (err) {
			snprintf(reason, reason_size,
				 "the kernel has no tracepoint %s as it is known: %s",
				 events[i].name, strerror(-err));
			return err;
		}
	}
	return 0;
}

static __u32 u32_at(const void *raw, int offset)
{
	__u32 value;

	memcpy(&value, (const char *)raw + offset, sizeof(value));
	return value;
}

/* An array in the record, or its place: offset and length, 16 bits each (__data_loc). */
static void copy_comm(const void *raw, uint32_t size, const struct event_format *format, int field,
		      char comm[TT_COMM_LEN])
{
	uint32_t offset = format->offset[field], length = format->field_size[field];

	if (length == 4) {
		__u32 place = u32_at(raw, offset);

		offset = place & 0xffff;
		length = place >> 16;
	}
	memset(comm, 0, TT_COMM_LEN);
	if (length >= TT_COMM_LEN)
		length = TT_COMM_LEN - 1;
	if (offset <= size && length <= size - offset)
		memcpy(comm, (const char *)raw + offset, length);
}

bool event_decode(const struct event_formats *formats, const void *raw, uint32_t size,
		  struct trace_event *event)
{
	const struct event_format *format = NULL;
	int kind = 0;

	if (size < COMMON_SIZE)
		return false;
	for (; kind < EVENT_KINDS && !format; kind++) {
		if (formats->of[kind].id == *(const __u16 *)((const char *)raw + COMMON_TYPE))
			format = &formats->of[kind];
	}
	if (!format || size < (uint32_t)format->size)
		return false;
	event->kind = (__u16)(kind - 1);
	event->flags = ((const __u8 *)raw)[COMMON_FLAGS];
	event->current = u32_at(raw, COMMON_PID);
	event->tid = format->field_size[0] ? u32_at(raw, format->offset[0]) : 0;
	switch (event->kind) {
	case EVENT_SWITCH:
		event->state = u32_at(raw, format->offset[1]);
		event->next = u32_at(raw, format->offset[2]);
		copy_comm(raw, size, format, 3, event->comm);
		break;
	case EVENT_WAKEUP:
		event->target_cpu = u32_at(raw, format->offset[1]);
		break;
	case EVENT_NEWTASK:
		event->clone_flags = u32_at(raw, format->offset[1]);
		break;
	case EVENT_EXEC:
		event->old_tid = u32_at(raw, format->offset[1]);
		break;
	case EVENT_EXIT:
		copy_comm(raw, size, format, 1, event->comm);
		break;
	case EVENT_IRQ_ENTRY:
	case EVENT_SOFTIRQ_ENTRY:
		event->number = event->tid;
		break;
	}
	return true;
}

uint32_t event_kernel_frames(const uint64_t *chain, uint64_t n, __u64 frames[TT_STACK_DEPTH])
{
	bool in_kernel = false;
	uint32_t kept = 0;

	for (uint64_t i = 0; i < n && kept < TT_STACK_DEPTH; i++) {
		if (chain[i] >= PERF_CONTEXT_MAX)
			in_kernel = chain[i] == PERF_CONTEXT_KERNEL;
		else if (in_kernel)
			frames[kept++] = chain[i];
	}
	return kept;
}
