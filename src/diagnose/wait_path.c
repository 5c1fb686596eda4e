/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/wait_path.h"

#include <stdlib.h>
#include <string.h>

/* Less of the window than this is not followed further. */
#define MASS_MIN 0.002
#define DEPTH	 16
/* A thread that waits less for the GPU does not feed it. */
#define FEEDER_MIN 0.02

struct walk {
	const struct session *session;
	size_t *waiter; /* by edge: rows; nthreads = none */
	size_t *waker;	/* the traced thread that was waited for */
	size_t *order;	/* edges by waiter */
	size_t *first;	/* by row: its edges are order[first[row] .. first[row + 1]) */
	double (*mass)[PATH_ENDS];
	size_t on_path[DEPTH];
	int depth;
};

static enum path_end end_of(enum wait_class class)
{
	static const enum path_end ends[WAIT_CLASSES] = {
		[WAIT_GPU] = PATH_GPU,	      [WAIT_DISK] = PATH_DISK,
		[WAIT_FAULT] = PATH_FAULT,    [WAIT_LOCK] = PATH_LOCK,
		[WAIT_THREAD] = PATH_UNKNOWN, [WAIT_PROCESS] = PATH_INPUT,
		[WAIT_NET] = PATH_INPUT,      [WAIT_DEVICE] = PATH_INPUT,
		[WAIT_TIMER] = PATH_INPUT,    [WAIT_CHILD] = PATH_INPUT,
		[WAIT_EVENT] = PATH_UNKNOWN,  [WAIT_OTHER] = PATH_UNKNOWN,
	};

	return ends[class];
}

