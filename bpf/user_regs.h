/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The system call of the current task as the task itself gave it, where no type data tells: its user
 * registers are at the end of its kernel stack. Where exactly, the loader has found out by reading
 * its own (src/probe/rungs/user_regs.c).
 */
#ifndef __TEGRATRACE_USER_REGS_H
#define __TEGRATRACE_USER_REGS_H

#include "futex.h"
#include "user_regs_abi.h"

#if defined(__TARGET_ARCH_arm64)
#define TT_NR_FUTEX 98
#else
#define TT_NR_FUTEX 202
#endif

/* From the start of the task_struct: the stack's address. 0 = not known where. */
const volatile __u32 off_task_stack;
/* From the stack's address: the number of the system call. */
const volatile __u32 off_stack_syscall;

struct user_call {
	__u16 syscall; /* as tt_edge_key's; 0 = not known */
	__u16 flags;
	__u32 arg;
};

#define AT(base, words) ((const void *)((base) + 8LL * (words)))

static __always_inline struct user_call current_call(void)
{
	struct user_call call = {};
	__u64 stack = 0, nr, first[2] = {}, others[2] = {};

	if (!off_task_stack)
		return call;
	bpf_probe_read_kernel(&stack, sizeof(stack),
			      (const void *)(bpf_get_current_task() + off_task_stack));
	nr = stack + off_stack_syscall;
	if (bpf_probe_read_kernel(first, sizeof(first), AT(nr, TT_REGS_FIRST)))
		return call;
	if ((__s32)first[1] < 0) {
		call.syscall = TT_SYSCALL_NONE;
		return call;
	}
	/* A thread of io_uring never came from user space: all its registers are 0. */
	if (!first[0] && !first[1])
		return call;
	call.syscall = TT_SYSCALL((__u32)first[1]);
	call.arg = (__u32)first[0];
	if ((__u32)first[1] == TT_NR_FUTEX) {
		bpf_probe_read_kernel(
			others, sizeof(others),
			AT(nr, TT_REGS_SECOND < TT_REGS_THIRD ? TT_REGS_SECOND : TT_REGS_THIRD));
		call.flags = TT_REGS_SECOND < TT_REGS_THIRD
				     ? tt_futex_flags((__u32)others[0], (__u32)others[1])
				     : tt_futex_flags((__u32)others[1], (__u32)others[0]);
	}
	return call;
}

#endif /* __TEGRATRACE_USER_REGS_H */
