/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/perf_account.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/procfs.h"

#define TT_IN_USER_SPACE

static struct records *records;
static struct tt_window window;
static struct tt_losses losses;
static bool follow_children;
static struct tt_freezer freezer;
static const struct trace_event *present; /* the event that is handled */

static __u64 bpf_ktime_get_ns(void)
{
	return present->time_ns;
}

static __u64 bpf_get_current_pid_tgid(void)
{
	return present->current;
}

static __u32 bpf_get_smp_processor_id(void)
{
	return present->cpu;
}

static void bpf_get_current_comm(void *comm, size_t size)
{
	memcpy(comm, present->comm, size < TT_COMM_LEN ? size : TT_COMM_LEN);
}

static __u16 *slot_ref(__u32 tid)
{
	return records_slot_ref(records, tid);
}

static struct tt_thread *thread_at(__u32 slot)
{
	return slot && slot < records->slots ? &records->threads[slot] : NULL;
}

static __u32 take_slot(void)
{
	__u32 slot = records_take_slot(records);

	losses.no_slot += !slot;
	return slot;
}

static void bpf_probe_read_kernel(void *to, size_t size, const void *from)
{
	memcpy(to, from, size);
}

static void keep_holder(__u32 slot, __u32 tid, const char *comm, __u64 ns)
{
	struct tt_holder_key key = {.slot = slot, .tid = tid};
	struct tt_holder *holder = hash_table_find(records->holders, &key);

	if (!holder) {
		holder = hash_table_add(records->holders, &key);
		if (!holder) {
			losses.holders++;
			return;
		}
		memcpy(holder->comm, comm, sizeof(holder->comm));
	}
	holder->ns += ns;
	holder->count++;
}

#include "holding.h"

/* A stack and the switch-out that it belongs to are two records of one moment. */
#define SAME_MOMENT_NS 1000000

/* prev_state as the record holds it since 4.14; see bpf/sched_tracepoint.bpf.c. */
#define REPORT_STATES	 0xff
#define REPORT_PREEMPTED 0x100
#define REPORT_STOPPED	 0x0c
#define REPORT_DEAD	 0x30
#define REPORT_PARKED	 0x40 /* before 4.14: dead. Only kernel threads park */

/* The last switch of each CPU that was read. */
static struct {
	__u64 ns;
	__u32 tid; /* who came in */
	bool known;
} cpu_last[TT_MAX_CPUS];

/* What /proc told after a loss; the events of it may be in a ring yet, so it waits for them. */
#define MISSED 4096
static struct {
	struct {
		__u32 tid, tgid;
	} born[MISSED];
	__u32 gone[MISSED]; /* slots */
	int nborn, ngone;
	uint64_t asked_ns; /* 0 = not yet */
} missed;

static __u64 lost_until_ns;
static bool must_repair;

void perf_account_start(struct records *r, bool follow, const struct tt_freezer *code)
{
	records = r;
	follow_children = follow;
	freezer = *code;
	window = (struct tt_window){TT_WINDOW_CLOSED, TT_WINDOW_CLOSED};
	memset(&losses, 0, sizeof(losses));
	memset(cpu_last, 0, sizeof(cpu_last));
	memset(cpu_context, 0, sizeof(cpu_context));
	memset(cpus, 0, sizeof(cpus));
	lost_until_ns = 0;
	must_repair = false;
	missed.asked_ns = 0;
}

struct tt_window *perf_account_window(void)
{
	return &window;
}

struct tt_losses *perf_account_losses(void)
{
	return &losses;
}

bool perf_account_has_lost(void)
{
	return must_repair;
}

static enum tt_switch_out how_out(const struct tt_thread *t, __u32 state)
{
	if (!state && freezer.untold)
		return TT_OUT_UNTOLD;
	if (!(state & REPORT_STATES) || state & REPORT_PREEMPTED)
		return TT_OUT_RUNNABLE;
	if (state & REPORT_DEAD || (state & REPORT_PARKED && t && t->flags & TT_FLAG_EXITING))
		return TT_OUT_DEAD;
	if (state & REPORT_STOPPED)
		return TT_OUT_STOPPED;
	return TT_OUT_SLEEP;
}

/* True when the event is the first of the thread after a loss: then it tells its state anew. */
static bool find_again(struct tt_thread *t, __u32 bucket)
{
	return t && in_window(present->time_ns) &&
	       tt_find_again(t, present->time_ns, window.begin_ns, bucket);
}

