/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rung tracepoint: classic tracepoint programs, for kernels without BTF. No CO-RE relocation may
 * remain in this object (libbpf would want kernel BTF for it): field offsets come from the tracefs
 * `format` files as read-only constants. They move between kernels, and on RT kernels all of them.
 *
 * Every program returns 1: a classic tracepoint program that returns 0 hides the event from every
 * other perf user of that tracepoint.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "frozen.h"
#include "holding.h"
#include "user_regs.h"

/* Offsets in bytes from the start of the record; set by the loader. */
const volatile __u32 off_switch_prev_pid;
const volatile __u32 off_switch_prev_state;
const volatile __u32 off_switch_next_pid;
const volatile __u32 off_switch_prev_comm;
const volatile __u32 off_waking_pid;
const volatile __u32 off_wakeup_pid;
const volatile __u32 off_wakeup_target_cpu;
const volatile __u32 off_wakeup_new_pid;
const volatile __u32 off_newtask_pid;
const volatile __u32 off_newtask_clone_flags;
const volatile __u32 off_exec_pid;
const volatile __u32 off_exec_old_pid;
const volatile __u32 off_exit_pid;
const volatile __u32 off_irq_entry_irq;
const volatile __u32 off_softirq_entry_vec;

/*
 * The verifier takes only constant offsets from a context, and rejects a pointer moved by a
 * variable. It knows the read-only constants, though, so of this table one load survives; the
 * assembly keeps clang from merging the loads into one with a variable offset.
 */
