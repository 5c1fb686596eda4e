/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of the timeline by track: threads, and lanes of block devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/trace/trace.h"

enum rows_of { SLICES, FAULTS, CALLS, REQUESTS };

/* What a row of any kind covers, and whose it is. */
struct span {
	pid_t pid, tid;
	int64_t start_ns, end_ns;
};

static struct span span_of(const struct timeline *timeline, enum rows_of kind, size_t row)
{
	const struct timeline_request *r;

	switch (kind) {
	case SLICES: {
		const struct timeline_slice *s = &timeline->slices[row];

		return (struct span){s->pid, s->tid, s->start_ns, s->start_ns + s->ns};
	}
	case FAULTS: {
		const struct timeline_fault *f = &timeline->faults[row];

		return (struct span){f->pid, f->tid, f->start_ns, f->start_ns};
	}
	case CALLS: {
		const struct timeline_call *c = &timeline->calls[row];

		return (struct span){c->pid, c->tid, c->start_ns, c->start_ns + c->ns};
	}
	case REQUESTS:
		break;
	}
	r = &timeline->requests[row];
	return (struct span){r->pid, r->tid,
			     r->issue_ns - (r->queue_ns == UNKNOWN_NS ? 0 : r->queue_ns),
			     r->issue_ns + r->device_ns};
}

static size_t rows_of(const struct timeline *timeline, enum rows_of kind)
{
	const size_t n[] = {
		[SLICES] = timeline->n,
		[FAULTS] = timeline->nfaults,
		[CALLS] = timeline->ncalls,
		[REQUESTS] = timeline->nrequests,
	};

	return n[kind];
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_threads(const void *a, const void *b)
{
	const struct trace_thread *x = a, *y = b;
	int order = compare(x->pid, y->pid);

	return order ? order : compare(x->tid, y->tid);
}

const struct trace_thread *trace_find_thread(const struct trace *trace, pid_t pid, pid_t tid)
{
	const struct trace_thread key = {.pid = pid, .tid = tid};

	return bsearch(&key, trace->threads, trace->nthreads, sizeof(key), compare_threads);
}

static void sort_threads(struct trace_thread *threads, size_t *n)
{
	size_t kept = 0;

	if (*n)
		qsort(threads, *n, sizeof(*threads), compare_threads);
	for (size_t i = 0; i < *n; i++) {
		if (!kept || compare_threads(&threads[kept - 1], &threads[i]))
			threads[kept++] = threads[i];
	}
	*n = kept;
}

static int take_accounts(struct trace *trace)
{
	const struct session *session = trace->session;

	trace->threads = calloc(session->nthreads + 1, sizeof(*trace->threads));
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
	sort_threads(trace->threads, &trace->nthreads);
	return 0;
}

/* Threads that only the timeline knows; sorted, and each once, whenever there is no room. */
struct others {
	struct trace_thread *threads;
	size_t n, room;
};

static int add_other(struct others *others, const struct span *span)
{
	if (others->n == others->room) {
		sort_threads(others->threads, &others->n);
		if (others->n > others->room / 2 || !others->room) {
			size_t room = others->room ? 2 * others->room : 256;
			struct trace_thread *more =
				reallocarray(others->threads, room, sizeof(*more));

			if (!more)
				return -ENOMEM;
			others->threads = more;
			others->room = room;
		}
	}
	others->threads[others->n++] =
		(struct trace_thread){.pid = span->pid, .tid = span->tid, .name = "exited"};
	return 0;
}

static int find_others(const struct trace *trace, enum rows_of kind, struct others *others)
{
	const struct timeline *timeline = &trace->session->timeline;
	struct span last = {0};

	for (size_t i = 0; i < rows_of(timeline, kind); i++) {
		const struct span span = span_of(timeline, kind, i);

		if (span.pid == last.pid && span.tid == last.tid)
			continue;
		if (!trace_find_thread(trace, span.pid, span.tid) && add_other(others, &span))
			return -ENOMEM;
		last = span;
	}
	return 0;
}

int trace_find_threads(struct trace *trace)
{
	struct others others = {0};
	struct trace_thread *all;
	int err = take_accounts(trace);

	for (int kind = SLICES; !err && kind <= CALLS; kind++)
		err = find_others(trace, (enum rows_of)kind, &others);
	if (!err && others.n) {
		sort_threads(others.threads, &others.n);
		all = reallocarray(trace->threads, trace->nthreads + others.n, sizeof(*all));
		err = all ? 0 : -ENOMEM;
		if (all) {
			memcpy(all + trace->nthreads, others.threads, others.n * sizeof(*all));
			trace->threads = all;
			trace->nthreads += others.n;
			sort_threads(trace->threads, &trace->nthreads);
		}
	}
	free(others.threads);
	return err;
}

struct sorting {
	const struct timeline *timeline;
	enum rows_of kind;
};

static int by_start(const void *a, const void *b, void *ctx)
{
	const struct sorting *sorting = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare(span_of(sorting->timeline, sorting->kind, x).start_ns,
			    span_of(sorting->timeline, sorting->kind, y).start_ns);

	return order ? order : compare(x, y);
}

/* Rows of one thread nearly always come in their order. */
static void sort_track(struct sorting *sorting, uint32_t *order, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (by_start(&order[i - 1], &order[i], sorting) > 0) {
			qsort_r(order, n, sizeof(*order), by_start, sorting);
			return;
		}
	}
}

