/* SPDX-License-Identifier: GPL-2.0-only */
/* Page faults of the traced threads, by mapping and by time (bpf/fault_events.bpf.c). */
#ifndef TEGRATRACE_FAULTS_PROBE_H
#define TEGRATRACE_FAULTS_PROBE_H

#include "probe/accounts.h"
#include "probe/symbols/mappings.h"
#include "probe/targets/targets.h"
#include "probe/tracer.h"
#include "session/session.h"

struct faults;

/*
 * Load and attach; nothing counts before the tracer's window begins. Keeps the pointers. NULL when
 * it cannot, which is then in its capabilities.
 */
struct faults *faults_open(struct tracer *tracer, struct accounts *accounts,
			   struct mappings *mappings, struct session *session);

/* All take NULL. */

/* At the begin of the window. */
void faults_begin(struct faults *faults, const struct target_set *targets, int64_t now_ns);

/* Before accounts_drain(). */
void faults_tick(struct faults *faults, int64_t now_ns);

/* After the end of the window, before accounts_finish(): detach and read the rest. */
void faults_stop(struct faults *faults, int64_t end_ns);

/* After accounts_finish(). */
void faults_finish(struct faults *faults, struct session *session);

void faults_close(struct faults *faults);

#endif
