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
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK = 23,
};

/* enum, uapi/linux/bpf.h */
#define BPF_ANY		 0
#define BPF_F_USER_STACK (1ULL << 8)
#define BPF_F_MMAPABLE	 (1U << 10)

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
	unsigned in_iowait : 1;
	int pid;
	int tgid;
	char comm[16];
};

/* Until 5.14 (2f064a59a11f "sched: Change task_struct::state") the field was `volatile long state`. */
struct task_struct___before_5_14 {
	volatile long state;
};

struct linux_binprm;

#pragma clang attribute pop

#endif /* __VMLINUX_H */
