/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/targets/live_threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/accounts.h"
#include "probe/procfs.h"
#include "thread_state.h"

/* What one slot had at the last look. */
struct seen {
	uint64_t birth_ns;
	uint32_t tid, tgid;
	char state; /* before its first event, from /proc */
	char comm[TT_COMM_LEN];
	int64_t ns[TT_BUCKET_SLOTS];
};

struct live_threads {
	struct tracer *tracer;
	int64_t begin_ns, now_ns;
	struct seen *seen; /* by slot */
	uint32_t nseen;
	int64_t sums_ns[TT_BUCKET_SLOTS];
	/* Of the walk under way. */
	struct thread_account *rows;
	size_t nrows;
	pid_t *pids;
	size_t npids, pids_room;
};

struct live_threads *live_threads_new(struct tracer *tracer)
{
	struct live_threads *live = calloc(1, sizeof(*live));

	if (live)
		live->tracer = tracer;
	return live;
}

void live_threads_free(struct live_threads *live)
{
	if (!live)
		return;
	free(live->seen);
	free(live->pids);
	free(live);
}

void live_threads_begin(struct live_threads *live, int64_t begin_ns)
{
	live->begin_ns = live->now_ns = begin_ns;
}

static struct seen *seen_of(struct live_threads *live, uint32_t slot)
{
	struct seen *grown;

	if (slot < live->nseen)
		return &live->seen[slot];
	grown = reallocarray(live->seen, slot + 64, sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + live->nseen, 0, (slot + 64 - live->nseen) * sizeof(*grown));
	live->seen = grown;
	live->nseen = slot + 64;
	return &grown[slot];
}

static void meet(struct seen *seen, const struct tt_thread *t)
{
	struct procfs_stat stat;

	*seen = (struct seen){.tid = t->tid, .tgid = t->tgid, .birth_ns = t->t_birth_ns};
	if (procfs_task_stat((pid_t)t->tgid, (pid_t)t->tid, &stat))
		return;
	seen->state = stat.state;
	memcpy(seen->comm, stat.comm, sizeof(seen->comm) - 1);
}

/* Its state before the first event decides where that time goes; as accounts.c does at the end. */
static uint32_t first_bucket(const struct seen *seen)
{
	switch (seen->state) {
	case 'S':
	case 'D':
	case 'I':
		return TT_OFF_OTHER;
	case 'T':
	case 't':
		return TT_STOPPED;
	}
	return TT_UNKNOWN;
}

/* The record as it would be if it were closed now; NULL when there is no memory to follow it. */
static struct seen *account_now(struct live_threads *live, const struct tracer_slots *slots,
				const struct tt_thread *record, struct tt_thread *t)
{
	struct seen *seen = seen_of(live, slots->slot);

	*t = *record;
	if (!seen)
		return NULL;
	if (seen->tid != t->tid || seen->birth_ns != t->t_birth_ns)
		meet(seen, t);
	if (t->bucket == TT_UNKNOWN && !t->t_last_ns)
		t->bucket = first_bucket(seen);
	if (t->bucket != TT_DEAD && (int64_t)t->t_last_ns <= live->now_ns)
		tt_charge(t, (uint64_t)live->now_ns, (uint64_t)live->begin_ns, t->bucket,
			  t->bucket);
	return seen;
}

static void look(void *ctx, const struct tracer_slots *slots, const struct tt_thread *record)
{
	struct live_threads *live = ctx;
	struct tt_thread t;
	struct seen *seen = account_now(live, slots, record, &t);

	for (int i = 0; seen && i < TT_BUCKET_SLOTS; i++) {
		live->sums_ns[i] += (int64_t)t.ns[i] - seen->ns[i];
		seen->ns[i] = (int64_t)t.ns[i];
	}
}

void live_threads_tick(struct live_threads *live, int64_t now_ns)
{
	if (!live->begin_ns || now_ns < live->begin_ns)
		return;
	live->now_ns = now_ns;
	tracer_for_each(live->tracer, look, live);
}

const int64_t *live_threads_sums_ns(const struct live_threads *live)
{
	return live->sums_ns;
}

struct live_sleep live_threads_sleep(const struct live_threads *live, uint32_t slot)
{
	const struct seen *seen;

