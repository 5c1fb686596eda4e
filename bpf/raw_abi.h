/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by rung raw's programs and its loader; the includer provides __u32 and __u64. */
#ifndef __TEGRATRACE_RAW_ABI_H
#define __TEGRATRACE_RAW_ABI_H

/*
 * What the programs read of the task that runs the self check, through the offsets of the BTF file, and
 * what it truly is: nothing else tells whether the file is of the running kernel.
 */
struct tt_self {
	__u64 sum_exec_ns;
	__u64 prev_sum_exec_ns;
	__u64 jobctl;
	__u32 pid;
	__u32 tgid;
	__u32 state;
	__u32 flags;
	__u32 on_cpu;
	__u32 on_rq;
	__u32 in_iowait;
	__u32 wake_cpu;
	/* From the begin of a kernel stack to the user registers; 0 = they are not found. */
	__u32 regs_offset;
	char comm[16];
	/* The truth, as the kernel's helpers give it. */
	__u32 true_pid;
	__u32 true_tgid;
	__u32 true_cpu;
	char true_comm[16];
};

#endif
