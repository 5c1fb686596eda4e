/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/accounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/text.h"
#include "probe/adoption.h"
#include "probe/procfs.h"
#include "thread_state.h"

/* Exited threads get rows of their own while there are few, or when they lived long enough to matter. */
#define EXITED_ROWS	 256
#define EXITED_ROWS_LONG 4096
#define EXITED_LONG_NS	 1000000000LL

#define CLOSERS 8

/* The kernel's own books of a thread at one moment. */
struct books {
	bool known;
	char comm[TT_COMM_LEN];
	char state;
	uint64_t oncpu_ns, runq_ns;
	int64_t minflt, majflt;
};

struct accounts {
	struct tracer *tracer;
	struct session *session;
	struct books *baseline; /* by slot; of seeded threads */
	int64_t begin_ns, end_ns;
	struct adoption adoption;
	int exited_rows;
	int seeded; /* in the current pass */
	int error;
	struct {
		accounts_close_fn fn;
		void *ctx;
	} on_close[CLOSERS];
	int nclosers;
	accounts_kept_fn on_kept;
	void *kept_ctx;
	accounts_asleep_fn on_asleep;
	void *asleep_ctx;
};

struct accounts *accounts_new(struct tracer *tracer, struct session *session)
{
	struct accounts *accounts = calloc(1, sizeof(*accounts));

	if (!accounts)
		return NULL;
	accounts->tracer = tracer;
	accounts->adoption.tracer = tracer;
	accounts->session = session;
	accounts->baseline = calloc(tracer_slots_max(tracer), sizeof(struct books));
	if (!accounts->baseline) {
		free(accounts);
		return NULL;
	}
	return accounts;
}

void accounts_free(struct accounts *accounts)
{
	if (!accounts)
		return;
	free(accounts->baseline);
	free(accounts);
}

int accounts_on_close(struct accounts *accounts, accounts_close_fn fn, void *ctx)
{
	if (accounts->nclosers == CLOSERS)
		return -ENOSPC;
	accounts->on_close[accounts->nclosers].fn = fn;
	accounts->on_close[accounts->nclosers++].ctx = ctx;
	return 0;
}

void accounts_on_kept(struct accounts *accounts, accounts_kept_fn fn, void *ctx)
{
	accounts->on_kept = fn;
	accounts->kept_ctx = ctx;
}

void accounts_on_asleep(struct accounts *accounts, accounts_asleep_fn fn, void *ctx)
{
	accounts->on_asleep = fn;
	accounts->asleep_ctx = ctx;
}

static void tell_asleep(struct accounts *accounts, const struct books *books, uint32_t slot,
			const struct tt_thread *t, bool at_end)
{
	if (accounts->on_asleep && (books->state == 'S' || books->state == 'D'))
		accounts->on_asleep(accounts->asleep_ctx, slot, t->tgid, t->tid, at_end);
}

static void read_books(struct books *books, pid_t pid, pid_t tid)
{
	struct procfs_stat stat;
	uint64_t slices;

	memset(books, 0, sizeof(*books));
	if (procfs_task_stat(pid, tid, &stat))
		return;
	memcpy(books->comm, stat.comm, sizeof(books->comm) - 1);
	books->state = stat.state;
	books->minflt = stat.minflt;
	books->majflt = stat.majflt;
	if (!procfs_schedstat(pid, tid, &books->oncpu_ns, &books->runq_ns, &slices))
		books->known = true;
}

/* A leader that has ended is in /proc as long as its process. */
static bool is_gone(const struct books *books)
{
	return !books->state || strchr("ZXx", books->state);
}

static int seed_task(void *ctx, pid_t pid, pid_t tid)
{
	struct accounts *accounts = ctx;
	int slot = tracer_seed(accounts->tracer, pid, tid);

	if (slot == -EEXIST)
		return 0;
	if (slot < 0) {
		accounts->session->losses.threads_untracked++;
		accounts->error = slot;
		return slot == -ENOSPC ? slot : 0;
	}
	accounts->seeded++;
	return 0;
}

static int seed_child(void *ctx, const struct target *child, pid_t parent)
{
	(void)parent;
	procfs_for_each_task(child->pid, seed_task, ctx);
	return 0;
}

int accounts_seed(struct accounts *accounts, const struct target_set *targets, bool follow)
{
	int total = 0;

	accounts->error = 0;
	accounts->adoption.follow = follow;
	do {
		accounts->seeded = 0;
		for (int i = 0; i < targets->n; i++)
			procfs_for_each_task(targets->items[i].pid, seed_task, accounts);
		if (follow)
			targets_descendants(targets, seed_child, accounts);
		total += accounts->seeded;
	} while (accounts->seeded && !accounts->error);
	return total ? total : accounts->error;
}

