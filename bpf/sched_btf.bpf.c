/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rung btf: typed tracepoints with CO-RE fields. Three-argument sched_switch (the fourth exists
 * only since 5.18 and reading it fails the attach before). Rung raw is the same source, see
 * sched_raw.bpf.c and task_read.h.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#define TT_TELLS_FROZEN 1
#include "task_read.h"
#include "holding.h"
#include "site_btf.h"

/* linux/sched.h, raw task state since 4.14 */
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED_BITS    0x000c /* __TASK_STOPPED, __TASK_TRACED */
#define TASK_DEAD	     0x0080
#define TASK_FROZEN	     0x8000 /* since 6.1, f5d39b020809; before: D with PF_FROZEN */
#define PF_FROZEN	     0x00010000
#define JOBCTL_TRAP_FREEZE   (1UL << 23) /* cgroup v2 freezer sleeps in state S */

/* linux/sched/prio.h, uapi/linux/sched.h */
#define MAX_RT_PRIO  100
#define SCHED_NORMAL 0
#define SCHED_BATCH  3
#define SCHED_IDLE   5

static __always_inline __u32 task_state(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return TT_READ(task, __state);
	return (__u32)TT_READ((struct task_struct___before_5_14 *)task, state);
}

/*
 * on_rq is exact where prev_state is not: a task preempted after it set its sleep state is still
 * queued, and a delayed dequeue (6.12) leaves a sleeper queued.
 */
static __always_inline bool still_runnable(struct task_struct *task)
{
	if (!TT_READ(task, on_rq))
		return false;
	return !(bpf_core_field_exists(task->se.sched_delayed) && TT_READ(task, se.sched_delayed));
}

static __always_inline enum tt_switch_out how_out(struct task_struct *task)
{
	__u32 state;

	if (still_runnable(task))
		return TT_OUT_RUNNABLE;
	state = task_state(task);
	if (state & TASK_DEAD)
		return TT_OUT_DEAD;
	if (state & (TASK_STOPPED_BITS | TASK_FROZEN))
		return TT_OUT_STOPPED;
	/* each freezer sleeps in a state of its own */
	if (state & TASK_UNINTERRUPTIBLE ? TT_READ(task, flags) & PF_FROZEN
					 : TT_READ(task, jobctl) & JOBCTL_TRAP_FREEZE)
		return TT_OUT_STOPPED;
	if (TT_READ_BITFIELD(task, in_iowait))
		return TT_OUT_DISK;
	return TT_OUT_SLEEP;
}

/*
 * The slice under way or just ended: set_next_entity() starts it, the dequeue closes it. Only in the
 * fair class: of others prev_sum_exec_runtime stands still, and the difference is all since they left it.
 */
static __always_inline __u64 slice_ns(struct task_struct *task)
{
	__u32 fair = 1u << SCHED_NORMAL | 1u << SCHED_BATCH | 1u << SCHED_IDLE;
	/* The priority is what counts now: a lock may have lent it. */
	__u32 lent = (__u32)(TT_READ(task, prio) - MAX_RT_PRIO) >> 31;
	/* Without branches, of each of which the verifier would follow both ways to the end. */
	__u64 other = ((~fair >> (TT_READ(task, policy) & 31)) | lent) & 1;
	__u64 ns = TT_READ(task, se.sum_exec_runtime) - TT_READ(task, se.prev_sum_exec_runtime);

	return ns | (other * TT_RAN_NOT_TOLD);
}

/* Of use only where the switch-in was not seen; reading it is dear on rung raw. */
static __always_inline __u64 slice_if_missed(struct task_struct *task, __u32 slot)
{
	struct tt_thread *t = thread_at(slot);

	return t && t->bucket != TT_ONCPU ? slice_ns(task) : 0;
}

static __always_inline void keep_unseen(struct task_struct *next, __u32 slot,
					const struct tt_in *in)
{
	struct tt_thread *t = thread_at(slot);
	struct tt_edge_key key = {};

	if (!t)
		return;
	unseen_wake(slot, t, in->bucket, &key);
	add_site(next, t, in->slept_ns, &key);
	keep_edge(t, &key, in->slept_ns);
}

TT_EVENT("sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 prev_tid = TT_CURRENT_TID(prev), next_tid = TT_READ(next, pid);
	__u32 prev_slot = slot_of(prev_tid), next_slot = slot_of(next_tid);
	enum tt_switch_out how = TT_OUT_RUNNABLE;
	__u64 slice = 0, now;
	struct tt_in in;

	if (!(prev_slot | next_slot)) {
		other_switch(prev_tid, prev->comm, next_tid);
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (prev_slot) {
		how = how_out(prev);
		slice = slice_if_missed(prev, prev_slot);
		before_sleep(ctx, prev_slot, how);
	}
	in = handle_switch(now, prev_slot, next_slot, how, slice, 0);
	hold_switch(prev_slot, next_slot, how, &in, prev_tid, prev->comm, next_tid);
	if (in.bucket)
		keep_unseen(next, next_slot, &in);
	return 0;
}

TT_EVENT("sched_waking")
int BPF_PROG(sched_waking, struct task_struct *p)
{
	handle_waking(TT_READ(p, pid));
	return 0;
}

TT_EVENT("sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *p)
{
	__u32 slot = slot_of(TT_READ(p, pid));
	struct tt_thread *t = thread_at(slot);
	struct tt_edge_key key = {};
	struct tt_wake wake;
	__u64 ran_ns;

	if (!t)
		return 0;
	ran_ns = t->bucket == TT_ONCPU && !TT_READ(p, on_cpu) ? slice_ns(p) : TT_RAN_UNKNOWN;
	if (!handle_wakeup(slot, t, ran_ns, &wake, &key))
		return 0;
	hold_wakeup(t, TT_READ(p, wake_cpu));
	add_site(p, t, wake.slept_ns, &key);
	keep_edge(t, &key, wake.slept_ns);
	return 0;
}

TT_EVENT("sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *p)
{
	handle_wakeup_new(TT_READ(p, pid));
	return 0;
}

TT_EVENT("task_newtask")
int BPF_PROG(task_newtask, struct task_struct *p, __u64 clone_flags)
{
	handle_newtask(TT_READ(p, pid), clone_flags);
	return 0;
}

TT_EVENT("sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *p, __s32 old_pid)
{
	handle_exec(TT_READ(p, pid), old_pid);
	return 0;
}

TT_EVENT("sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *p)
{
	handle_exit(TT_READ(p, pid));
	return 0;
}

TT_EVENT("irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq)
{
	enter_irq(irq);
	return 0;
}

TT_EVENT("irq_handler_exit")
int BPF_PROG(irq_handler_exit)
{
	leave_irq();
	return 0;
}

TT_EVENT("softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vector)
{
	enter_softirq(vector);
	return 0;
}

TT_EVENT("softirq_exit")
int BPF_PROG(softirq_exit)
{
	leave_softirq();
	return 0;
}

TT_EVENT("hrtimer_expire_entry")
int BPF_PROG(hrtimer_expire_entry)
{
	enter_timer();
	return 0;
}

TT_EVENT("hrtimer_expire_exit")
int BPF_PROG(hrtimer_expire_exit)
{
	leave_timer();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
