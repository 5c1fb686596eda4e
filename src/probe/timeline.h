/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes the timeline out of the kernel's ring: the intervals of the traced threads (bpf/timeline.h),
 * and what other probes put there. Those that it cut, at the window's end, they add themselves.
 */
#ifndef TEGRATRACE_PROBE_TIMELINE_H
#define TEGRATRACE_PROBE_TIMELINE_H

#include <stdint.h>

#include "probe/tracer.h"
#include "session/session.h"

#define TIMELINE_RING_BYTES (16u << 20)

struct timeline_probe;

/*
 * Keeps at most so many bytes in session->timeline, of the first events. NULL, with the reason in
 * the capabilities, when the tracer has no ring. All others take NULL.
 */
struct timeline_probe *timeline_probe_open(struct tracer *tracer, struct session *session,
					   size_t limit_bytes);

void timeline_probe_begin(struct timeline_probe *probe, int64_t begin_ns);
int64_t timeline_probe_next_ns(const struct timeline_probe *probe);
void timeline_probe_poll(struct timeline_probe *probe, int64_t now_ns);

/* After accounts_finish() and all other probes: the rest, and the intervals that the end cut. */
void timeline_probe_finish(struct timeline_probe *probe);

void timeline_probe_close(struct timeline_probe *probe);

#endif