/* What was just seen may be followed by something that was not. */
static void doubt(struct tt_thread *t)
{
	if (t && t->bucket != TT_DEAD && present->time_ns <= lost_until_ns)
		t->flags |= TT_FLAG_LOST;
}

/* Asked at once: it may be gone when its name is wanted, or is gone already and left its own. */
static void name_waker(__u32 waker, struct tt_edge *edge)
{
	pid_t tid = (pid_t)(waker & TT_WAKER_ID_MASK);
	const struct tt_thread *t = is_task(waker) ? thread_of((__u32)tid) : NULL;
	struct procfs_status status;

	if (t && *t->comm) {
		edge->waker_tgid = t->tgid;
		memcpy(edge->waker_comm, t->comm, sizeof(edge->waker_comm));
		return;
	}
	if (!is_task(waker) || !tid || procfs_status(tid, PROCFS_PROCESS, &status))
		return;
	edge->waker_tgid = (__u32)status.tgid;
	procfs_comm(tid, PROCFS_PROCESS, edge->waker_comm, sizeof(edge->waker_comm));
}

static void keep_edge(const struct tt_edge_key *key, __u64 ns)
{
	struct tt_edge *edge = hash_table_find(records->edges, key);

	if (!edge) {
		edge = hash_table_add(records->edges, key);
		if (!edge) {
			losses.edges++;
			return;
		}
		name_waker(key->waker, edge);
	}
	edge->ns += ns;
	edge->count++;
	if (ns > edge->max_ns)
		edge->max_ns = ns;
}

static void keep_site(const struct tt_thread *t, struct tt_edge_key *key, __u64 slept_ns)
{
	key->kernel_stack = t->site_kernel_stack;
	keep_edge(key, slept_ns);
}

/* FNV-1a; 0 means no stack. */
static __u64 stack_key(const struct tt_stack *stack)
{
	__u64 hash = 0xcbf29ce484222325ULL;

	for (int i = 0; i < TT_STACK_DEPTH; i++) {
		hash = (hash ^ stack->frame[i]) * 0x100000001b3ULL;
		hash ^= hash >> 29;
	}
	return hash ? hash : 1;
}

static void on_stack(const struct trace_event *event)
{
	struct tt_thread *t = thread_of(event->tid);
	struct tt_stack stack = {0}, *kept;
	__u64 key;

	if (!t || t->bucket == TT_DEAD || !event->nframes)
		return;
	memcpy(stack.frame, event->frames, event->nframes * sizeof(stack.frame[0]));
	key = stack_key(&stack);
	kept = hash_table_find(records->stacks, &key);
	if (!kept) {
		kept = hash_table_add(records->stacks, &key);
		if (!kept) {
			losses.stacks++;
			return;
		}
		*kept = stack;
	}
	t->site_kernel_stack = key;
	/* until the switch: when it was taken */
	t->site_user_stack = t->bucket < TT_OFF_FIRST ? event->time_ns : 0;
}

static bool is_of_now(const struct tt_thread *t, __u64 now)
{
	return t->site_kernel_stack && now - t->site_user_stack < SAME_MOMENT_NS;
}

/* A callchain of the switch is walked before the switch itself is timed, and the walk is no time of prev. */
static __u64 time_of_switch(const struct tt_thread *prev, const struct trace_event *event)
{
	return prev && is_of_now(prev, event->time_ns) ? prev->site_user_stack : event->time_ns;
}

/* Returns how it really goes out. */
static enum tt_switch_out before_sleep(struct tt_thread *t)
{
	const struct tt_stack *stack;

	if (!is_of_now(t, present->time_ns))
		t->site_kernel_stack = 0;
	t->site_user_stack = 0;
	stack = hash_table_find(records->stacks, &t->site_kernel_stack);
	return stack && tt_stack_is_frozen(stack, &freezer) ? TT_OUT_STOPPED : TT_OUT_SLEEP;
}

/* How long the task that goes out has run: every switch of its CPU has been read. */
static __u64 ran_ns(const struct trace_event *event, __u64 now, __u32 cpu)
{
	if (!cpu_last[cpu].known || cpu_last[cpu].tid != event->tid || cpu_last[cpu].ns > now)
		return TT_RAN_UNKNOWN;
	return now - cpu_last[cpu].ns;
}

