/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where traced threads burn their CPU time: a timer on every CPU, one look each time. No BTF, no
 * relocation, no register by name, so one object serves every kernel and architecture.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "flip.h"
#include "perf_abi.h"
#include "stacks.h"
#include "target.h"

FLIP_MAPS(struct tt_sample_key, struct tt_sample, TT_MAX_SAMPLE_KEYS);

const volatile bool whole_stacks;

__u64 samples_dropped;
__u64 stacks_dropped;

static __always_inline __u64 take_stack(void *ctx, __u64 flags)
{
	struct tt_stack *s = scratch_stack();
	__u64 key;
	long bytes;

	if (!s)
		return 0;
	bytes = bpf_get_stack(ctx, s, sizeof(*s), flags);
	key = keep_stack(s, bytes);
	if (bytes > 0 && !key)
		__sync_fetch_and_add(&stacks_dropped, 1);
	return key;
}

static __always_inline void count_sample(const struct tt_sample_key *key, __u64 id)
{
	struct tt_sample first = {.count = 1, .tid = (__u32)id, .tgid = id >> 32};
	void *map = flip_map();
	struct tt_sample *sample = bpf_map_lookup_elem(map, key);

	/* One writer: a thread is on one CPU at a time. */
	if (sample)
		sample->count++;
	else if (bpf_map_update_elem(map, key, &first, BPF_ANY))
		__sync_fetch_and_add(&samples_dropped, 1);
}

SEC("perf_event")
int sample(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct tt_sample_key key = {.slot = slot_of((__u32)id)};

	if (!key.slot || !in_window(bpf_ktime_get_ns()))
		return 0;
	/* A stack's first frame is the interrupted instruction; in user mode there is no kernel one. */
	if (bpf_get_stack(ctx, &key.kernel_ip, sizeof(key.kernel_ip), 0) < 0)
		key.kernel_ip = 0;
	if (bpf_get_stack(ctx, &key.user_ip, sizeof(key.user_ip), BPF_F_USER_STACK) < 0)
		key.user_ip = 0;
	if (whole_stacks) {
		if (key.kernel_ip)
			key.kernel_stack = take_stack(ctx, 0);
		key.user_stack = take_stack(ctx, BPF_F_USER_STACK);
	}
	count_sample(&key, id);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
