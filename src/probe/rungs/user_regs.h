/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a task's user registers lie on this kernel. Private to src/probe. */
#ifndef TEGRATRACE_USER_REGS_H
#define TEGRATRACE_USER_REGS_H

#include <linux/types.h>

/* In bytes; see bpf/user_regs.h. */
struct regs_place {
	__u32 task_stack;
	__u32 stack_syscall;
};

/*
 * Reads the kernel's memory of the calling thread, with a BPF program that runs in one system call
 * of it (since 5.10), and looks there for that call's number and arguments: so what is found is
 * right. Returns 0 or -errno.
 */
int user_regs_find(struct regs_place *place);

#endif