#define CTX_CASE(off)                                                                  \
	case off:                                                                      \
		asm volatile("%0 = *(u32 *)(%1 + " #off ")" : "=r"(value) : "r"(ctx)); \
		break

static __always_inline __u32 ctx_u32(const void *ctx, __u32 offset)
{
	__u64 value = 0;

	switch (offset) {
		CTX_CASE(8);
		CTX_CASE(12);
		CTX_CASE(16);
		CTX_CASE(20);
		CTX_CASE(24);
		CTX_CASE(28);
		CTX_CASE(32);
		CTX_CASE(36);
		CTX_CASE(40);
		CTX_CASE(44);
		CTX_CASE(48);
		CTX_CASE(52);
		CTX_CASE(56);
		CTX_CASE(60);
		CTX_CASE(64);
		CTX_CASE(68);
		CTX_CASE(72);
		CTX_CASE(76);
		CTX_CASE(80);
		CTX_CASE(84);
		CTX_CASE(88);
	}
	return (__u32)value;
}

/*
 * prev_state as the record holds it since 4.14 (include/trace/events/sched.h): 0 running, then one
 * bit per report state; 0x80 is idle, not dead; 0x100 "preempted".
 */
#define REPORT_STATES	 0xff
#define REPORT_PREEMPTED 0x100
#define REPORT_STOPPED	 0x0c /* T, t */
#define REPORT_DEAD	 0x30 /* X, Z */

const volatile struct tt_freezer freezer;

static __always_inline enum tt_switch_out how_out(__u32 prev_state)
{
	if (!prev_state && freezer.untold)
		return TT_OUT_UNTOLD;
	if (!(prev_state & REPORT_STATES) || prev_state & REPORT_PREEMPTED)
		return TT_OUT_RUNNABLE;
	if (prev_state & REPORT_DEAD)
		return TT_OUT_DEAD;
	if (prev_state & REPORT_STOPPED)
		return TT_OUT_STOPPED;
	return TT_OUT_SLEEP;
}

/* When each CPU was last seen switching from or to a traced thread; a cache line each. */
static struct {
	__u64 ns;
	__u64 pad[7];
} cpu_free[TT_MAX_CPUS];

/* Set when a cgroup begins to freeze: until then every sleep is walked. */
static __u64 freezing_ns;

/*
 * The task that goes out is the current one: only now can its registers and stacks be read. Returns
 * how it really goes out.
 */
static __always_inline enum tt_switch_out before_sleep(void *ctx, __u32 slot, __u64 now)
{
	enum tt_switch_out how = TT_OUT_SLEEP;
	struct tt_stack *s = scratch_stack();
	struct tt_thread *t = thread_at(slot);
	struct user_call call = {};
	bool wanted;

	if (!t)
		return how;
	wanted = tt_wants_stack(t) || now < freezing_ns;
	if (wanted)
		call = current_call();
	t->site_syscall = call.syscall;
	t->site_flags = call.flags;
	t->site_arg = call.arg;
	t->site_kernel_stack = 0;
	t->site_user_stack = 0;
	if (!wanted || !s)
		return how;
	if (kernel_stacks) {
		take_kernel_stack(ctx, t, s);
		if (t->site_kernel_stack && tt_stack_is_frozen(s, &freezer))
			how = TT_OUT_STOPPED;
	}
	if (user_stacks)
		take_user_stack(ctx, t, s);
	return how;
}

static __always_inline void keep_site(struct tt_thread *t, struct tt_edge_key *key, __u64 slept_ns)
{
	key->syscall = t->site_syscall;
	key->arg = t->site_arg;
	key->flags |= t->site_flags;
	key->kernel_stack = t->site_kernel_stack;
	key->user_stack = t->site_user_stack;
	keep_edge(t, key, slept_ns);
}

static __always_inline void keep_unseen(__u32 slot, const struct tt_in *in)
{
	struct tt_thread *t = thread_at(slot);
	struct tt_edge_key key = {};

	if (!t)
		return;
	unseen_wake(slot, t, in->bucket, &key);
	keep_site(t, &key, in->slept_ns);
}

SEC("tracepoint/sched/sched_switch")
int sched_switch(void *ctx)
{
	__u32 prev_tid = ctx_u32(ctx, off_switch_prev_pid);
	__u32 prev_slot = slot_of(prev_tid);
	__u32 next_tid = ctx_u32(ctx, off_switch_next_pid);
	__u32 next_slot = slot_of(next_tid);
	const char *prev_comm = (const char *)ctx + off_switch_prev_comm;
	enum tt_switch_out how;
	struct tt_in in;
	__u64 now;

	if (!(prev_slot | next_slot)) {
		other_switch(prev_tid, prev_comm, next_tid);
		return 1;
	}
	now = bpf_ktime_get_ns();
	how = how_out(ctx_u32(ctx, off_switch_prev_state));
	if (prev_slot && how == TT_OUT_SLEEP)
		how = before_sleep(ctx, prev_slot, now);
	in = handle_switch(now, prev_slot, next_slot, how, TT_RAN_UNKNOWN,
			   &cpu_free[bpf_get_smp_processor_id() & (TT_MAX_CPUS - 1)].ns);
	hold_switch(prev_slot, next_slot, how, &in, prev_tid, prev_comm, next_tid);
	if (in.bucket)
		keep_unseen(next_slot, &in);
	return 1;
}

SEC("tracepoint/sched/sched_waking")
int sched_waking(void *ctx)
{
	handle_waking(ctx_u32(ctx, off_waking_pid));
	return 1;
}

SEC("tracepoint/sched/sched_wakeup")
int sched_wakeup(void *ctx)
{
	__u32 slot = slot_of(ctx_u32(ctx, off_wakeup_pid));
	struct tt_thread *t = thread_at(slot);
	struct tt_edge_key key = {};
	struct tt_wake wake;

	if (!t || !handle_wakeup(slot, t, TT_RAN_UNKNOWN, &wake, &key))
		return 1;
	hold_wakeup(t, ctx_u32(ctx, off_wakeup_target_cpu));
	keep_site(t, &key, wake.slept_ns);
	return 1;
}

SEC("tracepoint/sched/sched_wakeup_new")
int sched_wakeup_new(void *ctx)
{
	handle_wakeup_new(ctx_u32(ctx, off_wakeup_new_pid));
	return 1;
}

SEC("tracepoint/task/task_newtask")
int task_newtask(void *ctx)
{
	handle_newtask(ctx_u32(ctx, off_newtask_pid), ctx_u32(ctx, off_newtask_clone_flags));
	return 1;
}

SEC("tracepoint/sched/sched_process_exec")
int sched_process_exec(void *ctx)
{
	handle_exec(ctx_u32(ctx, off_exec_pid), ctx_u32(ctx, off_exec_old_pid));
	return 1;
}

SEC("tracepoint/sched/sched_process_exit")
int sched_process_exit(void *ctx)
{
	handle_exit(ctx_u32(ctx, off_exit_pid));
	return 1;
}

/* Before the first of its threads is told. Left out where the kernel has no such event (before 5.2). */
SEC("tracepoint/cgroup/cgroup_freeze")
int cgroup_freeze(void *ctx)
{
	freezing_ns = bpf_ktime_get_ns() + TT_FREEZING_NS;
	return 1;
}

SEC("tracepoint/irq/irq_handler_entry")
int irq_handler_entry(void *ctx)
{
	enter_irq(ctx_u32(ctx, off_irq_entry_irq));
	return 1;
}

SEC("tracepoint/irq/irq_handler_exit")
int irq_handler_exit(void *ctx)
{
	leave_irq();
	return 1;
}

SEC("tracepoint/irq/softirq_entry")
int softirq_entry(void *ctx)
{
	enter_softirq(ctx_u32(ctx, off_softirq_entry_vec));
	return 1;
}

SEC("tracepoint/irq/softirq_exit")
int softirq_exit(void *ctx)
{
	leave_softirq();
	return 1;
}

SEC("tracepoint/timer/hrtimer_expire_entry")
int hrtimer_expire_entry(void *ctx)
{
	enter_timer();
	return 1;
}

SEC("tracepoint/timer/hrtimer_expire_exit")
int hrtimer_expire_exit(void *ctx)
{
	leave_timer();
	return 1;
}

char LICENSE[] SEC("license") = "GPL";
