/* SPDX-License-Identifier: GPL-2.0-only */
/* A perf software event on every online CPU, with a BPF program on each. */
#ifndef TEGRATRACE_CPU_EVENTS_H
#define TEGRATRACE_CPU_EVENTS_H

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stddef.h>

struct cpu_events {
	struct bpf_link **links;
	int n;
};

#define CPU_EVENTS_REASON_LEN 160

/* Returns 0, or -errno with a reason and nothing attached. A CPU that is offline has no event. */
int cpu_events_attach(struct cpu_events *events, const struct perf_event_attr *attr,
		      const struct bpf_program *program, char reason[CPU_EVENTS_REASON_LEN]);
void cpu_events_detach(struct cpu_events *events);

#endif