static void baseline_one(void *ctx, const struct tracer_slots *slots, const struct tt_thread *t)
{
	struct accounts *accounts = ctx;

	if (t->flags & TT_FLAG_BORN)
		return;
	read_books(&accounts->baseline[slots->slot], t->tgid, t->tid);
	if (accounts->baseline[slots->slot].state && is_gone(&accounts->baseline[slots->slot]))
		tracer_note_dead(accounts->tracer, slots->slot);
	tell_asleep(accounts, &accounts->baseline[slots->slot], slots->slot, t, false);
}

void accounts_take_baseline(struct accounts *accounts)
{
	tracer_for_each(accounts->tracer, baseline_one, accounts);
}

void accounts_begin(struct accounts *accounts, int64_t begin_ns)
{
	accounts->begin_ns = accounts->adoption.begin_ns = begin_ns;
}

/*
 * A thread without any event in the whole window did one thing all the time. Asleep or stopped is
 * told by its state; a runnable one ran or waited, which the kernel's own books tell.
 */
static void decide_eventless(struct tt_thread *t, const struct books *before,
			     const struct books *after, int64_t wall_ns)
{
	/* Events that were lost may have been its: then only one that never ran is sure. */
	if (t->flags & TT_FLAG_LOST &&
	    (!before->known || !after->known || before->oncpu_ns != after->oncpu_ns))
		return;
	switch (after->state) {
	case 'S':
	case 'D':
	case 'I':
		t->bucket = TT_OFF_OTHER;
		break;
	case 'T':
	case 't':
		t->bucket = TT_STOPPED;
		break;
	case 'R':
		if (!before->known || !after->known)
			break;
		t->bucket = (int64_t)(after->oncpu_ns - before->oncpu_ns) > wall_ns / 2
				    ? TT_ONCPU
				    : TT_RUNQ_PREEMPT;
		break;
	}
}

/* All sleep is WAIT_OTHER until its causes are known. */
static void copy_sums(struct thread_account *account, const struct tt_thread *t)
{
	account->oncpu_ns = t->ns[TT_ONCPU];
	account->runq_wake_ns = t->ns[TT_RUNQ_WAKE];
	account->runq_preempt_ns = t->ns[TT_RUNQ_PREEMPT];
	account->stopped_ns = t->ns[TT_STOPPED];
	account->unknown_ns = t->ns[TT_UNKNOWN];
	account->offcpu_ns = t->ns[TT_OFF_OTHER] + t->ns[TT_OFF_DISK];
	account->wait_ns[WAIT_OTHER] = account->offcpu_ns;
	account->switches_voluntary = t->switches_voluntary;
	account->switches_involuntary = t->switches_involuntary;
	account->runq.count = t->runq_count;
	account->runq.max_ns = t->runq_max_ns;
	memcpy(account->runq.hist, t->runq_hist, sizeof(account->runq.hist));
	account->gaps = t->gap_switch_out + t->gap_switch_in + t->clamped;
}

void accounts_forget_unseen(const struct tracer *tracer, struct thread_account *account)
{
	if (!tracer_polls(tracer))
		return;
	account->runq.count = UNKNOWN_COUNT;
	account->runq.max_ns = UNKNOWN_NS;
	if (account->exited)
		account->switches_voluntary = account->switches_involuntary = UNKNOWN_COUNT;
}

static void add_losses(struct session_losses *losses, const struct tt_thread *t)
{
	losses->gaps_switch_out += t->gap_switch_out;
	losses->gaps_switch_in += t->gap_switch_in;
	losses->wakes_without_waker += t->gap_waker;
	losses->clamped += t->clamped;
}

static void name_account(struct thread_account *account, const char *comm)
{
	char folded[sizeof(account->comm) + 1];

	memcpy(account->comm, comm, sizeof(account->comm) - 1);
	text_fold_name(folded, sizeof(folded), account->comm);
	text_sanitize(account->group, sizeof(account->group), folded, strlen(folded));
}

/* The row that exited short-lived threads of this process and group share. */
static struct thread_account *fold_row(struct session *session, const struct thread_account *like)
{
	struct thread_account *row;

	for (size_t i = 0; i < session->nthreads; i++) {
		row = &session->threads[i];
		if (row->exited && !row->tid && row->pid == like->pid &&
		    !strcmp(row->group, like->group))
			return row;
	}
	return NULL;
}

#define NO_ROW SIZE_MAX

