/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/timeline.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "block.h"
#include "probe/block_io.h"
#include "probe/machine/environment.h"

/* The ring holds the intervals of 200 ms at 2 million a second. */
#define PERIOD_NS 20000000LL

#define DEVICES 16

struct timeline_probe {
	struct tracer *tracer;
	struct session *session;
	struct ring_buffer *ring;
	int64_t begin_ns, next_ns;
	struct {
		uint32_t dev;
		char name[sizeof(((struct timeline_request *)0)->device)];
	} devices[DEVICES];
	int ndevices;
};

static const enum slice_state states[TT_BUCKET_SLOTS] = {
	[TT_UNKNOWN] = SLICE_UNKNOWN,	  [TT_ONCPU] = SLICE_ONCPU,
	[TT_RUNQ_WAKE] = SLICE_RUNQ_WAKE, [TT_RUNQ_PREEMPT] = SLICE_RUNQ_PREEMPT,
	[TT_STOPPED] = SLICE_STOPPED,	  [TT_DEAD] = SLICE_UNKNOWN,
	[TT_OFF_DISK] = SLICE_OFF_DISK,	  [TT_OFF_OTHER] = SLICE_OFF_OTHER,
};

static void set_waker(struct timeline_slice *slice, uint32_t waker)
{
	static const enum waker_kind kinds[] = {
		[TT_WAKER_TASK] = WAKER_THREAD,	    [TT_WAKER_IRQ] = WAKER_IRQ,
		[TT_WAKER_SOFTIRQ] = WAKER_SOFTIRQ, [TT_WAKER_TIMER] = WAKER_TIMER,
		[TT_WAKER_DISK] = WAKER_NONE,	    [TT_WAKER_UNSEEN] = WAKER_NONE,
	};
	uint32_t kind = waker >> TT_WAKER_KIND_SHIFT;

	if (kind > TT_WAKER_UNSEEN)
		return;
	slice->waker_kind = kinds[kind];
	slice->waker = waker & TT_WAKER_ID_MASK;
	if (kind == TT_WAKER_TASK && !slice->waker)
		slice->waker_kind = WAKER_IRQ; /* over the idle task, not told which */
}

static void take_slice(struct timeline_probe *probe, const struct tt_slice *raw)
{
	struct timeline_slice slice = {
		.start_ns = (int64_t)raw->start_ns - probe->begin_ns,
		.ns = (int64_t)raw->ns,
		.pid = (pid_t)raw->tgid,
		.tid = (pid_t)raw->tid,
		.cpu = raw->cpu,
		.state = states[raw->bucket],
	};

	if (raw->bucket >= TT_OFF_FIRST)
		set_waker(&slice, raw->waker);
	timeline_add_slice(&probe->session->timeline, &slice);
}

/* One readlink a device, not a request. */
static void name_device(struct timeline_probe *probe, uint32_t dev, char *name, size_t size)
{
	for (int i = 0; i < probe->ndevices; i++) {
		if (probe->devices[i].dev == dev) {
			text_copy(name, size, probe->devices[i].name);
			return;
		}
	}
	block_kernel_device_name(dev, name, size);
	if (probe->ndevices == DEVICES)
		return;
	probe->devices[probe->ndevices].dev = dev;
	text_copy(probe->devices[probe->ndevices++].name, size, name);
}

static void take_request(struct timeline_probe *probe, const struct tt_event_block *raw)
{
	struct timeline_request request = {
		.issue_ns = (int64_t)raw->head.start_ns - probe->begin_ns,
		.queue_ns = raw->queue_ns == TT_QUEUE_UNKNOWN ? UNKNOWN_NS : (int64_t)raw->queue_ns,
		.device_ns = (int64_t)raw->head.ns,
		.bytes = raw->bytes,
		.pid = (pid_t)raw->head.tgid,
		.tid = (pid_t)raw->head.tid,
		.op = (enum block_op)raw->op,
	};

	name_device(probe, raw->dev, request.device, sizeof(request.device));
	timeline_add_request(&probe->session->timeline, &request);
}

static void take_faults(struct timeline_probe *probe, const struct tt_event_faults *raw)
{
	struct timeline_fault fault = {
		.start_ns = (int64_t)raw->head.start_ns - probe->begin_ns,
		.ns = (int64_t)raw->head.ns,
		.count = raw->count,
		.pid = (pid_t)raw->head.tgid,
		.tid = (pid_t)raw->head.tid,
		.major = raw->major,
	};

	timeline_add_fault(&probe->session->timeline, &fault);
}

static void take_call(struct timeline_probe *probe, const struct tt_event_call *raw)
{
	struct timeline_call call = {
		.start_ns = (int64_t)raw->head.start_ns - probe->begin_ns,
		.ns = (int64_t)raw->head.ns,
		.bytes = (int64_t)raw->bytes,
		.pid = (pid_t)raw->head.tgid,
		.tid = (pid_t)raw->head.tid,
		.kind = (int)raw->kind,
		.calls = raw->calls,
	};

	timeline_add_call(&probe->session->timeline, &call);
}

