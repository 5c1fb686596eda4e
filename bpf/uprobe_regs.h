/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User registers in a uprobe program's context, the layout that user space is promised
 * (arch/x86/include/uapi/asm/ptrace.h, arch/arm64/include/uapi/asm/ptrace.h). Not in vmlinux.h: these
 * must not be relocated, for an object that loads without BTF.
 */
#ifndef __TEGRATRACE_UPROBE_REGS_H
#define __TEGRATRACE_UPROBE_REGS_H

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8;
	unsigned long rax, rcx, rdx, rsi, rdi, orig_rax, rip, cs, eflags, rsp, ss;
};
/* The call pushes the return address, and the return pops it. */
#define CALL_PUSHES 8
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs;
struct user_pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
#define CALL_PUSHES 0
#else
#error "which registers hold arguments on this architecture?"
#endif

#include <bpf/bpf_tracing.h>

/* Where the function that is being entered will return to. */
static __always_inline __u64 return_address(struct pt_regs *ctx)
{
#if CALL_PUSHES
	__u64 address = 0;

	bpf_probe_read_user(&address, sizeof(address), (const void *)PT_REGS_SP(ctx));
	return address;
#else
	return PT_REGS_RET(ctx);
#endif
}

#endif /* __TEGRATRACE_UPROBE_REGS_H */
