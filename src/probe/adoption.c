/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/adoption.h"

#include <unistd.h>

#include "base/clock.h"
#include "probe/procfs.h"
#include "probe/targets/targets.h"

#define ADOPT_NS 1000000000LL
/* When the event of a birth has been handled. */
#define ADOPT_AGE_NS 100000000LL
/* A walk over all processes is followed by so many times its length: 0.2 % of a CPU. */
#define DESCEND_PARTS 500

/* What a thread does now; one that runs may still be in a run queue. */
static uint32_t bucket_of(char state)
{
	switch (state) {
	case 'R':
		return TT_RUNQ_PREEMPT;
	case 'T':
	case 't':
		return TT_STOPPED;
	default:
		return TT_OFF_OTHER;
	}
}

static int adopt_task(void *ctx, pid_t pid, pid_t tid)
{
	const struct adoption *adoption = ctx;
	struct missed_thread missed = {.tgid = pid, .tid = tid, .found_ns = adoption->now_ns};
	int64_t tick_ns = 1000000000LL / sysconf(_SC_CLK_TCK), age_ns;
	struct procfs_stat stat;

	if (tracer_traces(adoption->tracer, tid) || procfs_task_stat(pid, tid, &stat) ||
	    procfs_is_dead(&stat))
		return 0;
	/* One of before the window was found when it was looked for then. */
	age_ns = adoption->boottime_ns - (int64_t)stat.starttime_ticks * tick_ns;
	if (age_ns > ADOPT_AGE_NS && age_ns < adoption->now_ns - adoption->begin_ns) {
		missed.birth_ns = adoption->now_ns - age_ns;
		missed.bucket = bucket_of(stat.state);
		tracer_adopt(adoption->tracer, &missed);
	}
	return 0;
}

/* A leader keeps its record until its process is gone. */
static void adopt_of_process(void *ctx, const struct tracer_slots *slots, const struct tt_thread *t)
{
	(void)slots;
	if (t->tid == t->tgid)
		procfs_for_each_task((pid_t)t->tgid, adopt_task, ctx);
}

static void note_process(void *ctx, const struct tracer_slots *slots, const struct tt_thread *t)
{
	(void)slots;
	if (t->tid == t->tgid)
		targets_add_traced(ctx, (pid_t)t->tgid);
}

static int adopt_child(void *ctx, const struct target *child, pid_t parent)
{
	(void)parent;
	procfs_for_each_task(child->pid, adopt_task, ctx);
	return 0;
}

/* From all that are traced on: the target itself may have ended, and its grandchild is init's then. */
static void adopt_processes(struct adoption *adoption)
{
	int64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct target_set traced = {0};

	tracer_for_each(adoption->tracer, note_process, &traced);
	targets_descendants(&traced, adopt_child, adoption);
	targets_free(&traced);
	adoption->descend_ns =
		adoption->now_ns + DESCEND_PARTS * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns);
}

void adoption_tick(struct adoption *adoption, int64_t now_ns)
{
	if (now_ns < adoption->next_ns)
		return;
	adoption->next_ns = now_ns + ADOPT_NS;
	adoption->now_ns = now_ns;
	adoption->boottime_ns = clock_ns(CLOCK_BOOTTIME);
	tracer_for_each(adoption->tracer, adopt_of_process, adoption);
	if (adoption->follow && now_ns >= adoption->descend_ns)
		adopt_processes(adoption);
}
