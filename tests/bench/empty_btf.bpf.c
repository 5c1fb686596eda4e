/* SPDX-License-Identifier: GPL-2.0-only */
/* The floor: programs that do nothing on the three hooks of a context switch. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

SEC("tp_btf/sched_switch")
int BPF_PROG(empty_switch)
{
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(empty_waking)
{
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(empty_wakeup)
{
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