static uint32_t drop_overlaps(const struct sorting *sorting, uint32_t *order, uint32_t n)
{
	int64_t end_ns = INT64_MIN;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct span span = span_of(sorting->timeline, sorting->kind, order[i]);

		if (span.start_ns < end_ns)
			continue;
		end_ns = span.end_ns;
		order[kept++] = order[i];
	}
	return kept;
}

/* `tracks[i].n` counts the rows of track i, and track[row] is the one of each. */
static int group(struct trace_rows *rows, const uint32_t *track, size_t n, size_t ntracks)
{
	uint32_t from = 0;

	rows->order = reallocarray(NULL, n + 1, sizeof(*rows->order));
	if (!rows->order)
		return -ENOMEM;
	for (size_t i = 0; i < ntracks; i++) {
		rows->tracks[i].from = from;
		from += rows->tracks[i].n;
		rows->tracks[i].n = 0;
	}
	for (size_t row = 0; row < n; row++) {
		struct trace_range *range = &rows->tracks[track[row]];

		rows->order[range->from + range->n++] = (uint32_t)row;
	}
	return 0;
}

static int sort_by_thread(struct trace *trace, enum rows_of kind, struct trace_rows *rows)
{
	struct sorting sorting = {&trace->session->timeline, kind};
	size_t n = rows_of(sorting.timeline, kind);
	uint32_t *track = reallocarray(NULL, n + 1, sizeof(*track));
	const struct trace_thread *thread = NULL;
	int err;

	rows->tracks = calloc(trace->nthreads + 1, sizeof(*rows->tracks));
	if (!track || !rows->tracks) {
		free(track);
		return -ENOMEM;
	}
	for (size_t row = 0; row < n; row++) {
		const struct span span = span_of(sorting.timeline, kind, row);

		if (!thread || thread->pid != span.pid || thread->tid != span.tid)
			thread = trace_find_thread(trace, span.pid, span.tid);
		track[row] = (uint32_t)(thread - trace->threads);
		rows->tracks[track[row]].n++;
	}
	err = group(rows, track, n, trace->nthreads);
	free(track);
	for (size_t i = 0; !err && i < trace->nthreads; i++) {
		struct trace_range *range = &rows->tracks[i];

		sort_track(&sorting, rows->order + range->from, range->n);
		range->n = drop_overlaps(&sorting, rows->order + range->from, range->n);
	}
	return err;
}

