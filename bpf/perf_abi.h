/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs on perf events (samples, faults) and their loaders share. */
#ifndef __TEGRATRACE_PERF_ABI_H
#define __TEGRATRACE_PERF_ABI_H

#ifndef __bpf__ /* vmlinux.h has them */
#include <linux/types.h>
#endif

#include "abi.h"

#define TT_SAMPLE_HZ	   99
#define TT_MAX_SAMPLE_KEYS 16384

/*
 * Samples that looked alike. The addresses are where the thread was, in the kernel (0: it was not)
 * and in user space; the stacks, keys of `stacks`, only where whole stacks are asked for.
 */
struct tt_sample_key {
	__u32 slot;
	__u32 pad; /* 0 */
	__u64 kernel_ip;
	__u64 user_ip;
	__u64 kernel_stack;
	__u64 user_stack;
};

struct tt_sample {
	__u32 count;
	__u32 tid;
	__u32 tgid;
	__u32 pad;
};

_Static_assert(sizeof(struct tt_sample_key) == 40, "no padding: it is hashed");

struct tt_fault_count {
	__u64 minor, major;
};

/* Minor faults of one thread that are one event of the timeline: those of about a millisecond. */
#define TT_FAULT_BURST_NS 1000000

struct tt_fault_burst {
	__u64 start_ns, last_ns;
	__u32 count; /* 0 = none under way */
	__u32 pad;
};

/*
 * Faults by 64 KiB of address space, and in which 4 KiB of it: two mappings may share a region, and
 * the pages tell whose the faults were.
 */
#define TT_REGION_SHIFT	     16
#define TT_REGION_PAGE_SHIFT 12
#define TT_REGION_PAGES	     16
#define TT_MAX_REGIONS	     16384

struct tt_region_key {
	__u32 slot;
	__u32 pad; /* 0 */
	__u64 region;
};

struct tt_region {
	__u32 minor, major;
	__u32 tid, tgid;
	__u16 minor_pages, major_pages; /* a bit each */
	__u32 pad;
};

_Static_assert(sizeof(struct tt_region_key) == 16, "no padding: it is hashed");
_Static_assert(sizeof(struct tt_region) == 24, "no padding: it leaves the kernel");

#endif /* __TEGRATRACE_PERF_ABI_H */
