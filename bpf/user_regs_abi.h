/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a task's user registers lie, for kernels without type data. struct task_struct is configured
 * in a thousand ways, and what follows the system call's number in pt_regs differs between kernels;
 * what is before it does not (arch/{arm64,x86}/include/asm/ptrace.h).
 */
#ifndef __TEGRATRACE_USER_REGS_ABI_H
#define __TEGRATRACE_USER_REGS_ABI_H

#define TT_WORDS 64
struct tt_words {
	__u64 address; /* 0 = the current task */
	__s64 error;   /* 0 = read */
	__u64 word[TT_WORDS];
};

/* In 64-bit words from the number of the system call; the number is the low half of its word. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define TT_REGS_FIRST  (-1)  /* orig_x0 */
#define TT_REGS_SECOND (-34) /* regs[1] */
#define TT_REGS_THIRD  (-33)
#else
#define TT_REGS_FIRST  (-1) /* di */
#define TT_REGS_SECOND (-2) /* si */
#define TT_REGS_THIRD  (-3) /* dx */
#endif

#endif /* __TEGRATRACE_USER_REGS_ABI_H */
