/* SPDX-License-Identifier: GPL-2.0-only */
/* Takes the intervals of the traced threads out of the kernel's ring (bpf/timeline.h). */
#ifndef TEGRATRACE_PROBE_TIMELINE_H
#define TEGRATRACE_PROBE_TIMELINE_H

#include <stdint.h>

#include "probe/tracer.h"
#include "session/session.h"

#define TIMELINE_RING_BYTES (16u << 20)

struct timeline_probe;

/*
 * Keeps at most `limit` slices in session->timeline, the first ones. NULL, with the reason in the
 * capabilities, when the tracer has no ring. All others take NULL.
 */
struct timeline_probe *timeline_probe_open(struct tracer *tracer, struct session *session,
					   size_t limit);

void timeline_probe_begin(struct timeline_probe *probe, int64_t begin_ns);
int64_t timeline_probe_next_ns(const struct timeline_probe *probe);
void timeline_probe_poll(struct timeline_probe *probe, int64_t now_ns);

/* After accounts_finish(): the rest, and the intervals that the window's end cut. */
void timeline_probe_finish(struct timeline_probe *probe);

void timeline_probe_close(struct timeline_probe *probe);

#endif
