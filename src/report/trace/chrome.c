/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/trace/chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "report/output.h"
#include "report/trace/trace.h"

/*
 * Times are us with the ns as decimals, in integers: a double would lose them. Fixed text is printed
 * as it is, text of others through the JSON library.
 */
#define TIME "%" PRIu64 ".%03u"

#define TIME_OF(ns) (uint64_t)(ns) / 1000, (unsigned int)((uint64_t)(ns) % 1000)

struct writer {
	FILE *out;
	const struct trace *trace;
	bool any;
};

static void put_string(struct writer *writer, const char *text)
{
	json_t *string = json_string(text);

	if (!string || json_dumpf(string, writer->out, JSON_ENCODE_ANY))
		fputs("\"?\"", writer->out);
	json_decref(string);
}

static void begin(struct writer *writer)
{
	fputs(writer->any ? ",\n" : "\n", writer->out);
	writer->any = true;
}

static void put_metadata(struct writer *writer, const char *what, const struct trace_thread *thread,
			 const char *name)
{
	begin(writer);
	fprintf(writer->out,
		"{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":", what,
		thread->pid, thread->tid);
	put_string(writer, name);
	fputs("}}", writer->out);
}

static void put_threads(struct writer *writer)
{
	const struct trace *trace = writer->trace;

	for (size_t i = 0; i < trace->nthreads; i++) {
		const struct trace_thread *thread = &trace->threads[i];

		if (!i || thread[-1].pid != thread->pid)
			put_metadata(writer, "process_name", thread, trace_process_name(trace, i));
		put_metadata(writer, "thread_name", thread, thread->name);
	}
}

static void put_flow(struct writer *writer, const struct trace_event *event, bool start)
{
	const struct trace_thread *thread = &writer->trace->threads[event->track];

	begin(writer);
	fprintf(writer->out,
		"{\"ph\":\"%s,\"name\":\"wakes\",\"cat\":\"wake\",\"id\":%u,\"pid\":%d,\"tid\":%d,"
		"\"ts\":" TIME "}",
		start ? "s\"" : "f\",\"bp\":\"e\"", event->flow, thread->pid, thread->tid,
		TIME_OF(event->t_ns));
}

static void put_slice(struct writer *writer, const struct trace_event *event)
{
	const struct trace *trace = writer->trace;
	const struct timeline_slice *slice = &trace->session->timeline.slices[event->row];

	begin(writer);
	fprintf(writer->out,
		"{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"state\",\"pid\":%d,\"tid\":%d,\"ts\":" TIME
		",\"dur\":" TIME "}",
		trace_name(trace_event_name(trace, event)), slice->pid, slice->tid,
		TIME_OF(slice->start_ns), TIME_OF(slice->ns));
	if (event->flow)
		put_flow(writer, event, false);
}

static void put_args(struct writer *writer, const struct trace_fact *facts, int n)
{
	fputs(",\"args\":{", writer->out);
	for (int i = 0; i < n; i++) {
		fprintf(writer->out, "%s\"%s\":", i ? "," : "", facts[i].name);
		if (facts[i].text)
			put_string(writer, facts[i].text);
		else if (facts[i].is_real)
			fprintf(writer->out, "%.9g", facts[i].real);
		else
			fprintf(writer->out, "%" PRId64, facts[i].number);
	}
	fputs("}}", writer->out);
}

static void put_fault(struct writer *writer, const struct trace_event *event)
{
	const struct trace_thread *thread = &writer->trace->threads[event->track];
	struct trace_fact facts[TRACE_FACTS];

	begin(writer);
	fprintf(writer->out,
		"{\"ph\":\"i\",\"s\":\"t\",\"name\":\"%s\",\"cat\":\"fault\",\"pid\":%d,\"tid\":%d,"
		"\"ts\":" TIME,
		trace_name(trace_event_name(writer->trace, event)), thread->pid, thread->tid,
		TIME_OF(event->t_ns));
	put_args(writer, facts, trace_event_facts(writer->trace, event, facts));
}

