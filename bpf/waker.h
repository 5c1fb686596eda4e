/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who does a wake: the current task, or the interrupt that has interrupted it. What interrupt a CPU
 * is in is noted at its entry and exit; without those events every wake counts as the task's.
 */
#ifndef __TEGRATRACE_WAKER_H
#define __TEGRATRACE_WAKER_H

#include "abi.h"

/* Of one CPU; a cache line each. 0 = not in one. */
static struct {
	__u32 irq; /* TT_WAKER */
	__u32 timer;
	__u32 softirq;
	/* An RT kernel can preempt a softirq: then the word is another task's. */
	__u32 softirq_tid;
	__u64 pad[6];
} cpu_context[TT_MAX_CPUS];

#define THIS_CPU (&cpu_context[bpf_get_smp_processor_id() & (TT_MAX_CPUS - 1)])

/* An interrupt over a timer's callback is not the timer. */
static __always_inline void enter_irq(__u32 irq)
{
	__u32 waker = TT_WAKER(TT_WAKER_IRQ, irq);

	THIS_CPU->irq = waker;
	THIS_CPU->timer = 0;
}

static __always_inline void leave_irq(void)
{
	THIS_CPU->irq = 0;
	THIS_CPU->timer = 0;
}

static __always_inline void enter_timer(void)
{
	THIS_CPU->timer = TT_WAKER(TT_WAKER_TIMER, 0);
}

static __always_inline void leave_timer(void)
{
	THIS_CPU->timer = 0;
}

static __always_inline void enter_softirq(__u32 vector)
{
	THIS_CPU->softirq_tid = (__u32)bpf_get_current_pid_tgid();
	THIS_CPU->softirq = TT_WAKER(TT_WAKER_SOFTIRQ, vector);
}

static __always_inline void leave_softirq(void)
{
	THIS_CPU->softirq = 0;
}

static __always_inline __u32 current_waker(void)
{
	__u32 cpu = bpf_get_smp_processor_id() & (TT_MAX_CPUS - 1);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	if (cpu_context[cpu].timer)
		return cpu_context[cpu].timer;
	if (cpu_context[cpu].irq)
		return cpu_context[cpu].irq;
	if (cpu_context[cpu].softirq && cpu_context[cpu].softirq_tid == tid)
		return cpu_context[cpu].softirq;
	return TT_WAKER(TT_WAKER_TASK, tid);
}

#endif /* __TEGRATRACE_WAKER_H */