static void on_switch(const struct trace_event *event)
{
	__u32 cpu = event->cpu & (TT_MAX_CPUS - 1);
	__u32 prev_slot = slot_of(event->tid), next_slot = slot_of(event->next);
	struct tt_thread *prev = thread_at(prev_slot), *next = thread_at(next_slot);
	__u64 now = time_of_switch(prev, event);
	__u64 free_ns = cpu_last[cpu].ns, ran = ran_ns(event, now, cpu);
	enum tt_switch_out how = how_out(prev, event->state);
	struct tt_edge_key key = {0};
	struct tt_in in;

	cpu_last[cpu].ns = now;
	cpu_last[cpu].tid = event->next;
	cpu_last[cpu].known = true;
	if (!prev && !next) {
		other_switch(event->tid, event->comm, event->next);
		return;
	}
	if (prev && how == TT_OUT_SLEEP)
		how = before_sleep(prev);
	find_again(prev, TT_ONCPU);
	find_again(next, TT_UNKNOWN);
	in = handle_switch(now, prev_slot, next_slot, how, ran, &free_ns);
	hold_switch(prev_slot, next_slot, how, &in, event->tid, event->comm, event->next);
	if (in.bucket) {
		unseen_wake(next_slot, next, in.bucket, &key);
		keep_site(next, &key, in.slept_ns);
	}
	doubt(prev);
	doubt(next);
}

static void on_waking(const struct trace_event *event)
{
	struct tt_thread *t = thread_of(event->tid);
	__u32 waker;

	if (!t)
		return;
	waker = current_waker();
	/* an interrupt of which no event was seen: a processor's own, or they are not read */
	if (is_task(waker) && event->flags & EVENT_IN_IRQ)
		waker = TT_WAKER(TT_WAKER_TASK, 0);
	tt_waking(t, waker);
}

static void on_wakeup(const struct trace_event *event)
{
	__u32 slot = slot_of(event->tid);
	struct tt_thread *t = thread_at(slot);
	struct tt_edge_key key = {0};
	struct tt_wake wake;
	bool found;

	if (!t)
		return;
	found = find_again(t, TT_UNKNOWN);
	if (handle_wakeup(slot, t, TT_RAN_UNKNOWN, &wake, &key)) {
		hold_wakeup(t, event->target_cpu);
		if (!found)
			keep_site(t, &key, wake.slept_ns);
	}
	doubt(t);
}

static void on_wakeup_new(const struct trace_event *event)
{
	struct tt_thread *t = thread_of(event->tid);

	if (!find_again(t, TT_RUNQ_WAKE))
		handle_wakeup_new(event->tid);
	doubt(t);
}

static void on_newtask(const struct trace_event *event)
{
	handle_newtask(event->tid, event->clone_flags);
	doubt(thread_of(event->tid));
}

/* It runs on a CPU whose events are all read: it cannot leave that one unseen. */
static bool runs_elsewhere(const struct tt_thread *t, __u32 lost_cpu)
{
	if (t->bucket != TT_ONCPU || t->flags & TT_FLAG_LOST)
		return false;
	for (__u32 cpu = 0; cpu < TT_MAX_CPUS; cpu++) {
		if (cpu != lost_cpu && cpu_last[cpu].known && cpu_last[cpu].tid == t->tid)
			return true;
	}
	return false;
}

/* Their first event after the window was perhaps lost, so the next one tells nothing of it. */
static void doubt_eventless(void)
{
	for (__u32 slot = 1; slot <= records->used; slot++) {
		struct tt_thread *t = &records->threads[slot];

		if (t->tid && t->bucket == TT_UNKNOWN && !t->t_last_ns)
			t->flags |= TT_FLAG_LOST;
	}
}

static void on_lost(const struct trace_event *event)
{
	__u64 since = event->time_ns > window.begin_ns ? event->time_ns : window.begin_ns;

	cpu_last[event->cpu & (TT_MAX_CPUS - 1)].known = false;
	memset(&cpu_context[event->cpu & (TT_MAX_CPUS - 1)], 0, sizeof(cpu_context[0]));
	if (event->until_ns < window.begin_ns)
		return;
	if (event->time_ns >= window.end_ns) {
		doubt_eventless();
		return;
	}
	losses.events += event->tid;
	must_repair = true;
	if (event->until_ns > lost_until_ns)
		lost_until_ns = event->until_ns;
	for (__u32 slot = 1; slot <= records->used; slot++) {
		struct tt_thread *t = &records->threads[slot];

		if (t->tid && !runs_elsewhere(t, event->cpu & (TT_MAX_CPUS - 1)))
			tt_lose(t, since, window.begin_ns);
	}
}

