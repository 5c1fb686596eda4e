/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On-CPU sampling of the traced threads (bpf/sampler.bpf.c): which library and function, and is it
 * work or waiting by spinning.
 */
#ifndef TEGRATRACE_SAMPLES_H
#define TEGRATRACE_SAMPLES_H

#include <stdbool.h>

#include "probe/accounts.h"
#include "probe/tracer.h"
#include "probe/symbols/user_symbols.h"
#include "session/session.h"

struct samples;

struct samples_options {
	bool whole_stacks;
};

/*
 * Load and attach; nothing counts before the tracer's window begins. Keeps the pointers. NULL when
 * it cannot, which is then in `capability`.
 */
struct samples *samples_open(const struct samples_options *options, struct tracer *tracer,
			     struct accounts *accounts, struct mappings *mappings,
			     struct user_symbols *symbols, struct capability *capability);

/* All take NULL. */

/* Before accounts_drain(). */
void samples_tick(struct samples *samples);

/* After the end of the window, before accounts_finish(): detach and read the rest. */
void samples_stop(struct samples *samples);

/* After accounts_finish() and user_symbols_resolve(): the sites, and each thread's share of spinning. */
void samples_finish(struct samples *samples, struct session *session);

void samples_close(struct samples *samples);

#endif
