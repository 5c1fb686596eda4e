/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/machine/system_view.h"

#include <stdlib.h>

#include "probe/machine/pressure.h"
#include "probe/machine/top_processes.h"

/* Processes whose cgroups are watched; those of one target seldom differ. */
#define MAX_PROCESSES SESSION_TARGETS

struct system_view {
	struct tracer *tracer;
	struct pressure_watch *pressure;
	struct top_watch *top;
	struct site_sampler *sites;
	struct site_thread *threads; /* room for every slot */
	size_t nthreads;
	pid_t pids[MAX_PROCESSES];
	int npids;
	int64_t sites_ns; /* of the next pass */
};

static bool open_sites(struct system_view *view)
{
	view->sites = site_sampler_new();
	view->threads = calloc(tracer_slots_max(view->tracer), sizeof(*view->threads));
	return view->sites && view->threads;
}

struct system_view *system_view_open(struct tracer *tracer, bool sample_sites)
{
	struct system_view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->tracer = tracer;
	view->sites_ns = INT64_MAX;
	view->pressure = pressure_watch_open("");
	if (view->pressure && (!sample_sites || open_sites(view)))
		return view;
	system_view_free(view);
	return NULL;
}

void system_view_free(struct system_view *view)
{
	if (!view)
		return;
	pressure_watch_free(view->pressure);
	top_watch_free(view->top);
	site_sampler_free(view->sites);
	free(view->threads);
	free(view);
}

static void note_process(void *ctx, const struct tracer_slots *slots,
			 const struct tt_thread *record)
{
	struct system_view *view = ctx;

	(void)slots;
	if (!record->tgid)
		return;
	for (int i = 0; i < view->npids; i++)
		if (view->pids[i] == (pid_t)record->tgid)
			return;
	if (view->npids < MAX_PROCESSES)
		view->pids[view->npids++] = (pid_t)record->tgid;
}

static void add_processes(struct system_view *view)
{
	view->npids = 0;
	tracer_for_each(view->tracer, note_process, view);
	for (int i = 0; i < view->npids; i++)
		pressure_watch_add(view->pressure, view->pids[i]);
}

void system_view_begin(struct system_view *view, int64_t now_ns)
{
	if (!view)
		return;
	add_processes(view);
	pressure_watch_begin(view->pressure, now_ns);
	view->top = top_watch_begin(now_ns);
	if (view->sites)
		view->sites_ns = now_ns + SITE_PASS_MS * 1000000LL;
}

int64_t system_view_next_ns(const struct system_view *view)
{
	return view ? view->sites_ns : INT64_MAX;
}

/* A record that changes this moment gives a site that is not counted, or counted once too often. */
static void note_thread(void *ctx, const struct tracer_slots *slots, const struct tt_thread *record)
{
	struct system_view *view = ctx;

	(void)slots;
	if (record->bucket == TT_DEAD || view->nthreads == tracer_slots_max(view->tracer))
		return;
	view->threads[view->nthreads++] = (struct site_thread){
		.pid = (pid_t)record->tgid,
		.tid = (pid_t)record->tid,
		.asleep = record->bucket >= TT_OFF_FIRST || record->bucket == TT_UNKNOWN,
		.since_ns = record->t_last_ns,
	};
}

void system_view_poll(struct system_view *view, int64_t now_ns)
{
	if (!view)
		return;
	if (now_ns >= view->sites_ns) {
		view->sites_ns = now_ns + SITE_PASS_MS * 1000000LL;
		view->nthreads = 0;
		tracer_for_each(view->tracer, note_thread, view);
		site_sampler_pass(view->sites, view->threads, view->nthreads);
	}
	if (pressure_watch_due(view->pressure, now_ns)) {
		add_processes(view);
		pressure_watch_tick(view->pressure, now_ns);
	}
}

const struct site_sampler *system_view_sites(const struct system_view *view)
{
	return view ? view->sites : NULL;
}

struct target_test {
	const struct tracer *tracer;
	const struct session *session;
};

/* By its first thread, which may have ended before the others. */
static bool is_target(void *ctx, pid_t pid)
{
	const struct target_test *test = ctx;

	for (int i = 0; i < test->session->ntargets && i < SESSION_TARGETS; i++)
		if (test->session->targets[i].pid == pid)
			return true;
	return tracer_traces(test->tracer, pid);
}

void system_view_end(struct system_view *view, int64_t now_ns, struct session *session)
{
	struct target_test test;

	if (!view)
		return;
	test = (struct target_test){view->tracer, session};
	pressure_watch_end(view->pressure, now_ns, session);
	top_watch_end(view->top, now_ns, is_target, &test, session);
}