	if (slot >= live->nseen)
		return (struct live_sleep){0};
	seen = &live->seen[slot];
	return (struct live_sleep){
		.pid = (pid_t)seen->tgid,
		.tid = seen->tid,
		.birth_ns = seen->birth_ns,
		.off_ns = seen->ns[TT_OFF_DISK] + seen->ns[TT_OFF_OTHER],
	};
}

uint32_t live_threads_slots(const struct live_threads *live)
{
	return live->nseen;
}

static void list_process(void *ctx, const struct tracer_slots *slots, const struct tt_thread *t)
{
	struct live_threads *live = ctx;

	(void)slots;
	if (t->bucket == TT_DEAD)
		return;
	/* from the end: threads of a process lie together */
	for (size_t i = live->npids; i > 0; i--) {
		if (live->pids[i - 1] == (pid_t)t->tgid)
			return;
	}
	if (live->npids == live->pids_room) {
		size_t room = live->pids_room ? 2 * live->pids_room : 16;
		pid_t *grown = reallocarray(live->pids, room, sizeof(*grown));

		if (!grown)
			return;
		live->pids = grown;
		live->pids_room = room;
	}
	live->pids[live->npids++] = (pid_t)t->tgid;
}

void live_threads_processes(struct live_threads *live, live_process_fn fn, void *ctx)
{
	live->npids = 0;
	tracer_for_each(live->tracer, list_process, live);
	for (size_t i = 0; i < live->npids; i++)
		fn(ctx, live->pids[i]);
}

static void fill_row(struct thread_account *row, const struct tt_thread *t, const struct seen *seen)
{
	char folded[sizeof(row->comm) + 1];

	row->pid = (pid_t)t->tgid;
	row->tid = (pid_t)t->tid;
	row->exited = t->bucket == TT_DEAD;
	memcpy(row->comm, t->comm[0] ? t->comm : seen->comm, sizeof(row->comm) - 1);
	text_fold_name(folded, sizeof(folded), row->comm);
	text_sanitize(row->group, sizeof(row->group), folded, strlen(folded));
	row->oncpu_ns = (int64_t)t->ns[TT_ONCPU];
	row->runq_wake_ns = (int64_t)t->ns[TT_RUNQ_WAKE];
	row->runq_preempt_ns = (int64_t)t->ns[TT_RUNQ_PREEMPT];
	row->stopped_ns = (int64_t)t->ns[TT_STOPPED];
	row->unknown_ns = (int64_t)t->ns[TT_UNKNOWN];
	row->offcpu_ns = (int64_t)(t->ns[TT_OFF_OTHER] + t->ns[TT_OFF_DISK]);
	for (int i = 0; i < WAIT_CLASSES; i++)
		row->wait_ns[i] = 0;
	row->wait_ns[WAIT_DISK] = (int64_t)t->ns[TT_OFF_DISK];
	row->wait_ns[WAIT_OTHER] = (int64_t)t->ns[TT_OFF_OTHER];
	row->wall_ns = row->oncpu_ns + row->runq_wake_ns + row->runq_preempt_ns + row->stopped_ns +
		       row->unknown_ns + row->offcpu_ns;
	row->switches_voluntary = t->switches_voluntary;
	row->switches_involuntary = t->switches_involuntary;
	row->runq.count = t->runq_count;
	row->runq.max_ns = (int64_t)t->runq_max_ns;
	memcpy(row->runq.hist, t->runq_hist, sizeof(row->runq.hist));
	row->gaps = t->gap_switch_out + t->gap_switch_in + t->clamped;
}

static void add_row(void *ctx, const struct tracer_slots *slots, const struct tt_thread *record)
{
	struct live_threads *live = ctx;
	struct tt_thread t;
	struct seen *seen = account_now(live, slots, record, &t);
	struct session rows = {.threads = live->rows, .nthreads = live->nrows};
	struct thread_account *row =
		seen && !tt_died_before(record) ? session_add_thread(&rows) : NULL;

	if (!row)
		return;
	live->rows = rows.threads;
	live->nrows = rows.nthreads;
	fill_row(row, &t, seen);
	accounts_forget_unseen(live->tracer, row);
}

struct thread_account *live_threads_rows(struct live_threads *live, size_t *n)
{
	live->rows = NULL;
	live->nrows = 0;
	tracer_for_each(live->tracer, add_row, live);
	*n = live->nrows;
	return live->rows;
}