static int by_device_and_start(const void *a, const void *b, void *ctx)
{
	struct sorting *sorting = ctx;
	const struct timeline_request *requests = sorting->timeline->requests;
	int order = strcmp(requests[*(const uint32_t *)a].device,
			   requests[*(const uint32_t *)b].device);

	return order ? order : by_start(a, b, ctx);
}

/* The lane of the device that is free, or a new one. */
static uint32_t choose_lane(struct trace *trace, struct trace_heap *busy, const struct span *span,
			    const char *device)
{
	uint32_t lane;

	if (busy->n && busy->items[0].t_ns <= span->start_ns) {
		lane = busy->items[0].number;
		trace_heap_retime(busy, span->end_ns);
		return lane;
	}
	lane = (uint32_t)trace->nlanes++;
	trace->lanes[lane] = device;
	trace_heap_add(busy, span->end_ns, lane);
	return lane;
}

/* Requests by device and time, each into the lane that has been free for longest. */
static void choose_lanes(struct trace *trace, const uint32_t *order, size_t n,
			 struct trace_heap *busy, uint32_t *lane_of)
{
	const struct timeline *timeline = &trace->session->timeline;
	const char *device = "";

	for (size_t i = 0; i < n; i++) {
		const struct timeline_request *request = &timeline->requests[order[i]];
		const struct span span = span_of(timeline, REQUESTS, order[i]);

		if (strcmp(device, request->device) != 0)
			busy->n = 0;
		device = request->device;
		lane_of[order[i]] = choose_lane(trace, busy, &span, device);
		trace->requests.tracks[lane_of[order[i]]].n++;
	}
}

static int sort_by_lane(struct trace *trace)
{
	struct sorting sorting = {&trace->session->timeline, REQUESTS};
	size_t n = sorting.timeline->nrequests;
	uint32_t *order = reallocarray(NULL, n + 1, sizeof(*order));
	uint32_t *lane_of = reallocarray(NULL, n + 1, sizeof(*lane_of));
	struct trace_heap busy = {.items = reallocarray(NULL, n + 1, sizeof(*busy.items))};
	int err = -ENOMEM;

	trace->lanes = reallocarray(NULL, n + 1, sizeof(*trace->lanes));
	trace->requests.tracks = calloc(n + 1, sizeof(*trace->requests.tracks));
	if (order && lane_of && busy.items && trace->lanes && trace->requests.tracks) {
		for (size_t i = 0; i < n; i++)
			order[i] = (uint32_t)i;
		if (n)
			qsort_r(order, n, sizeof(*order), by_device_and_start, &sorting);
		choose_lanes(trace, order, n, &busy, lane_of);
		err = group(&trace->requests, lane_of, n, trace->nlanes);
	}
	for (size_t i = 0; !err && i < trace->nlanes; i++)
		sort_track(&sorting, trace->requests.order + trace->requests.tracks[i].from,
			   trace->requests.tracks[i].n);
	free(order);
	free(lane_of);
	free(busy.items);
	return err;
}

static int by_tid(const void *a, const void *b)
{
	const struct trace_thread *x = *(const struct trace_thread *const *)a;
	const struct trace_thread *y = *(const struct trace_thread *const *)b;

	return compare(x->tid, y->tid);
}

static int sort_by_tid(struct trace *trace)
{
	trace->by_tid = calloc(trace->nthreads + 1, sizeof(*trace->by_tid));
	if (!trace->by_tid)
		return -ENOMEM;
	for (size_t i = 0; i < trace->nthreads; i++)
		trace->by_tid[i] = &trace->threads[i];
	if (trace->nthreads)
		qsort(trace->by_tid, trace->nthreads, sizeof(*trace->by_tid), by_tid);
	return 0;
}

int trace_sort_rows(struct trace *trace)
{
	int err = sort_by_tid(trace);

	if (!err)
		err = sort_by_thread(trace, SLICES, &trace->slices);
	if (!err)
		err = sort_by_thread(trace, FAULTS, &trace->faults);
	if (!err)
		err = sort_by_thread(trace, CALLS, &trace->calls);
	return err ? err : sort_by_lane(trace);
}
