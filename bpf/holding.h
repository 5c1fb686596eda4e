/* SPDX-License-Identifier: GPL-2.0-only */
/* Who had the CPU while a traced thread waited in its run queue. */
#ifndef __TEGRATRACE_HOLDING_H
#define __TEGRATRACE_HOLDING_H

#include "account.h"
#include "cpu_runs.h"

static struct tt_cpu cpus[TT_MAX_CPUS] __attribute__((aligned(64)));

static __always_inline struct tt_cpu *cpu_at(__u32 id)
{
	return &cpus[id & (TT_MAX_CPUS - 1)];
}

static __always_inline void note_run(struct tt_cpu *cpu, __u64 now, __u32 tid, const char *comm)
{
	struct tt_run *run = tt_note_run(cpu, now, tid);

	if (run)
		bpf_probe_read_kernel(run->comm, sizeof(run->comm), comm);
}

/* Neither task is traced. */
static __always_inline void other_switch(__u32 prev_tid, const char *prev_comm, __u32 next_tid)
{
	struct tt_cpu *cpu = cpu_at(bpf_get_smp_processor_id());
	__u64 now;

	if (!cpu->waiting)
		return;
	now = bpf_ktime_get_ns();
	if (!in_window(now))
		return;
	note_run(cpu, now, prev_tid, prev_comm);
	if (!next_tid)
		cpu->waiting = 0;
}

/* The queue is left: returns whose, 0 when it was not noted. */
static __always_inline struct tt_cpu *leave_queue(struct tt_thread *t)
{
	__u32 id = t->flags >> TT_CPU_SHIFT;
	struct tt_cpu *cpu;

	if (!id)
		return 0;
	t->flags &= (1u << TT_CPU_SHIFT) - 1;
	cpu = cpu_at(id - 1);
	if (cpu->waiting)
		cpu->waiting--;
	return cpu;
}

static __always_inline void enter_queue(struct tt_thread *t, __u32 id, __u64 now)
{
	struct tt_cpu *cpu = cpu_at(id);

	leave_queue(t);
	t->flags |= (id + 1) << TT_CPU_SHIFT;
	if (!cpu->waiting++)
		cpu->switched_ns = now;
}

/* After handle_wakeup(): not when it was awake or queued already. */
static __always_inline void hold_wakeup(struct tt_thread *t, __u32 id)
{
	if (t->bucket == TT_RUNQ_WAKE)
		enter_queue(t, id, t->t_last_ns);
}

/* After handle_switch(): a traced thread comes in, goes out, or both. */
static __always_inline void hold_switch(__u32 prev_slot, __u32 next_slot, enum tt_switch_out how,
					const struct tt_in *in, __u32 prev_tid,
					const char *prev_comm, __u32 next_tid)
{
	__u32 id = bpf_get_smp_processor_id();
	struct tt_cpu *here = cpu_at(id), *queued = 0;
	struct tt_thread *t = thread_at(next_slot);
	struct tt_run *run;

	if (!in->now_ns)
		return;
	if (here->waiting)
		note_run(here, in->now_ns, prev_tid, prev_comm);
	if (t)
		queued = leave_queue(t);
	if (in->delay_ns >= TT_HOLDER_MIN_NS) {
		run = tt_holder_since(queued ? queued : here, in->now_ns - in->delay_ns, next_tid);
		keep_holder(next_slot, run ? run->tid : prev_tid, run ? run->comm : prev_comm,
			    in->delay_ns);
	}
	t = tt_is_queued(how) ? thread_at(prev_slot) : 0;
	if (t)
		enter_queue(t, id, in->now_ns);
}

#endif /* __TEGRATRACE_HOLDING_H */