/* Returns the row. */
static size_t keep_account(struct accounts *accounts, const struct thread_account *account)
{
	struct session *session = accounts->session;
	struct thread_account *row;
	int limit = account->wall_ns >= EXITED_LONG_NS ? EXITED_ROWS_LONG : EXITED_ROWS;

	if (account->exited && accounts->exited_rows >= limit) {
		row = fold_row(session, account);
		if (row) {
			thread_account_merge(row, account);
			return row - session->threads;
		}
	}
	row = session_add_thread(session);
	if (!row) {
		session->losses.threads_untracked++;
		return NO_ROW;
	}
	*row = *account;
	if (account->exited && accounts->exited_rows >= limit)
		row->tid = 0;
	else if (account->exited)
		accounts->exited_rows++;
	return row - session->threads;
}

static void init_account(struct thread_account *account, const struct tt_thread *t)
{
	memset(account, 0, sizeof(*account));
	account->pid = t->tgid;
	account->tid = t->tid;
	account->folded = 1;
	account->gpu_spin_ns = UNKNOWN_NS;
	account->minor_faults = account->major_faults = UNKNOWN_COUNT;
	oncpu_samples_init(&account->oncpu_samples);
	account->schedstat_oncpu_ns = account->schedstat_runq_ns = UNKNOWN_NS;
	account->io_reads = account->io_writes = UNKNOWN_COUNT;
	account->io_read_bytes = account->io_write_bytes = UNKNOWN_COUNT;
	account->io_queue_ns = account->io_device_ns = UNKNOWN_NS;
	cuda_account_init(&account->cuda);
}

static void add_books(struct thread_account *account, const struct books *before,
		      const struct books *after)
{
	if (!after->known)
		return;
	account->schedstat_oncpu_ns = (int64_t)(after->oncpu_ns - before->oncpu_ns);
	account->schedstat_runq_ns = (int64_t)(after->runq_ns - before->runq_ns);
	account->minor_faults = after->minflt - before->minflt;
	account->major_faults = after->majflt - before->majflt;
}

static int64_t part_of(int64_t wanted_ns, int64_t left_ns)
{
	return wanted_ns < 0 ? 0 : wanted_ns < left_ns ? wanted_ns : left_ns;
}

/*
 * Where a switch was missed and no run time told when, the time is unknown; how much of it was
 * spent on a CPU and in the run queue the kernel's own books still say. What neither claims stays
 * unknown.
 */
static void resolve_unknown(struct thread_account *account)
{
	int64_t runq_ns = account->runq_wake_ns + account->runq_preempt_ns, part_ns;

	if (!account->unknown_ns || account->schedstat_oncpu_ns == UNKNOWN_NS)
		return;
	part_ns = part_of(account->schedstat_oncpu_ns - account->oncpu_ns, account->unknown_ns);
	account->oncpu_ns += part_ns;
	account->unknown_ns -= part_ns;
	part_ns = part_of(account->schedstat_runq_ns - runq_ns, account->unknown_ns);
	account->runq_preempt_ns += part_ns;
	account->unknown_ns -= part_ns;
}

static void add_other_probes(struct accounts *accounts, const struct tracer_slots *slots,
			     struct thread_account *account)
{
	for (int i = 0; i < accounts->nclosers; i++) {
		if (slots->predecessor)
			accounts->on_close[i].fn(accounts->on_close[i].ctx, slots->predecessor,
						 account);
		accounts->on_close[i].fn(accounts->on_close[i].ctx, slots->slot, account);
	}
}

/* Its end was missed, and so what it did since its last event. */
static bool ended_unseen(const struct tt_thread *t, const struct books *after)
{
	return is_gone(after) && !(t->flags & TT_FLAG_OUTLIVED);
}

static void close_account(struct accounts *accounts, const struct tracer_slots *slots,
			  const struct tt_thread *record, const struct books *after)
{
	static const struct books none;
	const struct books *before =
		record->flags & TT_FLAG_BORN ? &none : &accounts->baseline[slots->slot];
	struct session *session = accounts->session;
	struct thread_account account;
	struct tt_thread t = *record;
	int64_t birth = t.t_birth_ns ? (int64_t)t.t_birth_ns : accounts->begin_ns;
	int64_t death = t.t_death_ns ? (int64_t)t.t_death_ns : accounts->end_ns;
	struct kept_account kept = {.slots = slots, .record = record};

	init_account(&account, &t);
	account.exited = t.bucket == TT_DEAD;
	account.wall_ns = death - birth;
	if (!account.exited) {
		if (ended_unseen(&t, after))
			t.bucket = TT_UNKNOWN;
		else if (t.bucket == TT_UNKNOWN && !t.t_last_ns)
			decide_eventless(&t, before, after, account.wall_ns);
		if (t.bucket >= TT_OFF_FIRST)
			kept.asleep_ns = accounts->end_ns -
					 (t.t_last_ns ? (int64_t)t.t_last_ns : accounts->begin_ns);
		tt_charge(&t, accounts->end_ns, accounts->begin_ns, t.bucket, t.bucket);
	}
	copy_sums(&account, &t);
	/* what is left of an exit in the window are its last microseconds, or more without a CPU */
	account.exited |= t.flags & TT_FLAG_EXITING && is_gone(after);
	if (!account.exited && (before->known || t.flags & TT_FLAG_BORN))
		add_books(&account, before, after);
	accounts_forget_unseen(accounts->tracer, &account);
	resolve_unknown(&account);
	name_account(&account, t.comm[0] ? t.comm : after->comm[0] ? after->comm : before->comm);
	add_other_probes(accounts, slots, &account);
	add_losses(&session->losses, &t);
	if (thread_identity_error_ns(&account))
		session->losses.identity_violations++;
	session->threads_seen++;
	kept.row = keep_account(accounts, &account);
	if (accounts->on_kept && kept.row != NO_ROW)
		accounts->on_kept(accounts->kept_ctx, &kept);
}

