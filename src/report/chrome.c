/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "report/output.h"
#include "report/trace.h"

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
	const struct trace_thread *thread = &writer->trace->threads[event->thread];

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
	const struct timeline_slice *slice = &trace->session->timeline.slices[event->slice];

	begin(writer);
	fprintf(writer->out,
		"{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"state\",\"pid\":%d,\"tid\":%d,\"ts\":" TIME
		",\"dur\":" TIME "}",
		trace_name(trace_slice_name(trace, slice)), slice->pid, slice->tid,
		TIME_OF(slice->start_ns), TIME_OF(slice->ns));
	if (event->flow)
		put_flow(writer, event, false);
}

static void put_count(struct writer *writer, const struct trace_event *event)
{
	const struct trace_counter *counter = trace_counter(event->thread);

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
		"{\"ph\":\"i\",\"s\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":" TIME
		",\"args\":{",
		thread ? "t" : "g", name, thread ? thread->pid : 0, thread ? thread->tid : 0,
		TIME_OF(writer->trace->end_ns));
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
	struct trace trace;
	struct writer writer = {.out = out, .trace = &trace};
	int err = trace_make(&trace, session);

	if (err)
		return err;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
	put_threads(&writer);
	for (size_t i = 0; i < trace.nevents && !ferror(out); i++) {
		const struct trace_event *event = &trace.events[i];

		if (event->kind == TRACE_COUNT)
			put_count(&writer, event);
		else if (event->kind == TRACE_BEGIN)
			put_slice(&writer, event);
		else if (event->kind == TRACE_WAKES)
			put_flow(&writer, event, true);
	}
	put_end(&writer, verdict);
	fputs("\n]}\n", out);
	trace_free(&trace);
	return output_finish(out);
}
