/* SPDX-License-Identifier: GPL-2.0-only */
/* What is followed by time while the run goes on: the series of the session and its recording. */
#ifndef TEGRATRACE_FOLLOW_H
#define TEGRATRACE_FOLLOW_H

#include "cli/record.h"
#include "probe/machine/host_watch.h"
#include "probe/targets/live_threads.h"
#include "session/session.h"
#include "tegra/source.h"

struct follow {
	struct session *session;
	struct tegra_source *source; /* NULL */
	struct record *record;	     /* NULL */
	struct live_threads *live;
	struct host_watch *host;
	struct session *snapshot; /* taken and not recorded yet; NULL */
	int64_t begin_ns, snapshot_due_ns, snapshot_cost_ns;
};

/* Keeps the pointers. -ENOMEM or 0. */
int follow_open(struct follow *follow, struct tracer *tracer, struct session *session,
		struct waits *waits, struct tegra_source *source, struct record *record);

/* The threads are seeded and the window is not published yet. */
void follow_prepare(struct follow *follow);

/* The window begins; the source was told so. */
void follow_begin(struct follow *follow, int64_t begin_ns);

/* A few times a second, before and after accounts_drain(). */
void follow_tick(struct follow *follow, int64_t now_ns);
void follow_drained(struct follow *follow, int64_t now_ns);

/* After follow_drained(), which only reads: what it took goes to the recording. */
void follow_record(struct follow *follow, int64_t now_ns);

/* The window ended; the records are still open. */
void follow_last(struct follow *follow, int64_t end_ns);

/* The source was closed: the series are complete. */
void follow_end(struct follow *follow);
void follow_close(struct follow *follow);

#endif
