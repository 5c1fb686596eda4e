/* SPDX-License-Identifier: GPL-2.0-only */
/* A perf software event on every online CPU, with a BPF program on each. */
#ifndef TEGRATRACE_CPU_EVENTS_H
#define TEGRATRACE_CPU_EVENTS_H

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_event {
	struct bpf_link *link; /* NULL: none */
	int fd;		       /* the link's */
	uint64_t enabled_ns;   /* see event_clock.h */
};

/* Zeroed: attached nowhere. */
struct cpu_events {
	struct cpu_event *of; /* by CPU */
	int ncpus;
	struct perf_event_attr attr;
	const struct bpf_program *program;
};

#define CPU_EVENTS_MAX	      4096 /* CPUs that are followed; more than any kernel is made for */
#define CPU_EVENTS_REASON_LEN 160

/*
 * Returns 0, or -errno with a reason and nothing attached. `program` must outlive the events. A CPU that
 * is offline has no event.
 */
int cpu_events_attach(struct cpu_events *events, const struct perf_event_attr *attr,
		      const struct bpf_program *program, char reason[CPU_EVENTS_REASON_LEN]);

/*
 * Attaches to CPUs that came online since, and lets go of those that went, also when they are back: an
 * event does not live again with its CPU. What a CPU does before it is found online is not seen. Returns 0, or -errno of the
 * last CPU that failed; it is tried again the next time.
 */
int cpu_events_follow(struct cpu_events *events);
void cpu_events_detach(struct cpu_events *events);

#endif
