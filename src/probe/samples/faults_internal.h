/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by faults.c, which counts, and fault_sites.c, which sums up. */
#ifndef TEGRATRACE_FAULTS_INTERNAL_H
#define TEGRATRACE_FAULTS_INTERNAL_H

#include "perf_abi.h"
#include "probe/cpu_events.h"
#include "probe/samples/faults.h"
#include "probe/flip.h"
#include "probe/tally.h"

struct fault_events;

/* Word of a tally key: number of the mapped object + 1; 0 unknown. */
#define FAULT_OBJECT 0

#define FAULT_MINOR 0
#define FAULT_MAJOR 1

struct faults {
	struct fault_events *skeleton;
	struct cpu_events minor_events, major_events;
	struct flip flip;
	struct tracer *tracer;
	struct mappings *mappings;
	struct tally *tally;
	struct tt_fault_count *counts; /* by slot, shared with the programs */
	size_t counts_size;
	struct tt_fault_burst *bursts; /* likewise; NULL without a timeline */
	size_t bursts_size;
	struct session *session;
	struct tt_fault_count closed; /* of slots given back */
	struct fault_series *series;
	struct tt_fault_count at_point; /* when the point under way began */
	int64_t point_ns;
	pid_t targets[SESSION_TARGETS];
	int64_t rss_begin[SESSION_TARGETS], rss_last[SESSION_TARGETS]; /* bytes */
	int ntargets;
};

/* Faults whose region was not kept, and events that the timeline lacks. */
void faults_add_losses(const struct faults *faults, struct session *session);

#endif
