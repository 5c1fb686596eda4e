/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel types that bpf/ touches, and no others. Every struct is relocated against the running
 * kernel's BTF (CO-RE), so only names and types matter here, never the order or the offsets.
 * A flavour of a renamed field stands beside it with the commit that renamed it.
 */
#ifndef __VMLINUX_H
#define __VMLINUX_H

#include <stdbool.h>

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef __u16 __sum16;
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_STACK = 23,
	BPF_MAP_TYPE_RINGBUF = 27, /* since 5.8 */
};

/* enums, uapi/linux/bpf.h */
#define BPF_ANY		 0
#define BPF_NOEXIST	 1
#define BPF_F_MMAPABLE	 (1U << 10)
#define BPF_F_USER_STACK (1ULL << 8)
#define BPF_RB_NO_WAKEUP (1ULL << 0)

/* Looked up in the kernel's BTF, to know whether it has the helper (5.15, dd6e10fbd9fb). */
enum bpf_func_id {
	BPF_FUNC_task_pt_regs = 175,
};
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sched_entity {
	/*
	 * Since 6.12 (152e11f6df29 "sched/fair: Implement delayed dequeue") a sleeper may stay
	 * queued with this set; absent before.
	 */
	unsigned char sched_delayed;
	__u64 sum_exec_runtime;
	__u64 prev_sum_exec_runtime;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	/* int, and u8 in 7.x: CO-RE lets only unsigned ones differ in size */
	unsigned int on_cpu;
	unsigned int on_rq;
	struct sched_entity se;
	unsigned long jobctl;
	void *stack;
	unsigned in_iowait : 1;
	int prio;
	unsigned int policy;
	int wake_cpu; /* where it is queued: __set_task_cpu() keeps both equal */
	int pid;
	int tgid;
	char comm[16];
};

/* Until 5.14 (2f064a59a11f "sched: Change task_struct::state") the field was `volatile long state`. */
struct task_struct___before_5_14 {
	volatile long state;
};

struct linux_binprm;
struct irqaction;
struct hrtimer;

/*
 * What user space was doing when it entered the kernel. A flavour: uprobe programs need the plain
 * name for the layout that is the same everywhere (bpf/uprobe_regs.h).
 */
#if defined(__TARGET_ARCH_arm64)
struct pt_regs___entry {
	__u64 regs[31];
	__u64 orig_x0;
	__s32 syscallno;
};
#else
struct pt_regs___entry {
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
};
#endif

#pragma clang attribute pop

#endif /* __VMLINUX_H */
