/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits for the GPU, launches and copies, told by probes on the CUDA driver library. Never needed:
 * what fails is said in the session (state, note, a missing capability) and the run goes on.
 */
#ifndef TEGRATRACE_CUDA_H
#define TEGRATRACE_CUDA_H

#include "probe/accounts.h"
#include "probe/cuda/cuda_iter_spec.h"
#include "probe/tracer.h"
#include "session/session.h"

struct cuda_probe;

struct cuda_probe_options {
	enum cuda_mode mode;
	struct iter_spec iter;
	const char *held_command; /* the target runs it once the window is open; NULL: it runs */
};

/* Keeps the pointers; registers with the accounts. NULL when out of memory. */
struct cuda_probe *cuda_probe_new(const struct cuda_probe_options *options, struct tracer *tracer,
				  struct accounts *accounts, struct session *session);
void cuda_probe_free(struct cuda_probe *probe);

/* Threads are seeded, the window is not published: attach to what is there. */
void cuda_probe_begin(struct cuda_probe *probe, int64_t now_ns);

/* A few times a second: look for a library loaded since, the less often the longer in vain. */
void cuda_probe_tick(struct cuda_probe *probe, int64_t now_ns);

/* All accounts are closed: sum up in the session. */
void cuda_probe_end(struct cuda_probe *probe);

#endif
