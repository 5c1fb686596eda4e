/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads words of the kernel's memory for the loader, which so finds out where its own registers lie
 * (src/probe/rungs/user_regs.c). Never attached, only run.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "user_regs_abi.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tt_words);
} words SEC(".maps");

SEC("raw_tp")
int read_words(void *ctx)
{
	__u32 zero = 0;
	struct tt_words *w = bpf_map_lookup_elem(&words, &zero);
	__u64 address;

	if (!w)
		return 0;
	address = w->address ? w->address : bpf_get_current_task();
	w->error = bpf_probe_read_kernel(w->word, sizeof(w->word), (const void *)address);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
