/* SPDX-License-Identifier: GPL-2.0-only */
/* The floor: classic tracepoint programs that do nothing on the three hooks of a context switch. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

SEC("tracepoint/sched/sched_switch")
int empty_switch(void *ctx)
{
	return 1;
}

SEC("tracepoint/sched/sched_waking")
int empty_waking(void *ctx)
{
	return 1;
}

SEC("tracepoint/sched/sched_wakeup")
int empty_wakeup(void *ctx)
{
	return 1;
}

char LICENSE[] SEC("license") = "GPL";