void accounts_adopt(struct accounts *accounts, int64_t now_ns)
{
	if (!tracer_polls(accounts->tracer))
		adoption_tick(&accounts->adoption, now_ns);
}

/* Nothing of it lies in the window; what other probes keep by its slot is thrown away. */
static void drop_account(struct accounts *accounts, const struct tracer_slots *slots,
			 const struct tt_thread *t)
{
	struct thread_account unused;

	init_account(&unused, t);
	add_other_probes(accounts, slots, &unused);
}

static void drain_one(void *ctx, const struct tracer_slots *slots, const struct tt_thread *t)
{
	static const struct books none;
	struct accounts *accounts = ctx;

	if (tt_died_before(t))
		drop_account(accounts, slots, t);
	else
		close_account(accounts, slots, t, &none);
	memset(&accounts->baseline[slots->slot], 0, sizeof(struct books));
}

void accounts_drain(struct accounts *accounts)
{
	if (accounts->begin_ns)
		tracer_drain(accounts->tracer, drain_one, accounts);
}

static void count_living(void *ctx, const struct tracer_slots *slots, const struct tt_thread *t)
{
	(void)slots;
	if (t->bucket != TT_DEAD)
		++*(int *)ctx;
}

int accounts_living(const struct accounts *accounts)
{
	int n = 0;

	tracer_for_each(accounts->tracer, count_living, &n);
	return n;
}

struct final_books {
	struct accounts *accounts;
	struct books *after; /* by slot */
};

static void read_final(void *ctx, const struct tracer_slots *slots, const struct tt_thread *t)
{
	struct final_books *final = ctx;

	if (t->bucket == TT_DEAD)
		return;
	read_books(&final->after[slots->slot], t->tgid, t->tid);
	tell_asleep(final->accounts, &final->after[slots->slot], slots->slot, t, true);
}

/* Seeded, but gone before the window began; or born after its end. */
static bool is_outside(const struct accounts *accounts, const struct tt_thread *t,
		       const struct books *after)
{
	if (t->bucket == TT_UNKNOWN && !t->t_last_ns)
		return ended_unseen(t, after);
	return tt_died_before(t) || (int64_t)t->t_birth_ns >= accounts->end_ns;
}

static void close_final(void *ctx, const struct tracer_slots *slots, const struct tt_thread *t)
{
	struct final_books *final = ctx;
	struct accounts *accounts = final->accounts;

	if (is_outside(accounts, t, &final->after[slots->slot]))
		drop_account(accounts, slots, t);
	else
		close_account(accounts, slots, t, &final->after[slots->slot]);
}

void accounts_finish(struct accounts *accounts, int64_t end_ns)
{
	struct final_books final = {.accounts = accounts};
	struct session_losses *losses = &accounts->session->losses;
	struct tt_losses kernel;

	accounts->end_ns = end_ns;
	final.after = calloc(tracer_slots_max(accounts->tracer), sizeof(struct books));
	if (final.after)
		tracer_for_each(accounts->tracer, read_final, &final);
	tracer_detach(accounts->tracer);
	kernel = tracer_losses(accounts->tracer);
	losses->threads_untracked += kernel.unknown > kernel.no_slot + kernel.tid_range
					     ? kernel.unknown
					     : kernel.no_slot + kernel.tid_range;
	losses->edges_dropped += kernel.edges;
	losses->stacks_dropped += kernel.stacks;
	losses->holders_dropped += kernel.holders;
	losses->events_lost += kernel.events;
	if (!final.after) {
		msg_error("out of memory: the accounts of the living threads are lost");
		return;
	}
	tracer_for_each(accounts->tracer, close_final, &final);
	free(final.after);
}
