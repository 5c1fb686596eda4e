/* SPDX-License-Identifier: GPL-2.0-only */
/* What the events of a trace are called, and the sleeps among them by who ended them. */
#include <errno.h>
#include <stdlib.h>

#include "report/trace/trace.h"

static const char *const class_titles[WAIT_CLASSES] = {
	[WAIT_GPU] = "Sleeping (gpu)",	     [WAIT_DISK] = "Sleeping (disk)",
	[WAIT_FAULT] = "Sleeping (fault)",   [WAIT_LOCK] = "Sleeping (lock)",
	[WAIT_THREAD] = "Sleeping (thread)", [WAIT_PROCESS] = "Sleeping (process)",
	[WAIT_NET] = "Sleeping (net)",	     [WAIT_DEVICE] = "Sleeping (device)",
	[WAIT_TIMER] = "Sleeping (timer)",   [WAIT_CHILD] = "Sleeping (child)",
	[WAIT_EVENT] = "Sleeping (event)",   [WAIT_OTHER] = "Sleeping (other)",
};

/* The numbers of the names: those of states come first. */
enum {
	NAME_CLASS = SLICE_STATES,
	NAME_CALL = NAME_CLASS + WAIT_CLASSES,
	NAME_OP = NAME_CALL + CUDA_KINDS,
	NAME_DEVICE = NAME_OP + BLOCK_OPS,
	NAME_WAKES,
	NAME_MAJOR,
	NAME_MINOR,
	NAMES,
};

const char *trace_name(unsigned int number)
{
	static const char *const others[] = {"in the device", "wakes", "Major fault",
					     "Minor faults"};

	if (number < NAME_CLASS)
		return slice_state_title((enum slice_state)number);
	if (number < NAME_CALL)
		return class_titles[number - NAME_CLASS];
	if (number < NAME_OP)
		return cuda_kind_symbol((int)number - NAME_CALL);
	if (number < NAME_DEVICE)
		return block_op_name((enum block_op)(number - NAME_OP));
	return number < NAMES ? others[number - NAME_DEVICE] : NULL;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_wakers(const void *a, const void *b)
{
	const struct trace_waker *x = a, *y = b;
	int order = compare(x->pid, y->pid);

	if (!order)
		order = compare(x->tid, y->tid);
	if (!order)
		order = compare(x->kind, y->kind);
	return order ? order : compare(x->waker, y->waker);
}

int trace_find_wakers(struct trace *trace)
{
	const struct session *session = trace->session;
	size_t kept = 0;

	trace->wakers = calloc(session->nedges + 1, sizeof(*trace->wakers));
	if (!trace->wakers)
		return -ENOMEM;
	for (size_t i = 0; i < session->nedges; i++) {
		const struct wait_edge *edge = &session->edges[i];

		trace->wakers[i] = (struct trace_waker){
			.pid = edge->pid,
			.tid = edge->tid,
			.kind = edge->waker_tid ? WAKER_THREAD : edge->waker_kind,
			.waker = edge->waker_tid,
			.class = edge->class,
		};
	}
	qsort(trace->wakers, session->nedges, sizeof(*trace->wakers), compare_wakers);
	for (size_t i = 0; i < session->nedges; i++) {
		struct trace_waker *waker = &trace->wakers[i], *last = &trace->wakers[kept] - 1;

		if (!kept || compare_wakers(last, waker))
			trace->wakers[kept++] = *waker;
		else if (last->class != waker->class)
			last->class = WAIT_CLASSES;
	}
	trace->nwakers = kept;
	return 0;
}

static unsigned int slice_name(const struct trace *trace, const struct timeline_slice *slice)
{
	const struct trace_waker key = {
		.pid = slice->pid,
		.tid = slice->tid,
		.kind = slice->waker_kind,
		.waker = slice->waker_kind == WAKER_THREAD ? (pid_t)slice->waker : 0,
	};
	const struct trace_waker *found;

	if (slice->state != SLICE_OFF_OTHER || slice->waker_kind == WAKER_NONE)
		return slice->state;
	found = bsearch(&key, trace->wakers, trace->nwakers, sizeof(key), compare_wakers);
	return found && found->class != WAIT_CLASSES ? NAME_CLASS + found->class : slice->state;
}

unsigned int trace_event_name(const struct trace *trace, const struct trace_event *event)
{
	const struct timeline *timeline = &trace->session->timeline;

	switch (event->kind) {
	case TRACE_BEGIN:
	case TRACE_END:
		return slice_name(trace, &timeline->slices[event->row]);
	case TRACE_CALL_BEGIN:
	case TRACE_CALL_END:
		return NAME_CALL + (unsigned int)timeline->calls[event->row].kind;
	case TRACE_REQUEST_BEGIN:
	case TRACE_REQUEST_END:
		return NAME_OP + timeline->requests[event->row].op;
	case TRACE_DEVICE_BEGIN:
	case TRACE_DEVICE_END:
		return NAME_DEVICE;
	case TRACE_WAKES:
		return NAME_WAKES;
	case TRACE_FAULT:
		return timeline->faults[event->row].major ? NAME_MAJOR : NAME_MINOR;
	case TRACE_COUNT:
		break;
	}
	return NAMES;
}