static int64_t known(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

static int64_t gpu_ns(const struct thread_account *thread)
{
	return known(thread->wait_ns[WAIT_GPU]) + known(thread->gpu_spin_ns);
}

static size_t row_of(const struct session *session, pid_t pid, pid_t tid, const char *group)
{
	for (size_t i = 0; i < session->nthreads; i++) {
		const struct thread_account *row = &session->threads[i];

		if (row->pid == pid && row->tid == tid &&
		    (tid || !strncmp(row->group, group, sizeof(row->group))))
			return i;
	}
	return session->nthreads;
}

static bool allocate(struct walk *walk)
{
	size_t rows = walk->session->nthreads, edges = walk->session->nedges;

	walk->waiter = calloc(edges + 1, sizeof(*walk->waiter));
	walk->waker = calloc(edges + 1, sizeof(*walk->waker));
	walk->order = calloc(edges + 1, sizeof(*walk->order));
	walk->first = calloc(rows + 2, sizeof(*walk->first));
	walk->mass = calloc(rows + 1, sizeof(*walk->mass));
	return walk->waiter && walk->waker && walk->order && walk->first && walk->mass;
}

/*
 * A wait that another traced thread ended is that thread's time, also where one hop was inherited:
 * its own waits tell more than the hop does.
 */
static bool leads_on(const struct wait_edge *edge)
{
	return edge->waker_kind == WAKER_THREAD && (edge->class == WAIT_THREAD || *edge->via);
}

static void index_edges(struct walk *walk)
{
	const struct session *session = walk->session;
	size_t rows = session->nthreads, placed = 0;

	for (size_t i = 0; i < session->nedges; i++) {
		const struct wait_edge *edge = &session->edges[i];

		walk->waiter[i] = row_of(session, edge->pid, edge->tid, edge->group);
		walk->waker[i] = leads_on(edge)
					 ? row_of(session, edge->waker_pid, edge->waker_tid, "")
					 : rows;
	}
	for (size_t row = 0; row <= rows; row++) {
		walk->first[row] = placed;
		for (size_t i = 0; i < session->nedges; i++) {
			if (walk->waiter[i] == row)
				walk->order[placed++] = i;
		}
	}
	walk->first[rows + 1] = placed;
}

static bool is_on_path(const struct walk *walk, size_t row)
{
	for (int i = 0; i < walk->depth; i++) {
		if (walk->on_path[i] == row)
			return true;
	}
	return false;
}

/* The time of a thread that can stand for its waiter's: all but its waits for those on the path. */
static int64_t own_ns(const struct walk *walk, size_t row)
{
	const struct session *session = walk->session;
	const struct thread_account *thread = &session->threads[row];
	int64_t ns = thread->wall_ns - thread->stopped_ns;

	for (size_t i = walk->first[row]; i < walk->first[row + 1]; i++) {
		if (is_on_path(walk, walk->waker[walk->order[i]]))
			ns -= session->edges[walk->order[i]].ns;
	}
	return ns;
}

static void follow(struct walk *walk, size_t row, double mass);

static double follow_edges(struct walk *walk, size_t row, double per_ns)
{
	const struct session *session = walk->session;
	double spent = 0;

	for (size_t i = walk->first[row]; i < walk->first[row + 1]; i++) {
		const struct wait_edge *edge = &session->edges[walk->order[i]];
		size_t next = walk->waker[walk->order[i]];
		double mass = per_ns * (double)edge->ns;

		if (is_on_path(walk, next))
			continue;
		spent += mass;
		if (next < session->nthreads)
			follow(walk, next, mass);
		else
			walk->mass[row][end_of(edge->class)] += mass;
	}
	return spent;
}

static void follow(struct walk *walk, size_t row, double mass)
{
	const struct thread_account *thread = &walk->session->threads[row];
	double *ends = walk->mass[row], per_ns, spent;
	int64_t own;

	if (mass < MASS_MIN || walk->depth == DEPTH) {
		ends[PATH_UNKNOWN] += mass;
		return;
	}
	walk->on_path[walk->depth++] = row;
	own = own_ns(walk, row);
	if (own <= 0) {
		ends[PATH_UNKNOWN] += mass;
		walk->depth--;
		return;
	}
	per_ns = mass / (double)own;
	spent = follow_edges(walk, row, per_ns);
	ends[PATH_CPU] += per_ns * (double)(thread->oncpu_ns - known(thread->gpu_spin_ns));
	ends[PATH_GPU] += per_ns * (double)known(thread->gpu_spin_ns);
	ends[PATH_RUNQ] += per_ns * (double)(thread->runq_wake_ns + thread->runq_preempt_ns);
	spent += per_ns *
		 (double)(thread->oncpu_ns + thread->runq_wake_ns + thread->runq_preempt_ns);
	if (mass > spent)
		ends[PATH_UNKNOWN] += mass - spent;
	walk->depth--;
}

/* The CUDA driver's own threads wait for the GPU all the time, for those that do the work. */
static bool is_driver_thread(const struct thread_account *thread)
{
	return !strncmp(thread->comm, "cuda-", 5);
}

static size_t find_feeder(const struct session *session)
{
	int64_t best = (int64_t)(FEEDER_MIN * (double)session_duration_ns(session));
	size_t feeder = session->nthreads;

	/* Who calls the driver's library is known without doubt, however little it waits. */
	if (session->cuda.feeder_tid)
		feeder = row_of(session, session->cuda.feeder_pid, session->cuda.feeder_tid, "");
	if (feeder < session->nthreads)
		return feeder;

	for (size_t i = 0; i < session->nthreads; i++) {
		if (session->threads[i].folded == 1 && !is_driver_thread(&session->threads[i]) &&
		    gpu_ns(&session->threads[i]) > best) {
			best = gpu_ns(&session->threads[i]);
			feeder = i;
		}
	}
	return feeder;
}

static const struct wait_edge *largest_edge(const struct walk *walk, size_t row, enum path_end end)
{
	const struct session *session = walk->session;
	const struct wait_edge *best = NULL;

	if (end == PATH_CPU || end == PATH_RUNQ)
		return NULL;
	for (size_t i = walk->first[row]; i < walk->first[row + 1]; i++) {
		const struct wait_edge *edge = &session->edges[walk->order[i]];

		if (end_of(edge->class) == end && (!best || edge->ns > best->ns))
			best = edge;
	}
	return best;
}

static void sum_up(const struct walk *walk, struct wait_path *path)
{
	const struct session *session = walk->session;

	for (int end = 0; end < PATH_ENDS; end++) {
		struct path_part *part = &path->parts[end];
		size_t top = 0;

		part->share = 0;
		for (size_t i = 0; i < session->nthreads; i++) {
			part->share += walk->mass[i][end];
			if (walk->mass[i][end] > walk->mass[top][end])
				top = i;
		}
		if (part->share <= 0)
			continue;
		part->top = &session->threads[top];
		part->top_share = walk->mass[top][end];
		part->edge = largest_edge(walk, top, end);
	}
}

void wait_path_find(const struct session *session, struct wait_path *path)
{
	struct walk walk = {.session = session};
	size_t feeder;

	memset(path, 0, sizeof(*path));
	for (int end = 0; end < PATH_ENDS; end++)
		path->parts[end].share = NAN;
	if (session_duration_ns(session) == UNKNOWN_NS)
		return;
	feeder = find_feeder(session);
	if (feeder < session->nthreads && allocate(&walk)) {
		index_edges(&walk);
		path->feeder = &session->threads[feeder];
		follow(&walk, feeder, 1);
		sum_up(&walk, path);
	}
	free(walk.waiter);
	free(walk.waker);
	free(walk.order);
	free(walk.first);
	free(walk.mass);
}