static int take(void *ctx, void *data, size_t size)
{
	const struct tt_slice *head = data;

	if (size < sizeof(*head))
		return 0;
	if (head->bucket < TT_BUCKET_SLOTS)
		take_slice(ctx, head);
	else if (head->bucket == TT_EVENT_BLOCK && size >= sizeof(struct tt_event_block))
		take_request(ctx, data);
	else if (head->bucket == TT_EVENT_FAULTS && size >= sizeof(struct tt_event_faults))
		take_faults(ctx, data);
	else if (head->bucket == TT_EVENT_CALL && size >= sizeof(struct tt_event_call))
		take_call(ctx, data);
	return 0;
}

struct timeline_probe *timeline_probe_open(struct tracer *tracer, struct session *session,
					   size_t limit_bytes)
{
	struct timeline_probe *probe;
	int fd = tracer_map_fd(tracer, "timeline");

	if (fd < 0) {
		capability_add(&session->capability, "timeline",
			       fd == -ENOTSUP
				       ? "needs BPF programs, and the rung in use has none: no "
					 "intervals, block requests, faults or CUDA calls"
				       : "this kernel has no BPF ring buffer: Linux 5.8 or "
					 "newer has");
		return NULL;
	}
	probe = calloc(1, sizeof(*probe));
	if (!probe)
		return NULL;
	probe->tracer = tracer;
	probe->session = session;
	probe->ring = ring_buffer__new(fd, take, probe, NULL);
	if (probe->ring) {
		session->losses.timeline_lost = 0;
		session->timeline.limit_bytes = limit_bytes;
		return probe;
	}
	capability_add(&session->capability, "timeline", strerror(errno));
	free(probe);
	return NULL;
}

void timeline_probe_begin(struct timeline_probe *probe, int64_t begin_ns)
{
	if (!probe)
		return;
	probe->begin_ns = begin_ns;
	probe->next_ns = begin_ns + PERIOD_NS;
}

int64_t timeline_probe_next_ns(const struct timeline_probe *probe)
{
	return probe ? probe->next_ns : INT64_MAX;
}

void timeline_probe_poll(struct timeline_probe *probe, int64_t now_ns)
{
	if (!probe || now_ns < probe->next_ns)
		return;
	ring_buffer__consume(probe->ring);
	probe->next_ns = now_ns + PERIOD_NS;
}

/* The part that has all of the life of a thread without an event. */
static enum slice_state only_state(const struct session *session, pid_t tid)
{
	for (size_t i = 0; i < session->nthreads; i++) {
		const struct thread_account *t = &session->threads[i];

		if (t->tid != tid)
			continue;
		if (t->oncpu_ns == t->wall_ns)
			return SLICE_ONCPU;
		if (t->offcpu_ns == t->wall_ns)
			return SLICE_OFF_OTHER;
		if (t->stopped_ns == t->wall_ns)
			return SLICE_STOPPED;
		if (t->runq_preempt_ns == t->wall_ns)
			return SLICE_RUNQ_PREEMPT;
		return SLICE_UNKNOWN;
	}
	return SLICE_STATES;
}

static void cut(void *ctx, const struct tracer_slots *slots, const struct tt_thread *t)
{
	struct timeline_probe *probe = ctx;
	int64_t last_ns = t->t_last_ns ? (int64_t)t->t_last_ns : probe->begin_ns;
	struct timeline_slice slice = {
		.start_ns = last_ns - probe->begin_ns,
		.ns = probe->session->end_ns - last_ns,
		.pid = (pid_t)t->tgid,
		.tid = (pid_t)t->tid,
		.state = states[t->bucket & (TT_BUCKET_SLOTS - 1)],
		.cpu = -1,
	};

	(void)slots;
	if (t->bucket == TT_DEAD || slice.ns <= 0)
		return;
	if (t->bucket == TT_UNKNOWN && !t->t_last_ns)
		slice.state = only_state(probe->session, slice.tid);
	if (slice.state != SLICE_STATES)
		timeline_add_slice(&probe->session->timeline, &slice);
}

void timeline_probe_finish(struct timeline_probe *probe)
{
	if (!probe)
		return;
	ring_buffer__consume(probe->ring);
	tracer_for_each(probe->tracer, cut, probe);
	session_add_timeline_lost(probe->session, tracer_losses(probe->tracer).slices);
	session_add_timeline_lost(probe->session, (uint64_t)probe->session->timeline.left_out);
}

void timeline_probe_close(struct timeline_probe *probe)
{
	if (!probe)
		return;
	ring_buffer__free(probe->ring);
	free(probe);
}
