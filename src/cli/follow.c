/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tegra/summary.h"

/*
 * Batches come every second. Rows of very many threads cost more than a hundredth of a CPU; then the
 * threads are written less often, and the batches between have the series alone.
 */
#define SNAPSHOT_COST 100

int follow_open(struct follow *follow, struct tracer *tracer, struct session *session,
		struct waits *waits, struct tegra_source *source, struct record *record)
{
	*follow = (struct follow){.session = session, .source = source, .record = record};
	follow->live = live_threads_new(tracer);
	follow->host = follow->live ? host_watch_new(follow->live, waits) : NULL;
	return follow->host ? 0 : -ENOMEM;
}

static void take_sample(void *ctx, const struct tegra_sample *sample, const char *text, size_t len,
			int64_t now_ns)
{
	struct follow *follow = ctx;
	struct tegra_point point;
	int64_t t_ns = now_ns > follow->begin_ns ? now_ns - follow->begin_ns : 0;

	tegra_point_of(sample, t_ns, &point);
	series_add(&follow->session->series, &point);
	if (text)
		record_line(follow->record, t_ns, text, len);
}

void follow_prepare(struct follow *follow)
{
	host_watch_prepare(follow->host);
}

void follow_begin(struct follow *follow, int64_t begin_ns)
{
	follow->begin_ns = begin_ns;
	tegra_source_on_sample(follow->source, take_sample, follow);
	live_threads_begin(follow->live, begin_ns);
	host_watch_begin(follow->host, begin_ns);
}

void follow_tick(struct follow *follow, int64_t now_ns)
{
	live_threads_tick(follow->live, now_ns);
	host_watch_tick(follow->host, now_ns, &follow->session->host_series);
}

static int64_t own_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* The rows that the session has, and those of the living behind them. */
static void join_rows(struct follow *follow, struct session *snapshot)
{
	const struct session *session = follow->session;
	struct thread_account *all, *living;
	size_t n;

	living = live_threads_rows(follow->live, &n);
	all = reallocarray(NULL, session->nthreads + n + 1, sizeof(*all));
	if (all) {
		if (session->nthreads)
			memcpy(all, session->threads, session->nthreads * sizeof(*all));
		if (n)
			memcpy(all + session->nthreads, living, n * sizeof(*all));
		snapshot->threads = all;
		snapshot->nthreads = session->nthreads + n;
		snapshot->threads_seen = session->threads_seen + (int64_t)n;
	}
	free(living);
}

static void take_snapshot(struct follow *follow, int64_t now_ns)
{
	struct session *snapshot = malloc(sizeof(*snapshot));
	const struct tegra_summary *tegra = tegra_source_latest(follow->source);
	int64_t before_ns = own_cpu_ns();

	if (!snapshot)
		return;
	*snapshot = *follow->session;
	snapshot->end_ns = now_ns;
	snapshot->ended_by = END_INTERRUPT;
	if (tegra) {
		snapshot->tegra = *tegra;
		snapshot->tegra.state = TEGRA_LIVE;
	}
	if (now_ns >= follow->snapshot_due_ns)
		join_rows(follow, snapshot);
	follow->snapshot = snapshot;
	follow->snapshot_cost_ns = own_cpu_ns() - before_ns;
}

void follow_drained(struct follow *follow, int64_t now_ns)
{
	if (record_due(follow->record, now_ns))
		take_snapshot(follow, now_ns);
}

void follow_record(struct follow *follow, int64_t now_ns)
{
	struct session *snapshot = follow->snapshot;
	int64_t before_ns = own_cpu_ns();

	if (!snapshot)
		return;
	record_batch(follow->record, snapshot, now_ns,
		     snapshot->threads != follow->session->threads);
	if (snapshot->threads != follow->session->threads) {
		free(snapshot->threads);
		follow->snapshot_cost_ns += own_cpu_ns() - before_ns;
		follow->snapshot_due_ns = now_ns + SNAPSHOT_COST * follow->snapshot_cost_ns;
	}
	free(snapshot);
	follow->snapshot = NULL;
}

void follow_last(struct follow *follow, int64_t end_ns)
{
	live_threads_tick(follow->live, end_ns);
	host_watch_end(follow->host, end_ns, &follow->session->host_series);
}

void follow_end(struct follow *follow)
{
	series_flush(&follow->session->series);
	host_series_flush(&follow->session->host_series);
	follow->source = NULL;
}

void follow_close(struct follow *follow)
{
	host_watch_free(follow->host);
	live_threads_free(follow->live);
}
