/* SPDX-License-Identifier: GPL-2.0-only */
/* Rung raw's look at the task that asks for it, with BPF_PROG_TEST_RUN (5.10); see raw_abi.h. */
#ifndef __TEGRATRACE_SELF_CHECK_H
#define __TEGRATRACE_SELF_CHECK_H

/* Of that system call, as every architecture has it in its registers. */
#if defined(__TARGET_ARCH_arm64)
#define NR_BPF 280
#else
#define NR_BPF 321
#endif
#define BPF_PROG_TEST_RUN 10
#define BPF_ATTR_MAX	  4096 /* the third argument is its size */

/*
 * Where a kernel stack ends depends on KASAN and the page size, and x86 leaves 16 bytes free there
 * since 6.9 (CONFIG_X86_FRED). The right place is the one where this system call is seen.
 */
static __always_inline __u32 find_regs(const char *stack)
{
	struct entry_regs r;
	__u32 offset;

	for (__u32 shift = 13; shift <= 17; shift++) {
		for (__u32 gap = 0; gap <= 16; gap += 16) {
			offset = (1u << shift) - gap - bpf_core_type_size(struct pt_regs___entry);
			probe_regs(stack + offset, &r);
			probe_more_regs(stack + offset, &r);
			if (r.syscall == NR_BPF && r.first == BPF_PROG_TEST_RUN && r.third &&
			    r.third <= BPF_ATTR_MAX)
				return offset;
		}
	}
	return 0;
}

SEC("raw_tp")
int self_check(void *ctx)
{
	struct task_struct *p = (struct task_struct *)bpf_get_current_task();
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	self.true_pid = (__u32)pid_tgid;
	self.true_tgid = pid_tgid >> 32;
	self.true_cpu = bpf_get_smp_processor_id();
	bpf_get_current_comm(self.true_comm, sizeof(self.true_comm));
	self.pid = TT_READ(p, pid);
	self.tgid = TT_READ(p, tgid);
	self.state = task_state(p);
	self.flags = TT_READ(p, flags);
	self.on_cpu = TT_READ(p, on_cpu);
	self.on_rq = TT_READ(p, on_rq);
	self.jobctl = TT_READ(p, jobctl);
	self.in_iowait = TT_READ_BITFIELD(p, in_iowait);
	self.wake_cpu = TT_READ(p, wake_cpu);
	self.sum_exec_ns = TT_READ(p, se.sum_exec_runtime);
	self.prev_sum_exec_ns = TT_READ(p, se.prev_sum_exec_runtime);
	bpf_probe_read_kernel(self.comm, sizeof(self.comm), p->comm);
	self.regs_offset = find_regs(TT_READ(p, stack));
	return 0;
}

#endif /* __TEGRATRACE_SELF_CHECK_H */
