/* SPDX-License-Identifier: GPL-2.0-only */
/* What is measured beside the threads' accounts in a run. None of it is a must. */
#ifndef TEGRATRACE_RUN_PROBES_H
#define TEGRATRACE_RUN_PROBES_H

#include <stdbool.h>

#include "cli/options.h"
#include "probe/accounts.h"
#include "probe/block_io.h"
#include "probe/cuda/cuda.h"
#include "probe/samples/faults.h"
#include "probe/symbols/mappings.h"
#include "probe/samples/samples.h"
#include "probe/machine/system_view.h"
#include "probe/targets/targets.h"
#include "probe/timeline.h"
#include "probe/tracer.h"
#include "probe/symbols/user_symbols.h"
#include "probe/waits/waits.h"
#include "session/session.h"

struct run_probes {
	struct waits *waits;
	struct block_io *block;
	struct system_view *system;
	struct mappings *mappings;
	struct user_symbols *symbols;
	struct samples *samples;
	struct faults *faults;
	struct cuda_probe *cuda;
	struct timeline_probe *timeline;
};

/* Those that --without leaves; what cannot be had is added to the capabilities. -ENOMEM or 0. */
int run_probes_open(struct run_probes *probes, const struct options *options, struct tracer *tracer,
		    struct accounts *accounts, struct session *session);

/* The threads are seeded and the window is not published yet. */
void run_probes_prepare(struct run_probes *probes, int64_t now_ns);

/* The window begins at begin_ns. */
void run_probes_begin(struct run_probes *probes, const struct target_set *targets,
		      int64_t begin_ns);

/* When run_probes_poll() wants to be called next (CLOCK_MONOTONIC ns); INT64_MAX never. */
int64_t run_probes_next_ns(const struct run_probes *probes);
void run_probes_poll(struct run_probes *probes, int64_t now_ns);

/* A few times a second, before and after accounts_drain(). */
void run_probes_tick(struct run_probes *probes, int64_t now_ns);
void run_probes_drained(struct run_probes *probes);

/* The window ended; the programs are still attached. */
void run_probes_end(struct run_probes *probes, int64_t now_ns, struct session *session);

/* After accounts_finish(): into the session. */
void run_probes_finish(struct run_probes *probes, struct session *session);

/* After accounts_free(). */
void run_probes_close(struct run_probes *probes);

#endif
