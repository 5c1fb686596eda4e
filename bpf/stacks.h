/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks by the hash of their frames, one copy each, shared by all objects. Own hashing and not a
 * STACK_TRACE map: that one only takes the current task, and a sleeper is walked when it is woken.
 */
#ifndef __TEGRATRACE_STACKS_H
#define __TEGRATRACE_STACKS_H

#include "abi.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TT_MAX_STACKS);
	__type(key, __u64);
	__type(value, struct tt_stack);
} stacks SEC(".maps");

/* Too big for a program's own stack. Only for hooks that cannot nest within one object and CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tt_stack);
} stack_scratch SEC(".maps");

static __always_inline struct tt_stack *scratch_stack(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&stack_scratch, &zero);
}

/*
 * Keep the stack that a helper wrote to `s` (`bytes` is its result); the rest of it is zeroed here.
 * Returns its key, 0 when there is no stack or no room.
 */
static __always_inline __u64 keep_stack(struct tt_stack *s, long bytes)
{
	__u32 n = bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
	__u64 hash = 0xcbf29ce484222325ULL; /* FNV-1a, a frame at a time */

	if (!n)
		return 0;
#pragma unroll
	for (__u32 i = 0; i < TT_STACK_DEPTH; i++) {
		if (i >= n)
			s->frame[i] = 0;
		hash = (hash ^ s->frame[i]) * 0x100000001b3ULL;
		hash ^= hash >> 29;
	}
	if (!hash)
		hash = 1;
	if (!bpf_map_lookup_elem(&stacks, &hash) && bpf_map_update_elem(&stacks, &hash, s, BPF_ANY))
		return 0;
	return hash;
}

#endif /* __TEGRATRACE_STACKS_H */
