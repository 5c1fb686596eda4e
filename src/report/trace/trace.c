/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/trace/trace.h"

#include <errno.h>
#include <stdlib.h>

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
	{{"Threads asleep on disk", "threads"}, HOST(off_threads[WAIT_DISK])},
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

/* What comes next of one track. */
struct trace_source {
	enum { FROM_SLICES, FROM_FAULTS, FROM_CALLS, FROM_REQUESTS, FROM_COUNTER } from;
	uint32_t track;
	uint32_t at, end; /* places in the order of its rows; of a counter, points */
	uint32_t step;	  /* of the row */
	uint32_t flow;	  /* that the row takes up */
};

/* Steps of a slice and of a request; all others have as many as are named. */
enum { STEP_WAKES, STEP_BEGIN, STEP_END, STEPS_SLICE };
enum { STEP_REQUEST, STEP_DEVICE, STEP_DEVICE_END, STEP_REQUEST_END, STEPS_REQUEST };

static uint32_t steps_of(const struct trace_source *source)
{
	static const uint32_t steps[] = {
		[FROM_SLICES] = STEPS_SLICE,	 [FROM_FAULTS] = 1,  [FROM_CALLS] = 2,
		[FROM_REQUESTS] = STEPS_REQUEST, [FROM_COUNTER] = 1,
	};

	return steps[source->from];
}

static const struct trace_rows *rows_of(const struct trace *trace,
					const struct trace_source *source)
{
	switch (source->from) {
	case FROM_FAULTS:
		return &trace->faults;
	case FROM_CALLS:
		return &trace->calls;
	case FROM_REQUESTS:
		return &trace->requests;
	default:
		return &trace->slices;
	}
}

static uint32_t row_of(const struct trace *trace, const struct trace_source *source)
{
	return rows_of(trace, source)->order[source->at];
}

static float counter_value(const struct trace *trace, unsigned int counter, size_t point)
{
	const struct session *session = trace->session;
	const char *base;

	if (counters[counter].from.host)
		base = (const char *)&session->host_series.points[point];
	else
		base = (const char *)&session->series.points[point];

	return *(const float *)(base + counters[counter].from.offset);
}

static size_t counter_points(const struct trace *trace, unsigned int counter)
{
	return counters[counter].from.host ? trace->session->host_series.n
					   : trace->session->series.n;
}

/* A mean is shown from where its span begins. */
static int64_t counter_time(const struct trace *trace, unsigned int counter, size_t point)
{
	const struct session *session = trace->session;

	if (!counters[counter].from.host)
		return session->series.points[point].t_ns;
	return session->host_series.points[point].t_ns - session->host_series.points[point].span_ns;
}

static int64_t request_time(const struct timeline_request *request, uint32_t step)
{
	if (step == STEP_REQUEST && request->queue_ns != UNKNOWN_NS)
		return request->issue_ns - request->queue_ns;
	return request->issue_ns + (step >= STEP_DEVICE_END ? request->device_ns : 0);
}

static int64_t next_time(const struct trace *trace, const struct trace_source *source)
{
	const struct timeline *timeline = &trace->session->timeline;
	const struct timeline_slice *slice;
	const struct timeline_call *call;

	switch (source->from) {
	case FROM_SLICES:
		slice = &timeline->slices[row_of(trace, source)];
		return slice->start_ns + (source->step == STEP_END ? slice->ns : 0);
	case FROM_CALLS:
		call = &timeline->calls[row_of(trace, source)];
		return call->start_ns + (source->step ? call->ns : 0);
	case FROM_FAULTS:
		return timeline->faults[row_of(trace, source)].start_ns;
	case FROM_REQUESTS:
		return request_time(&timeline->requests[row_of(trace, source)], source->step);
	case FROM_COUNTER:
		break;
	}
	return counter_time(trace, source->track, source->at);
}

