/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "report/trace/trace.h"

static int add_number(struct trace_fact *facts, int n, const char *name, int64_t number)
{
	if (number == UNKNOWN_COUNT || n >= TRACE_FACTS)
		return n;
	facts[n] = (struct trace_fact){.name = name, .number = number};
	return n + 1;
}

static int add_real(struct trace_fact *facts, int n, const char *name, double real)
{
	if (!isfinite(real) || n >= TRACE_FACTS)
		return n;
	facts[n] = (struct trace_fact){.name = name, .real = real, .is_real = true};
	return n + 1;
}

static int add_text(struct trace_fact *facts, int n, const char *name, const char *text)
{
	if (!*text || n >= TRACE_FACTS)
		return n;
	facts[n] = (struct trace_fact){.name = name, .text = text};
	return n + 1;
}

int trace_thread_facts(const struct trace_thread *thread, struct trace_fact facts[TRACE_FACTS])
{
	const struct thread_account *t = thread->account;
	int n = 0;

	if (!t)
		return 0;
	n = add_text(facts, n, "group", t->group);
	n = add_number(facts, n, "wall_ns", t->wall_ns);
	n = add_number(facts, n, "oncpu_ns", t->oncpu_ns);
	n = add_number(facts, n, "runq_wake_ns", t->runq_wake_ns);
	n = add_number(facts, n, "runq_preempt_ns", t->runq_preempt_ns);
	n = add_number(facts, n, "offcpu_ns", t->offcpu_ns);
	n = add_number(facts, n, "stopped_ns", t->stopped_ns);
	n = add_number(facts, n, "unknown_ns", t->unknown_ns);
	for (int i = 0; i < WAIT_CLASSES; i++) {
		if (t->wait_ns[i] > 0)
			n = add_number(facts, n, wait_class_name((enum wait_class)i),
				       t->wait_ns[i]);
	}
	n = add_number(facts, n, "switches_voluntary", t->switches_voluntary);
	n = add_number(facts, n, "switches_involuntary", t->switches_involuntary);
	return n;
}

int trace_verdict_facts(const struct trace *trace, const struct verdict *verdict,
			struct trace_fact facts[TRACE_FACTS])
{
	static const char *const steps[VERDICT_STEPS] = {"next_1", "next_2", "next_3",
							 "next_4", "next_5", "next_6"};
	static const char *const evidence[VERDICT_EVIDENCE] = {
		"evidence_1", "evidence_2",  "evidence_3",  "evidence_4",
		"evidence_5", "evidence_6",  "evidence_7",  "evidence_8",
		"evidence_9", "evidence_10", "evidence_11", "evidence_12"};
	int n = add_text(facts, 0, "headline", verdict->headline);

	n = add_real(facts, n, "confidence", verdict->confidence);
	n = add_real(facts, n, "share", verdict->share);
	n = add_real(facts, n, "gain_bound", verdict->gain_bound);
	n = add_text(facts, n, "gain_limit", verdict->gain_limit);
	n = add_number(facts, n, "timeline_lost", trace->session->losses.timeline_lost);
	for (int i = 0; i < verdict->nevidence && i < VERDICT_EVIDENCE; i++)
		n = add_text(facts, n, evidence[i], verdict->evidence[i].text);
	for (int i = 0; i < verdict->nsteps && i < VERDICT_STEPS; i++)
		n = add_text(facts, n, steps[i], verdict->next_steps[i]);
	return n;
}

static int request_facts(const struct trace *trace, const struct timeline_request *request,
			 struct trace_fact facts[TRACE_FACTS])
{
	const struct trace_thread *thread = trace_find_thread(trace, request->pid, request->tid);
	int n = add_number(facts, 0, "bytes", request->bytes);

	n = add_number(facts, n, "queue_ns", request->queue_ns);
	n = add_number(facts, n, "device_ns", request->device_ns);
	n = add_number(facts, n, "pid", request->pid);
	n = add_number(facts, n, "tid", request->tid);
	return thread ? add_text(facts, n, "thread", thread->name) : n;
}

static int fault_facts(const struct timeline_fault *fault, int64_t wait_ns,
		       struct trace_fact facts[TRACE_FACTS])
{
	if (fault->major)
		return add_number(facts, 0, "wait_ns", wait_ns);
	return add_number(facts, add_number(facts, 0, "count", fault->count), "over_ns", fault->ns);
}

static int call_facts(const struct timeline_call *call, struct trace_fact facts[TRACE_FACTS])
{
	int n = call->bytes ? add_number(facts, 0, "bytes", call->bytes) : 0;

	return call->calls > 1 ? add_number(facts, n, "calls", call->calls) : n;
}

int trace_event_facts(const struct trace *trace, const struct trace_event *event,
		      struct trace_fact facts[TRACE_FACTS])
{
	const struct timeline *timeline = &trace->session->timeline;

	switch (event->kind) {
	case TRACE_FAULT:
		return fault_facts(&timeline->faults[event->row], event->wait_ns, facts);
	case TRACE_CALL_BEGIN:
		return call_facts(&timeline->calls[event->row], facts);
	case TRACE_REQUEST_BEGIN:
		return request_facts(trace, &timeline->requests[event->row], facts);
	default:
		return 0;
	}
}

const char *trace_process_name(const struct trace *trace, size_t thread)
{
	pid_t pid = trace->threads[thread].pid;

	for (size_t i = thread; i < trace->nthreads && trace->threads[i].pid == pid; i++) {
		if (trace->threads[i].tid == pid)
			return trace->threads[i].name;
	}
	return "process";
}
