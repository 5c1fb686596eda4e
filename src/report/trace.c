/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char *const class_titles[WAIT_CLASSES] = {
	[WAIT_GPU] = "Sleeping (gpu)",	     [WAIT_DISK] = "Sleeping (disk)",
	[WAIT_FAULT] = "Sleeping (fault)",   [WAIT_LOCK] = "Sleeping (lock)",
	[WAIT_THREAD] = "Sleeping (thread)", [WAIT_PROCESS] = "Sleeping (process)",
	[WAIT_NET] = "Sleeping (net)",	     [WAIT_DEVICE] = "Sleeping (device)",
	[WAIT_TIMER] = "Sleeping (timer)",   [WAIT_CHILD] = "Sleeping (child)",
	[WAIT_EVENT] = "Sleeping (event)",   [WAIT_OTHER] = "Sleeping (other)",
};

const char *trace_name(unsigned int number)
{
	if (number < SLICE_STATES)
		return slice_state_title((enum slice_state)number);
	number -= SLICE_STATES;
	return number < WAIT_CLASSES ? class_titles[number] : NULL;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_edges(const struct wait_edge *x, const struct wait_edge *y)
{
	int order = compare(x->pid, y->pid);

	return order ? order : compare(x->tid, y->tid);
}

static int edges_by_thread(const void *a, const void *b)
{
	return compare_edges(*(const struct wait_edge *const *)a,
			     *(const struct wait_edge *const *)b);
}

static int sort_edges(struct trace *trace)
{
	const struct session *session = trace->session;

	trace->edges = calloc(session->nedges + 1, sizeof(const struct wait_edge *));
	if (!trace->edges)
		return -ENOMEM;
	for (size_t i = 0; i < session->nedges; i++)
		trace->edges[i] = &session->edges[i];
	qsort(trace->edges, session->nedges, sizeof(const struct wait_edge *), edges_by_thread);
	return 0;
}

/* The first that is not below the key. */
static size_t first_edge(const struct trace *trace, const struct wait_edge *key)
{
	size_t low = 0, high = trace->session->nedges;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_edges(trace->edges[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool ended_by(const struct wait_edge *edge, const struct timeline_slice *slice)
{
	if (slice->waker_kind == WAKER_THREAD)
		return edge->waker_tid == (pid_t)slice->waker;
	return edge->waker_kind == slice->waker_kind && !edge->waker_tid;
}

unsigned int trace_slice_name(const struct trace *trace, const struct timeline_slice *slice)
{
	const struct wait_edge key = {.pid = slice->pid, .tid = slice->tid};
	unsigned int found = WAIT_CLASSES;

	if (slice->state != SLICE_OFF_OTHER || slice->waker_kind == WAKER_NONE)
		return slice->state;
	for (size_t i = first_edge(trace, &key); i < trace->session->nedges; i++) {
		const struct wait_edge *edge = trace->edges[i];

		if (compare_edges(edge, &key))
			break;
		if (!ended_by(edge, slice))
			continue;
		if (found != WAIT_CLASSES && found != edge->class)
			return slice->state;
		found = edge->class;
	}
	return found == WAIT_CLASSES ? slice->state : SLICE_STATES + found;
}

#define POINT(field)                                           \
	{                                                      \
		false, offsetof(struct tegra_point, field), 1, \
	}
#define PERCENT(field)                                           \
	{                                                        \
		false, offsetof(struct tegra_point, field), 100, \
	}
#define HOST(field)                                          \
	{                                                    \
		true, offsetof(struct host_point, field), 1, \
	}

static const struct {
	struct trace_counter counter;
	struct {
		bool host;
		size_t offset;
		float scale;
	} from;
} counters[] = {
	{{"GPU load", "%"}, PERCENT(gpu_busy)},
	{{"GPU clock", "MHz"}, POINT(gpu_mhz)},
	{{"EMC load", "%"}, PERCENT(emc_busy)},
	{{"EMC clock", "MHz"}, POINT(emc_mhz)},
	{{"Input power", "mW"}, POINT(power_mw)},
	{{"Hottest zone", "C"}, POINT(hottest_c)},
	{{"Busiest core", "%"}, PERCENT(core_max)},
	{{"RAM used", "MB"}, POINT(ram_mb)},
	{{"Swap used", "MB"}, POINT(swap_mb)},
	{{"CPUs used by the target", "CPUs"}, HOST(oncpu_cpus)},
	{{"Threads waiting for a CPU", "threads"}, HOST(runq_threads)},
	{{"Threads asleep on disk", "threads"}, HOST(off_disk_threads)},
	{{"Minor faults", "/s"}, HOST(minor_faults_per_s)},
	{{"Major faults", "/s"}, HOST(major_faults_per_s)},
	{{"Read by the target", "B/s"}, HOST(read_bytes_per_s)},
	{{"Written by the target", "B/s"}, HOST(write_bytes_per_s)},
};

#define COUNTERS (sizeof(counters) / sizeof(counters[0]))
_Static_assert(COUNTERS <= TRACE_COUNTERS, "a place for every counter");

const struct trace_counter *trace_counter(unsigned int number)
{
	return number < COUNTERS ? &counters[number].counter : NULL;
}

static int compare_threads(const void *a, const void *b)
{
	const struct trace_thread *x = a, *y = b;
	int order = compare(x->pid, y->pid);

	return order ? order : compare(x->tid, y->tid);
}

static int by_tid(const void *a, const void *b)
{
	const struct trace_thread *x = *(struct trace_thread *const *)a;
	const struct trace_thread *y = *(struct trace_thread *const *)b;

	return compare(x->tid, y->tid);
}

/* Those of the accounts; then those that only the timeline knows. */
static int find_threads(struct trace *trace, const uint32_t *order, size_t n)
{
	const struct session *session = trace->session;
	size_t known;

	trace->threads = calloc(session->nthreads + n + 1, sizeof(*trace->threads));
	if (!trace->threads)
		return -ENOMEM;
	for (size_t i = 0; i < session->nthreads; i++) {
		const struct thread_account *account = &session->threads[i];
		struct trace_thread *thread = &trace->threads[trace->nthreads];

		if (!account->tid)
			continue;
		*thread = (struct trace_thread){account->pid, account->tid, "", account};
		text_sanitize(thread->name, sizeof(thread->name), account->comm,
			      strnlen(account->comm, sizeof(account->comm)));
		trace->nthreads++;
	}
	qsort(trace->threads, trace->nthreads, sizeof(*trace->threads), compare_threads);
	known = trace->nthreads;
	for (size_t i = 0; i < n; i++) {
		const struct timeline_slice *slice = &session->timeline.slices[order[i]];
		struct trace_thread key = {.pid = slice->pid, .tid = slice->tid, .name = "exited"};
		struct trace_thread *last = &trace->threads[trace->nthreads] - 1;

		if ((trace->nthreads > known && !compare_threads(last, &key)) ||
		    bsearch(&key, trace->threads, known, sizeof(key), compare_threads))
			continue;
		trace->threads[trace->nthreads++] = key;
	}
	qsort(trace->threads, trace->nthreads, sizeof(*trace->threads), compare_threads);
	return 0;
}

static struct trace_event *add(struct trace *trace)
{
	if (trace->nevents == trace->room) {
		size_t room = trace->room ? 2 * trace->room : 4096;
		struct trace_event *more =
			reallocarray(trace->events, room, sizeof(*trace->events));

		if (!more)
			return NULL;
		trace->events = more;
		trace->room = room;
	}
	trace->events[trace->nevents] = (struct trace_event){.seq = (uint32_t)trace->nevents};
	return &trace->events[trace->nevents++];
}

static bool put(struct trace *trace, enum trace_kind kind, int64_t t_ns, size_t thread,
		uint32_t slice, uint32_t flow)
{
	struct trace_event *event = add(trace);

	if (!event)
		return false;
	event->kind = kind;
	event->t_ns = t_ns;
	event->thread = (uint32_t)thread;
	event->slice = slice;
	event->flow = flow;
	return true;
}

/* The thread that ended the sleep, when it has a track; NULL. */
static struct trace_thread *waker_of(struct trace_thread **tids, size_t n,
				     const struct timeline_slice *sleep)
{
	struct trace_thread key = {.tid = (pid_t)sleep->waker}, *wanted = &key, **found;

	if (sleep->waker_kind != WAKER_THREAD)
		return NULL;
	found = bsearch(&wanted, tids, n, sizeof(*tids), by_tid);
	return found ? *found : NULL;
}

static bool follows(const struct timeline_slice *before, const struct timeline_slice *slice)
{
	return before->pid == slice->pid && before->tid == slice->tid &&
	       before->start_ns + before->ns == slice->start_ns;
}

static int put_slices(struct trace *trace, const uint32_t *order, size_t n,
		      struct trace_thread **tids)
{
	const struct timeline_slice *slices = trace->session->timeline.slices;
	const struct timeline_slice *before = NULL;
	uint32_t flows = 0;
	size_t thread = 0;

	for (size_t i = 0; i < n; before = &slices[order[i++]]) {
		const struct timeline_slice *slice = &slices[order[i]];
		struct trace_thread *waker = NULL;
		uint32_t flow = 0;

		while (trace->threads[thread].pid != slice->pid ||
		       trace->threads[thread].tid != slice->tid)
			thread++;
		if (before && follows(before, slice) && slice->state == SLICE_RUNQ_WAKE)
			waker = waker_of(tids, trace->nthreads, before);
		if (waker) {
			flow = ++flows;
			if (!put(trace, TRACE_WAKES, slice->start_ns,
				 (size_t)(waker - trace->threads), order[i - 1], flow))
				return -ENOMEM;
		}
		if (!put(trace, TRACE_BEGIN, slice->start_ns, thread, order[i], flow) ||
		    !put(trace, TRACE_END, slice->start_ns + slice->ns, thread, order[i], 0))
			return -ENOMEM;
	}
	return 0;
}

static int put_count(struct trace *trace, unsigned int counter, int64_t t_ns, float value)
{
	struct trace_event *event;

	if (!isfinite(value) || t_ns < 0)
		return 0;
	event = add(trace);
	if (!event)
		return -ENOMEM;
	trace->counted[counter] = true;
	event->kind = TRACE_COUNT;
	event->t_ns = t_ns;
	event->thread = counter;
	event->value = value * counters[counter].from.scale;
	return 0;
}

static float field(const void *point, unsigned int counter)
{
	return *(const float *)((const char *)point + counters[counter].from.offset);
}

static int put_counters(struct trace *trace)
{
	const struct tegra_series *board = &trace->session->series;
	const struct host_series *host = &trace->session->host_series;
	int err = 0;

	for (unsigned int c = 0; c < COUNTERS; c++) {
		for (size_t i = 0; !err && !counters[c].from.host && i < board->n; i++)
			err = put_count(trace, c, board->points[i].t_ns,
					field(&board->points[i], c));
		/* A mean is shown from where its span begins. */
		for (size_t i = 0; !err && counters[c].from.host && i < host->n; i++)
			err = put_count(trace, c, host->points[i].t_ns - host->points[i].span_ns,
					field(&host->points[i], c));
	}
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_event *x = a, *y = b;
	int order = compare(x->t_ns, y->t_ns);

	return order ? order : compare(x->seq, y->seq);
}

int trace_make(struct trace *trace, const struct session *session)
{
	struct trace_thread **tids = NULL;
	uint32_t *order = NULL;
	size_t n = 0;
	int err = 0;

	*trace = (struct trace){.session = session};
	if (session_duration_ns(session) != UNKNOWN_NS) {
		trace->begin_ns = (uint64_t)session->start_ns;
		trace->end_ns = session_duration_ns(session);
	}
	if (session->timeline.n) {
		order = timeline_order(&session->timeline, &n);
		err = order ? 0 : -ENOMEM;
	}
	if (!err)
		err = find_threads(trace, order, n);
	if (!err) {
		tids = calloc(trace->nthreads + 1, sizeof(struct trace_thread *));
		err = tids ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !err && i < trace->nthreads; i++)
		tids[i] = &trace->threads[i];
	if (!err) {
		qsort(tids, trace->nthreads, sizeof(struct trace_thread *), by_tid);
		err = put_slices(trace, order, n, tids);
	}
	if (!err)
		err = sort_edges(trace);
	if (!err)
		err = put_counters(trace);
	if (!err && trace->nevents)
		qsort(trace->events, trace->nevents, sizeof(*trace->events), by_time);
	free(tids);
	free(order);
	if (err)
		trace_free(trace);
	return err;
}

void trace_free(struct trace *trace)
{
	free(trace->threads);
	free(trace->edges);
	free(trace->events);
	*trace = (struct trace){0};
}