static int by_tid(const void *a, const void *b)
{
	const struct trace_thread *x = *(const struct trace_thread *const *)a;
	const struct trace_thread *y = *(const struct trace_thread *const *)b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* The thread that ended the sleep, when it has a track; NULL. */
static const struct trace_thread *waker_of(const struct trace *trace,
					   const struct timeline_slice *sleep)
{
	const struct trace_thread key = {.tid = (pid_t)sleep->waker}, *wanted = &key, **found;

	if (sleep->waker_kind != WAKER_THREAD)
		return NULL;
	found = bsearch(&wanted, trace->by_tid, trace->nthreads, sizeof(wanted), by_tid);
	return found ? *found : NULL;
}

/* Who made the thread runnable; NULL when that is not the row's, or nobody with a track. */
static const struct trace_thread *wakes_row(const struct trace *trace,
					    const struct trace_source *source)
{
	const struct trace_range *range = &trace->slices.tracks[source->track];
	const uint32_t *order = trace->slices.order;
	const struct timeline_slice *slices = trace->session->timeline.slices, *before, *slice;

	if (source->at == range->from)
		return NULL;
	before = &slices[order[source->at - 1]];
	slice = &slices[order[source->at]];
	if (slice->state != SLICE_RUNQ_WAKE || before->start_ns + before->ns != slice->start_ns)
		return NULL;
	return waker_of(trace, before);
}

/* Behind a sleep in a major fault a thread does not run longer than this before it is over. */
#define FAULT_RAN_MAX_NS 100000

/* The last place on the thread's track that begins at t_ns or before; -1: none. */
static int64_t place_at(const struct trace *trace, const struct trace_range *range, int64_t t_ns)
{
	const struct timeline_slice *slices = trace->session->timeline.slices;
	uint32_t low = 0, high = range->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (slices[trace->slices.order[range->from + middle]].start_ns <= t_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (int64_t)low - 1;
}

/*
 * What a major fault, told when it is over, has slept: the sleep for a disk just before it. Only the
 * rung btf sees such sleeps; one for a page that needs no sleep (zram) has none.
 */
static int64_t fault_wait(const struct trace *trace, const struct trace_source *source)
{
	const struct timeline *timeline = &trace->session->timeline;
	const struct trace_range *range = &trace->slices.tracks[source->track];
	const struct timeline_fault *fault = &timeline->faults[row_of(trace, source)];
	const struct timeline_fault *before =
		source->at == trace->faults.tracks[source->track].from
			? NULL
			: &timeline->faults[trace->faults.order[source->at - 1]];
	int64_t ran_ns = 0, until_ns = fault->start_ns;

	if (!fault->major)
		return UNKNOWN_NS;
	for (int64_t at = place_at(trace, range, fault->start_ns); at >= 0; at--) {
		const struct timeline_slice *slice =
			&timeline->slices[trace->slices.order[range->from + (uint32_t)at]];

		if (slice->state == SLICE_OFF_DISK &&
		    slice->start_ns + slice->ns <= fault->start_ns &&
		    (!before || before->start_ns <= slice->start_ns))
			return slice->ns;
		if (slice->state == SLICE_ONCPU)
			ran_ns += until_ns - slice->start_ns;
		else if (slice->state != SLICE_RUNQ_WAKE && slice->state != SLICE_RUNQ_PREEMPT)
			break;
		if (ran_ns > FAULT_RAN_MAX_NS)
			break;
		until_ns = slice->start_ns;
	}
	return UNKNOWN_NS;
}

/* What this step of a slice tells; false: nothing. */
static bool tell_slice(struct trace *trace, struct trace_source *source, struct trace_event *event)
{
	const struct trace_thread *waker;

	if (source->step == STEP_WAKES) {
		waker = wakes_row(trace, source);
		source->flow = waker ? ++trace->flows : 0;
		event->kind = TRACE_WAKES;
		event->track = waker ? (uint32_t)(waker - trace->threads) : 0;
		event->flow = source->flow;
		return waker;
	}
	event->kind = source->step == STEP_BEGIN ? TRACE_BEGIN : TRACE_END;
	event->flow = source->step == STEP_BEGIN ? source->flow : 0;
	return true;
}

static bool tell(struct trace *trace, struct trace_source *source, struct trace_event *event)
{
	static const enum trace_kind request_kinds[STEPS_REQUEST] = {
		TRACE_REQUEST_BEGIN, TRACE_DEVICE_BEGIN, TRACE_DEVICE_END, TRACE_REQUEST_END};

	*event = (struct trace_event){.t_ns = trace->heap.items[0].t_ns, .track = source->track};
	if (source->from == FROM_COUNTER) {
		event->kind = TRACE_COUNT;
		event->value = counter_value(trace, source->track, source->at) *
			       counters[source->track].from.scale;
		return isfinite(event->value) && event->t_ns >= 0;
	}
	event->row = row_of(trace, source);
	switch (source->from) {
	case FROM_SLICES:
		return tell_slice(trace, source, event);
	case FROM_FAULTS:
		event->kind = TRACE_FAULT;
		event->wait_ns = fault_wait(trace, source);
		break;
	case FROM_CALLS:
		event->kind = source->step ? TRACE_CALL_END : TRACE_CALL_BEGIN;
		break;
	default:
		event->kind = request_kinds[source->step];
	}
	return true;
}

static void go_on(struct trace *trace, struct trace_source *source)
{
	if (++source->step == steps_of(source)) {
		source->step = 0;
		source->at++;
	}
	if (source->at == source->end)
		trace_heap_drop(&trace->heap);
	else
		trace_heap_retime(&trace->heap, next_time(trace, source));
}

bool trace_next(struct trace *trace, struct trace_event *event)
{
	while (trace->heap.n) {
		struct trace_source *source = &trace->sources[trace->heap.items[0].number];
		bool told = tell(trace, source, event);

		go_on(trace, source);
		if (told)
			return true;
	}
	return false;
}

static void add_source(struct trace *trace, uint32_t *n, struct trace_source source)
{
	if (source.at == source.end)
		return;
	trace->sources[*n] = source;
	trace_heap_add(&trace->heap, next_time(trace, &source), (*n)++);
}

static void add_tracks(struct trace *trace, uint32_t *n, int from, const struct trace_rows *rows,
		       size_t ntracks)
{
	for (size_t i = 0; i < ntracks; i++)
		add_source(trace, n,
			   (struct trace_source){
				   .from = from,
				   .track = (uint32_t)i,
				   .at = rows->tracks[i].from,
				   .end = rows->tracks[i].from + rows->tracks[i].n,
			   });
}

static bool is_counted(const struct trace *trace, unsigned int counter)
{
	for (size_t i = 0; i < counter_points(trace, counter); i++) {
		if (isfinite(counter_value(trace, counter, i)) &&
		    counter_time(trace, counter, i) >= 0)
			return true;
	}
	return false;
}

static int make_sources(struct trace *trace)
{
	size_t most = 3 * trace->nthreads + trace->nlanes + COUNTERS;
	uint32_t n = 0;

	trace->sources = calloc(most, sizeof(*trace->sources));
	trace->heap.items = calloc(most, sizeof(*trace->heap.items));
	if (!trace->sources || !trace->heap.items)
		return -ENOMEM;
	add_tracks(trace, &n, FROM_SLICES, &trace->slices, trace->nthreads);
	add_tracks(trace, &n, FROM_FAULTS, &trace->faults, trace->nthreads);
	add_tracks(trace, &n, FROM_CALLS, &trace->calls, trace->nthreads);
	add_tracks(trace, &n, FROM_REQUESTS, &trace->requests, trace->nlanes);
	for (unsigned int c = 0; c < COUNTERS; c++) {
		trace->counted[c] = is_counted(trace, c);
		add_source(trace, &n,
			   (struct trace_source){
				   .from = FROM_COUNTER,
				   .track = c,
				   .end = (uint32_t)counter_points(trace, c),
			   });
	}
	return 0;
}

int trace_make(struct trace *trace, const struct session *session)
{
	int err;

	*trace = (struct trace){.session = session};
	if (session_duration_ns(session) != UNKNOWN_NS) {
		trace->begin_ns = (uint64_t)session->start_ns;
		trace->end_ns = session_duration_ns(session);
	}
	err = trace_find_threads(trace);
	if (!err)
		err = trace_sort_rows(trace);
	if (!err)
		err = trace_find_wakers(trace);
	if (!err)
		err = make_sources(trace);
	if (err)
		trace_free(trace);
	return err;
}

static void free_rows(struct trace_rows *rows)
{
	free(rows->order);
	free(rows->tracks);
}

void trace_free(struct trace *trace)
{
	free(trace->threads);
	free(trace->lanes);
	free_rows(&trace->slices);
	free_rows(&trace->faults);
	free_rows(&trace->calls);
	free_rows(&trace->requests);
	free(trace->by_tid);
	free(trace->wakers);
	free(trace->sources);
	free(trace->heap.items);
	*trace = (struct trace){0};
}
