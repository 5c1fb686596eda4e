/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints that the rung perf reads: their ids and fields come from tracefs, since both move
 * between kernels. Private to src/probe.
 */
#ifndef TEGRATRACE_PERF_EVENTS_H
#define TEGRATRACE_PERF_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "abi.h"
#include "probe/tracefs.h"

enum event_kind {
	EVENT_SWITCH,
	EVENT_WAKING,
	EVENT_WAKEUP,
	EVENT_WAKEUP_NEW,
	EVENT_NEWTASK,
	EVENT_EXEC,
	EVENT_EXIT,
	/* only where interrupts are told apart */
	EVENT_IRQ_ENTRY,
	EVENT_IRQ_EXIT,
	EVENT_SOFTIRQ_ENTRY,
	EVENT_SOFTIRQ_EXIT,
	EVENT_TIMER_ENTRY,
	EVENT_TIMER_EXIT,
	EVENT_KINDS,
	/* made by the reader of the rings */
	EVENT_STACK = EVENT_KINDS, /* of the task that is about to sleep */
	EVENT_LOST,		   /* records are missing after this moment */
};

#define EVENT_FIRST_INTERRUPT EVENT_IRQ_ENTRY
#define EVENT_FIELDS	      4

struct event_format {
	int id;	  /* perf's; -1 = not read here */
	int size; /* the record reaches at least to here */
	int offset[EVENT_FIELDS];
	int field_size[EVENT_FIELDS];
};

struct event_formats {
	struct event_format of[EVENT_KINDS];
};

/* Context of an event, from the record's common_flags (include/linux/trace_events.h). */
#define EVENT_IN_IRQ 0x08

struct trace_event {
	__u64 time_ns;
	__u16 kind; /* enum event_kind */
	__u16 cpu;
	__u8 flags;    /* EVENT_IN_IRQ */
	__u32 current; /* tid of the task that ran */
	__u32 tid;     /* the task that the event is about; of a switch the one that goes out */
	union {
		struct {
			__u32 next, state;
		};
		__u32 clone_flags;
		__u32 old_tid;
		__u32 target_cpu;
		__u32 number;	/* of an interrupt or softirq */
		__u64 until_ns; /* EVENT_LOST: records are there again; ~0 = open */
	};
	char comm[TT_COMM_LEN]; /* of tid, for switches and exits */
	const __u64 *frames;	/* EVENT_STACK: kernel functions, innermost first */
	__u32 nframes;
};

/*
 * Reads ids and fields of the events, with those of interrupts if wanted (and clears *interrupts
 * where the kernel has none of them). Returns 0, or -errno and what is wrong in `reason`.
 */
int event_formats_read(const struct tracefs *tracefs, bool *interrupts,
		       struct event_formats *formats, char *reason, size_t reason_size);

/* "sched/sched_switch" */
const char *event_name(enum event_kind kind);

/*
 * Decode a tracepoint's record. False when its type is none of ours, or it is shorter than its
 * fields. Leaves time and CPU alone.
 */
bool event_decode(const struct event_formats *formats, const void *raw, uint32_t size,
		  struct trace_event *event);

/*
 * The kernel's part of a callchain, without the markers; at most TT_STACK_DEPTH. Returns how many,
 * written to `frames`.
 */
uint32_t event_kernel_frames(const uint64_t *chain, uint64_t n, __u64 frames[TT_STACK_DEPTH]);

#endif
