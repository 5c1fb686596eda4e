/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a perf event of a CPU still lives. When its CPU goes the kernel takes the event out of the
 * CPU's context for good (perf_event_exit_cpu_context() in kernel/events/core.c): it counts and writes
 * nothing more, also when the CPU is back. The time that it was enabled then stands still. So a CPU that
 * went and came back between two looks is seen, as each but the first does at every suspend.
 */
#ifndef TEGRATRACE_EVENT_CLOCK_H
#define TEGRATRACE_EVENT_CLOCK_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* read_format of such an event, and no other bit. */
#define EVENT_CLOCK_FORMAT PERF_FORMAT_TOTAL_TIME_ENABLED

/*
 * Of an enabled event. *enabled_ns is what the look before found, 0 before the first, and is moved on.
 * True also when it cannot be read.
 */
bool event_clock_runs(int fd, uint64_t *enabled_ns);

#endif