/* Asynchronous slices: calls lie across states, requests across threads. One id is one track. */
static void put_async(struct writer *writer, const struct trace_event *event, const char *category,
		      const char *name, pid_t pid, pid_t tid)
{
	bool begins = event->kind == TRACE_CALL_BEGIN || event->kind == TRACE_REQUEST_BEGIN ||
		      event->kind == TRACE_DEVICE_BEGIN;
	struct trace_fact facts[TRACE_FACTS];

	begin(writer);
	fprintf(writer->out,
		"{\"ph\":\"%s\",\"cat\":\"%s\",\"id\":%" PRIu32 ",\"name\":", begins ? "b" : "e",
		category, event->track);
	put_string(writer, name);
	fprintf(writer->out, ",\"pid\":%d,\"tid\":%d,\"ts\":" TIME, pid, tid, TIME_OF(event->t_ns));
	put_args(writer, facts, trace_event_facts(writer->trace, event, facts));
}

static void put_call(struct writer *writer, const struct trace_event *event)
{
	const struct trace_thread *thread = &writer->trace->threads[event->track];

	put_async(writer, event, "cuda", trace_name(trace_event_name(writer->trace, event)),
		  thread->pid, thread->tid);
}

/* "nvme0n1 read" */
static void put_request(struct writer *writer, const struct trace_event *event)
{
	const struct trace *trace = writer->trace;
	const struct timeline_request *request = &trace->session->timeline.requests[event->row];
	char name[sizeof(request->device) + 16];

	snprintf(name, sizeof(name), "%s %s", request->device,
		 trace_name(trace_event_name(trace, event)));
	put_async(writer, event, "block", name, request->pid, request->tid);
}

static void put_count(struct writer *writer, const struct trace_event *event)
{
	const struct trace_counter *counter = trace_counter(event->track);

	begin(writer);
	fprintf(writer->out,
		"{\"ph\":\"C\",\"name\":\"%s\",\"pid\":0,\"ts\":" TIME ",\"args\":{\"%s\":%.9g}}",
		counter->name, TIME_OF(event->t_ns), counter->unit, (double)event->value);
}

static void put_facts(struct writer *writer, const char *name, const struct trace_thread *thread,
		      const struct trace_fact *facts, int n)
{
	begin(writer);
	fprintf(writer->out,
		"{\"ph\":\"i\",\"s\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":" TIME,
		thread ? "t" : "g", name, thread ? thread->pid : 0, thread ? thread->tid : 0,
		TIME_OF(writer->trace->end_ns));
	put_args(writer, facts, n);
}

static void put_event(struct writer *writer, const struct trace_event *event)
{
	switch (event->kind) {
	case TRACE_BEGIN:
		put_slice(writer, event);
		break;
	case TRACE_END:
		break; /* put with the begin */
	case TRACE_WAKES:
		put_flow(writer, event, true);
		break;
	case TRACE_FAULT:
		put_fault(writer, event);
		break;
	case TRACE_CALL_BEGIN:
	case TRACE_CALL_END:
		put_call(writer, event);
		break;
	case TRACE_REQUEST_BEGIN:
	case TRACE_DEVICE_BEGIN:
	case TRACE_DEVICE_END:
	case TRACE_REQUEST_END:
		put_request(writer, event);
		break;
	case TRACE_COUNT:
		put_count(writer, event);
		break;
	}
}

static void put_end(struct writer *writer, const struct verdict *verdict)
{
	const struct trace *trace = writer->trace;
	struct trace_fact facts[TRACE_FACTS];
	int n;

	for (size_t i = 0; i < trace->nthreads; i++) {
		n = trace_thread_facts(&trace->threads[i], facts);
		if (n)
			put_facts(writer, "account", &trace->threads[i], facts, n);
	}
	n = trace_verdict_facts(trace, verdict, facts);
	put_facts(writer, verdict_class_name(verdict->class), NULL, facts, n);
}

int report_chrome_write(FILE *out, const struct session *session, const struct verdict *verdict)
{
	struct trace_event event;
	struct trace trace;
	struct writer writer = {.out = out, .trace = &trace};
	int err = trace_make(&trace, session);

	if (err)
		return err;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
	put_threads(&writer);
	while (!ferror(out) && trace_next(&trace, &event))
		put_event(&writer, &event);
	put_end(&writer, verdict);
	fputs("\n]}\n", out);
	trace_free(&trace);
	return output_finish(out);
}
