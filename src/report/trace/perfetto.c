/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every packet is a Trace of its own: as messages of one field they add up to one when written
 * behind each other, so that memory stays small.
 */
#include "report/trace/perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/output.h"
#include "report/trace/trace.h"
#include "skel/perfetto.pb-c.h"

/* Kinds of track, above the number. */
#define PROCESS_TRACK (1ULL << 32)
#define THREAD_TRACK  (2ULL << 32)
#define COUNTER_TRACK (3ULL << 32)
#define VERDICT_TRACK (4ULL << 32)
#define CALLS_TRACK   (5ULL << 32)
#define BLOCK_TRACK   (6ULL << 32)
#define LANE_TRACK    (7ULL << 32)

/* perfetto/trace/trace_packet.proto, SequenceFlags */
#define STATE_CLEARED 1
#define STATE_NEEDED  2

#define NAMES_MAX 64

struct writer {
	FILE *out;
	uint64_t begin_ns;
	uint8_t *buffer;
	size_t room;
	int err;
};

typedef PerfettoTrace__TracePacket Packet;
typedef PerfettoTrace__TrackEvent Event;
typedef PerfettoTrace__DebugAnnotation Annotation;

/* Sanitised text; the library does not change it. */
static char *text_of(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void write_packet(struct writer *writer, Packet *packet)
{
	PerfettoTrace__Trace trace = PERFETTO_TRACE__TRACE__INIT;
	size_t size;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = 1;
	trace.n_packet = 1;
	trace.packet = &packet;
	size = perfetto_trace__trace__get_packed_size(&trace);
	if (!writer->err && size > writer->room) {
		uint8_t *more = realloc(writer->buffer, 2 * size);

		if (!more) {
			writer->err = -ENOMEM;
			return;
		}
		writer->buffer = more;
		writer->room = 2 * size;
	}
	if (writer->err)
		return;
	perfetto_trace__trace__pack(&trace, writer->buffer);
	writer->err = output_write(writer->out, (const char *)writer->buffer, size);
}

static void write_event(struct writer *writer, int64_t t_ns, uint64_t track, int type, Event *event)
{
	Packet packet = PERFETTO_TRACE__TRACE_PACKET__INIT;

	event->has_type = event->has_track_uuid = true;
	event->type = (PerfettoTrace__TrackEvent__Type)type;
	event->track_uuid = track;
	packet.track_event = event;
	packet.has_timestamp = packet.has_sequence_flags = true;
	packet.timestamp = writer->begin_ns + (uint64_t)t_ns;
	packet.sequence_flags = STATE_NEEDED;
	write_packet(writer, &packet);
}

/* The names of slices, once. */
static void write_names(struct writer *writer)
{
	PerfettoTrace__EventName names[NAMES_MAX], *pointers[NAMES_MAX];
	PerfettoTrace__InternedData interned = PERFETTO_TRACE__INTERNED_DATA__INIT;
	Packet packet = PERFETTO_TRACE__TRACE_PACKET__INIT;

	for (unsigned int i = 0; i < NAMES_MAX && trace_name(i); i++) {
		perfetto_trace__event_name__init(&names[i]);
		names[i].has_iid = true;
		names[i].iid = i + 1;
		names[i].name = text_of(trace_name(i));
		pointers[i] = &names[i];
		interned.n_event_names++;
	}
	interned.event_names = pointers;
	packet.interned_data = &interned;
	packet.has_first_packet_on_sequence = packet.has_sequence_flags = true;
	packet.first_packet_on_sequence = true;
	packet.sequence_flags = STATE_CLEARED;
	write_packet(writer, &packet);
}

static void write_track(struct writer *writer, PerfettoTrace__TrackDescriptor *track, uint64_t uuid)
{
	Packet packet = PERFETTO_TRACE__TRACE_PACKET__INIT;

	track->has_uuid = true;
	track->uuid = uuid;
	packet.track_descriptor = track;
	write_packet(writer, &packet);
}

static void write_process(struct writer *writer, const struct trace_thread *thread,
			  const char *name)
{
	PerfettoTrace__TrackDescriptor track = PERFETTO_TRACE__TRACK_DESCRIPTOR__INIT;
	PerfettoTrace__ProcessDescriptor process = PERFETTO_TRACE__PROCESS_DESCRIPTOR__INIT;

	process.has_pid = true;
	process.pid = thread->pid;
	process.process_name = text_of(name);
	track.process = &process;
	write_track(writer, &track, PROCESS_TRACK | (uint32_t)thread->pid);
}

static void write_thread(struct writer *writer, const struct trace_thread *thread, size_t number)
{
	PerfettoTrace__TrackDescriptor track = PERFETTO_TRACE__TRACK_DESCRIPTOR__INIT;
	PerfettoTrace__ThreadDescriptor descriptor = PERFETTO_TRACE__THREAD_DESCRIPTOR__INIT;

	descriptor.has_pid = descriptor.has_tid = true;
	descriptor.pid = thread->pid;
	descriptor.tid = thread->tid;
	descriptor.thread_name = text_of(thread->name);
	track.thread = &descriptor;
	track.has_parent_uuid = true;
	track.parent_uuid = PROCESS_TRACK | (uint32_t)thread->pid;
	write_track(writer, &track, THREAD_TRACK | number);
}

/* A track of that name below another. */
static void write_child(struct writer *writer, const char *name, uint64_t uuid, uint64_t parent)
{
	PerfettoTrace__TrackDescriptor track = PERFETTO_TRACE__TRACK_DESCRIPTOR__INIT;

	track.name = text_of(name);
	track.has_parent_uuid = parent != 0;
	track.parent_uuid = parent;
	write_track(writer, &track, uuid);
}

static void write_threads(struct writer *writer, const struct trace *trace)
{
	for (size_t i = 0; i < trace->nthreads; i++) {
		const struct trace_thread *thread = &trace->threads[i];

		if (!i || thread[-1].pid != thread->pid)
			write_process(writer, thread, trace_process_name(trace, i));
		write_thread(writer, thread, i);
		if (trace->calls.tracks[i].n)
			write_child(writer, "CUDA calls", CALLS_TRACK | i, THREAD_TRACK | i);
	}
}

/* Lanes of one name are shown as one, as high as it must be. */
static void write_lanes(struct writer *writer, const struct trace *trace)
{
	if (trace->nlanes)
		write_child(writer, "Block I/O", BLOCK_TRACK, 0);
	for (size_t i = 0; i < trace->nlanes; i++)
		write_child(writer, trace->lanes[i], LANE_TRACK | i, BLOCK_TRACK);
}

static void write_tracks(struct writer *writer, const struct trace *trace)
{
	write_threads(writer, trace);
	write_lanes(writer, trace);
	for (unsigned int i = 0; trace_counter(i); i++) {
		PerfettoTrace__TrackDescriptor of = PERFETTO_TRACE__TRACK_DESCRIPTOR__INIT;
		PerfettoTrace__CounterDescriptor counter = PERFETTO_TRACE__COUNTER_DESCRIPTOR__INIT;

		if (!trace->counted[i])
			continue;
		counter.unit_name = text_of(trace_counter(i)->unit);
		of.name = text_of(trace_counter(i)->name);
		of.counter = &counter;
		write_track(writer, &of, COUNTER_TRACK | i);
	}
	write_child(writer, "Verdict", VERDICT_TRACK, 0);
}

static void write_count(struct writer *writer, const struct trace_event *from)
{
	Event event = PERFETTO_TRACE__TRACK_EVENT__INIT;

	event.has_double_counter_value = true;
	event.double_counter_value = (double)from->value;
	write_event(writer, from->t_ns, COUNTER_TRACK | from->track,
		    PERFETTO_TRACE__TRACK_EVENT__TYPE__TYPE_COUNTER, &event);
}

static void set_facts(Event *event, Annotation annotations[TRACE_FACTS],
		      Annotation *pointers[TRACE_FACTS], const struct trace_fact *facts, int n)
{
	for (int i = 0; i < n; i++) {
		Annotation *annotation = pointers[i] = &annotations[i];

		perfetto_trace__debug_annotation__init(annotation);
		annotation->name = text_of(facts[i].name);
		annotation->string_value = text_of(facts[i].text);
		annotation->has_int_value = !facts[i].text && !facts[i].is_real;
		annotation->int_value = facts[i].number;
		annotation->has_double_value = !facts[i].text && facts[i].is_real;
		annotation->double_value = facts[i].real;
	}
	event->n_debug_annotations = (size_t)n;
	event->debug_annotations = pointers;
}

static void write_facts(struct writer *writer, int64_t t_ns, uint64_t track, const char *name,
			const struct trace_fact *facts, int n)
{
	Annotation annotations[TRACE_FACTS], *pointers[TRACE_FACTS];
	Event event = PERFETTO_TRACE__TRACK_EVENT__INIT;

	set_facts(&event, annotations, pointers, facts, n);
	event.name = text_of(name);
	write_event(writer, t_ns, track, PERFETTO_TRACE__TRACK_EVENT__TYPE__TYPE_INSTANT, &event);
}

#define SLICE_BEGIN PERFETTO_TRACE__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN
#define SLICE_END   PERFETTO_TRACE__TRACK_EVENT__TYPE__TYPE_SLICE_END
#define INSTANT	    PERFETTO_TRACE__TRACK_EVENT__TYPE__TYPE_INSTANT

static const struct {
	uint64_t track;
	PerfettoTrace__TrackEvent__Type type;
} kinds[] = {
	[TRACE_BEGIN] = {THREAD_TRACK, SLICE_BEGIN},
	[TRACE_END] = {THREAD_TRACK, SLICE_END},
	[TRACE_WAKES] = {THREAD_TRACK, INSTANT},
	[TRACE_FAULT] = {THREAD_TRACK, INSTANT},
	[TRACE_CALL_BEGIN] = {CALLS_TRACK, SLICE_BEGIN},
	[TRACE_CALL_END] = {CALLS_TRACK, SLICE_END},
	[TRACE_REQUEST_BEGIN] = {LANE_TRACK, SLICE_BEGIN},
	[TRACE_DEVICE_BEGIN] = {LANE_TRACK, SLICE_BEGIN},
	[TRACE_DEVICE_END] = {LANE_TRACK, SLICE_END},
	[TRACE_REQUEST_END] = {LANE_TRACK, SLICE_END},
};

static void write_row(struct writer *writer, const struct trace *trace,
		      const struct trace_event *from)
{
	Event event = PERFETTO_TRACE__TRACK_EVENT__INIT;
	Annotation annotations[TRACE_FACTS], *pointers[TRACE_FACTS];
	struct trace_fact facts[TRACE_FACTS];
	uint64_t flow = from->flow;

	if (flow) {
		event.n_flow_ids = 1;
		event.flow_ids = &flow;
	}
	if (kinds[from->kind].type != SLICE_END) {
		event.has_name_iid = true;
		event.name_iid = trace_event_name(trace, from) + 1;
		set_facts(&event, annotations, pointers, facts,
			  trace_event_facts(trace, from, facts));
	}
	write_event(writer, from->t_ns, kinds[from->kind].track | from->track,
		    (int)kinds[from->kind].type, &event);
}

static void write_end(struct writer *writer, const struct trace *trace,
		      const struct verdict *verdict)
{
	struct trace_fact facts[TRACE_FACTS];
	int n;

	for (size_t i = 0; i < trace->nthreads; i++) {
		n = trace_thread_facts(&trace->threads[i], facts);
		if (n)
			write_facts(writer, trace->end_ns, THREAD_TRACK | i, "account", facts, n);
	}
	n = trace_verdict_facts(trace, verdict, facts);
	write_facts(writer, trace->end_ns, VERDICT_TRACK, verdict_class_name(verdict->class), facts,
		    n);
}

int report_perfetto_write(FILE *out, const struct session *session, const struct verdict *verdict)
{
	struct writer writer = {.out = out};
	struct trace_event event;
	struct trace trace;
	int err = trace_make(&trace, session);

	if (err)
		return err;
	writer.begin_ns = trace.begin_ns;
	write_names(&writer);
	write_tracks(&writer, &trace);
	while (!writer.err && trace_next(&trace, &event)) {
		if (event.kind == TRACE_COUNT)
			write_count(&writer, &event);
		else
			write_row(&writer, &trace, &event);
	}
	write_end(&writer, &trace, verdict);
	free(writer.buffer);
	trace_free(&trace);
	err = output_finish(out);
	return writer.err ? writer.err : err;
}
