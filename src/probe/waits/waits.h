/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel noted of every sleep, gathered as threads end, judged at the end, and put into the
 * session: wait classes of the threads, edges, stacks, and who held the CPUs.
 */
#ifndef TEGRATRACE_PROBE_WAITS_H
#define TEGRATRACE_PROBE_WAITS_H

#include "probe/accounts.h"
#include "probe/targets/live_threads.h"
#include "probe/waits/site_sampler.h"
#include "probe/tracer.h"
#include "probe/symbols/user_symbols.h"
#include "session/session.h"

struct waits;

/*
 * Listens to the accounts. Keeps the pointers. `symbols` names user stacks, and is resolved between
 * accounts_finish and waits_finish. NULL when out of memory.
 */
struct waits *waits_new(struct tracer *tracer, struct accounts *accounts, struct session *session,
			struct user_symbols *symbols);
void waits_free(struct waits *waits);

/* After each accounts_drain: what was read of the kernel's table for it is stale now. */
void waits_drained(struct waits *waits);

/* The window begins. */
void waits_begin(struct waits *waits, int64_t begin_ns);

/*
 * A point of the host series is made, after live_threads_tick(): so many threads were asleep in its
 * span. What each sleep was for is put right in waits_finish().
 */
void waits_look(struct waits *waits, const struct live_threads *live, struct host_point *point,
		float asleep_threads);

/* After accounts_finish. `sites`: NULL where system calls are seen. */
void waits_finish(struct waits *waits, const struct site_sampler *sites);

#endif
