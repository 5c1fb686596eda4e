/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a thread slept, read from the thread itself when it is woken: it has not run since, so its
 * user registers and its kernel stack are those of the sleep. So a short sleep costs no stack walk,
 * and one that began before the window is read like any other.
 */
#ifndef __TEGRATRACE_SITE_BTF_H
#define __TEGRATRACE_SITE_BTF_H

#include "futex.h"
#ifdef TT_RAW
#include "raw_abi.h"
#endif

#define PF_IO_WORKER 0x00000010
#define PF_KTHREAD   0x00200000

#if defined(__TARGET_ARCH_arm64)
#define NR_FUTEX    98
#define REG_SYSCALL syscallno
#define REG_FIRST   orig_x0
#define REG_SECOND  regs[1]
#define REG_THIRD   regs[2]
#else
#define NR_FUTEX    202
#define REG_SYSCALL orig_ax
#define REG_FIRST   di
#define REG_SECOND  si
#define REG_THIRD   dx
#endif

struct entry_regs {
	__u32 syscall, first, second, third;
};

static __always_inline void probe_regs(const void *at, struct entry_regs *r)
{
	const struct pt_regs___entry *regs = at;

	r->syscall = (__u32)BPF_CORE_READ(regs, REG_SYSCALL);
	r->first = (__u32)BPF_CORE_READ(regs, REG_FIRST);
}

static __always_inline void probe_more_regs(const void *at, struct entry_regs *r)
{
	const struct pt_regs___entry *regs = at;

	r->second = (__u32)BPF_CORE_READ(regs, REG_SECOND);
	r->third = (__u32)BPF_CORE_READ(regs, REG_THIRD);
}

#ifdef TT_RAW

struct tt_self self;

static __always_inline void read_regs(struct task_struct *p, struct entry_regs *r)
{
	const char *at = (const char *)TT_READ(p, stack) + self.regs_offset;

	probe_regs(at, r);
	if (r->syscall == NR_FUTEX)
		probe_more_regs(at, r);
}

#else

/* Of the kernel stack of a task; set by the loader. Only needed without bpf_task_pt_regs(). */
const volatile __u32 thread_size = 16384;

static __always_inline void read_regs(struct task_struct *p, struct entry_regs *r)
{
	struct pt_regs___entry *regs;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) {
		regs = (struct pt_regs___entry *)bpf_task_pt_regs(p);
		r->syscall = (__u32)regs->REG_SYSCALL;
		r->first = (__u32)regs->REG_FIRST;
		r->second = (__u32)regs->REG_SECOND;
		r->third = (__u32)regs->REG_THIRD;
		return;
	}
	regs = (void *)((char *)p->stack + thread_size -
			bpf_core_type_size(struct pt_regs___entry));
	probe_regs(regs, r);
	probe_more_regs(regs, r);
}

#endif

static __always_inline void add_syscall(struct task_struct *p, struct tt_edge_key *key)
{
	struct entry_regs r = {};

	if (TT_READ(p, flags) & (PF_KTHREAD | PF_IO_WORKER))
		return; /* never came from user space */
	read_regs(p, &r);
	if ((__s32)r.syscall < 0) {
		key->syscall = TT_SYSCALL_NONE;
		return;
	}
	key->syscall = TT_SYSCALL(r.syscall);
	key->arg = r.first;
	if (r.syscall == NR_FUTEX)
		key->flags |= tt_futex_flags(r.second, r.third);
}

#ifdef TT_RAW

/* The helper that walks a sleeper's stack takes typed pointers only: it is walked as it goes out. */
static __always_inline void before_sleep(void *ctx, __u32 slot, enum tt_switch_out how)
{
	struct tt_thread *t = thread_at(slot);

	if (t && (kernel_stacks || user_stacks) && (how == TT_OUT_SLEEP || how == TT_OUT_DISK))
		take_own_stacks(ctx, t, kernel_stacks);
}

static __always_inline void add_site(struct task_struct *p, struct tt_thread *t, __u64 slept_ns,
				     struct tt_edge_key *key)
{
	add_syscall(p, key);
	key->kernel_stack = t->site_kernel_stack;
	key->user_stack = t->site_user_stack;
}

#else

static __always_inline void before_sleep(void *ctx, __u32 slot, enum tt_switch_out how)
{
	struct tt_thread *t = thread_at(slot);

	if (t && user_stacks && (how == TT_OUT_SLEEP || how == TT_OUT_DISK))
		take_own_stacks(ctx, t, false);
}

static __always_inline void add_site(struct task_struct *p, struct tt_thread *t, __u64 slept_ns,
				     struct tt_edge_key *key)
{
	struct tt_stack *s;

	add_syscall(p, key);
	key->user_stack = t->site_user_stack;
	t->site_user_stack = 0;
	if (!kernel_stacks || slept_ns < TT_STACK_MIN_NS)
		return;
	s = scratch_stack();
	if (s)
		key->kernel_stack = keep_stack(s, bpf_get_task_stack(p, s, sizeof(*s), 0));
	if (!key->kernel_stack)
		__sync_fetch_and_add(&losses.stacks, 1);
}

#endif

#endif /* __TEGRATRACE_SITE_BTF_H */
