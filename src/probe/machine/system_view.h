/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probes that only read /proc and cgroup files: pressure, other processes, and on the rung that
 * sees no system calls, where threads sleep. Every function takes NULL.
 */
#ifndef TEGRATRACE_SYSTEM_VIEW_H
#define TEGRATRACE_SYSTEM_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/waits/site_sampler.h"
#include "probe/tracer.h"
#include "session/session.h"

struct system_view;

/* NULL when out of memory. `sample_sites` also looks where threads sleep. */
struct system_view *system_view_open(struct tracer *tracer, bool sample_sites);
void system_view_free(struct system_view *view);

void system_view_begin(struct system_view *view, int64_t now_ns);

/* When system_view_poll wants to be called next (CLOCK_MONOTONIC ns); INT64_MAX never. */
int64_t system_view_next_ns(const struct system_view *view);
void system_view_poll(struct system_view *view, int64_t now_ns);

/* NULL where none was asked for. */
const struct site_sampler *system_view_sites(const struct system_view *view);

/* The window ended; the programs are still attached, so that the tracer knows who is a target. */
void system_view_end(struct system_view *view, int64_t now_ns, struct session *session);

#endif