void perf_account_event(const struct trace_event *event)
{
	present = event;
	switch (event->kind) {
	case EVENT_SWITCH:
		on_switch(event);
		break;
	case EVENT_WAKING:
		on_waking(event);
		break;
	case EVENT_WAKEUP:
		on_wakeup(event);
		break;
	case EVENT_WAKEUP_NEW:
		on_wakeup_new(event);
		break;
	case EVENT_NEWTASK:
		on_newtask(event);
		break;
	case EVENT_EXEC:
		handle_exec(event->tid, event->old_tid);
		break;
	case EVENT_EXIT:
		handle_exit(event->tid);
		break;
	case EVENT_IRQ_ENTRY:
		enter_irq(event->number);
		break;
	case EVENT_IRQ_EXIT:
		leave_irq();
		break;
	case EVENT_SOFTIRQ_ENTRY:
		enter_softirq(event->number);
		break;
	case EVENT_SOFTIRQ_EXIT:
		leave_softirq();
		break;
	case EVENT_TIMER_ENTRY:
		enter_timer();
		break;
	case EVENT_TIMER_EXIT:
		leave_timer();
		break;
	case EVENT_STACK:
		on_stack(event);
		break;
	case EVENT_LOST:
		on_lost(event);
		break;
	}
}

void perf_account_found(uint64_t now_ns)
{
	if (lost_until_ns == UINT64_MAX)
		lost_until_ns = now_ns;
}

static int note_born(void *ctx, pid_t pid, pid_t tid)
{
	__u16 *ref = slot_ref((__u32)tid);

	(void)ctx;
	if (!ref || *ref || missed.nborn == MISSED)
		return 0;
	missed.born[missed.nborn].tid = (__u32)tid;
	missed.born[missed.nborn++].tgid = (__u32)pid;
	return 0;
}

static bool has_ended(__u32 tgid, __u32 tid)
{
	struct procfs_stat stat;

	return procfs_task_stat((pid_t)tgid, (pid_t)tid, &stat) || strchr("ZXx", stat.state);
}

static void ask_proc(uint64_t now_ns)
{
	__u32 last_tgid = 0;

	missed.nborn = missed.ngone = 0;
	missed.asked_ns = now_ns;
	for (__u32 slot = 1; slot <= records->used; slot++) {
		const struct tt_thread *t = &records->threads[slot];

		if (!t->tid || t->bucket == TT_DEAD)
			continue;
		if (t->flags & TT_FLAG_LOST && missed.ngone < MISSED && has_ended(t->tgid, t->tid))
			missed.gone[missed.ngone++] = slot;
		if (t->tgid != last_tgid)
			procfs_for_each_task((pid_t)t->tgid, note_born, NULL);
		last_tgid = t->tgid;
	}
}

static void close_gone(uint64_t now_ns)
{
	for (int i = 0; i < missed.ngone; i++) {
		struct tt_thread *t = thread_at(missed.gone[i]);

		if (!(t->flags & TT_FLAG_LOST) || t->flags & TT_FLAG_OUTLIVED ||
		    t->bucket == TT_DEAD)
			continue;
		tt_close(t, now_ns, window.begin_ns, 0);
		on_dead(t);
	}
}

static void open_born(uint64_t now_ns)
{
	for (int i = 0; i < missed.nborn; i++) {
		__u16 *ref = slot_ref(missed.born[i].tid);
		struct tt_thread *t;
		__u32 slot;

		if (*ref || has_ended(missed.born[i].tgid, missed.born[i].tid))
			continue;
		slot = take_slot();
		t = thread_at(slot);
		if (!t)
			continue;
		tt_birth(t, missed.born[i].tid, missed.born[i].tgid, now_ns);
		t->flags |= TT_FLAG_LOST;
		*ref = (__u16)slot;
	}
}

void perf_account_repair(uint64_t now_ns, uint64_t handled_ns)
{
	if (!must_repair || !in_window(handled_ns))
		return;
	pthread_mutex_lock(&records->lock);
	if (!missed.asked_ns) {
		ask_proc(now_ns);
	} else if (handled_ns > missed.asked_ns) {
		close_gone(handled_ns);
		open_born(handled_ns);
		must_repair = lost_until_ns >= missed.asked_ns;
		missed.asked_ns = 0;
	}
	pthread_mutex_unlock(&records->lock);
}

void perf_account_finish(void)
{
	if (!must_repair || window.end_ns == TT_WINDOW_CLOSED)
		return;
	pthread_mutex_lock(&records->lock);
	ask_proc(window.end_ns);
	close_gone(window.end_ns);
	pthread_mutex_unlock(&records->lock);
}
