/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The accounting programs in the kernel: which rung of the ladder loads here, seeding, the window,
 * and reading the records. Nothing is pinned: whatever ends this process ends the programs.
 */
#ifndef TEGRATRACE_TRACER_H
#define TEGRATRACE_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/types.h>

#include "abi.h"
#include "session/session.h"

enum rung {
	RUNG_AUTO,
	RUNG_BTF,
	RUNG_TRACEPOINT,
};

/* Returns 0 and the rung for "auto", "btf", "tracepoint"; -EINVAL otherwise. */
int rung_from_name(const char *name, enum rung *rung);

struct tracer_options {
	enum rung rung;
	bool follow_children;
	uint32_t slots;	    /* threads traced at once; 0 = default */
	bool interrupts;    /* tell interrupts that wake from the tasks they interrupt */
	bool kernel_stacks; /* of sleeps that are long enough to pay for it */
	bool user_stacks;
};

struct tracer;

/*
 * Load and attach the best rung (or the one asked for); the window is closed, so nothing is
 * counted yet. Rungs tried in vain, and what else is missing, are added to `capability`. Returns 0,
 * -EPERM when privileges are missing, another -errno; then `reason` says why in one line.
 */
int tracer_open(const struct tracer_options *options, struct tracer **tracer,
		struct capability *capability, char *reason, size_t reason_size);

/* Detach if still attached, unload, free. NULL is fine. */
void tracer_close(struct tracer *tracer);
void tracer_detach(struct tracer *tracer);

/*
 * Trace one more thread, from the window's begin on. Returns its slot; -EEXIST when it is traced
 * already, -ENOSPC without a free slot, -ERANGE beyond pid_max.
 */
int tracer_seed(struct tracer *tracer, pid_t tgid, pid_t tid);
bool tracer_traces(const struct tracer *tracer, pid_t tid);

/* Times in the future (CLOCK_MONOTONIC ns); events outside [begin, end) are ignored. */
void tracer_publish_begin(struct tracer *tracer, int64_t begin_ns);
void tracer_publish_end(struct tracer *tracer, int64_t end_ns);

/* Where one thread's data lie, in every map that is indexed by slot. */
struct tracer_slots {
	uint32_t slot;
	uint32_t predecessor; /* the slot it had before an exec gave it another tid; 0 = none */
};

/*
 * Call `fn` once for every closed record, then recycle its slot. Only records found closed by the
 * call before as well are taken, so the kernel's last stores to them are long visible (arm64).
 */
typedef void (*tracer_record_fn)(void *ctx, const struct tracer_slots *slots,
				 const struct tt_thread *record);
void tracer_drain(struct tracer *tracer, tracer_record_fn fn, void *ctx);

/* Every record in use; call after tracer_detach for a consistent view. */
void tracer_for_each(struct tracer *tracer, tracer_record_fn fn, void *ctx);

/*
 * For the objects of other probes: the table that tells who is traced (see bpf/target.h), the number
 * of slots, and a window to publish along with the tracer's own (kept until tracer_close).
 */
int tracer_tid_slots_fd(const struct tracer *tracer);
/* A map of the scheduler object, to read or to share; -ENOENT for another name. */
int tracer_map_fd(const struct tracer *tracer, const char *name);
int tracer_add_window(struct tracer *tracer, struct tt_window *window);

/* Slots ever used; a slot number is always <= this. */
uint32_t tracer_slots_used(const struct tracer *tracer);
uint32_t tracer_slots_max(const struct tracer *tracer);
struct tt_losses tracer_losses(const struct tracer *tracer);

/* What one program cost while BPF statistics were on. */
struct program_cost {
	char name[32];
	uint64_t runs;
	uint64_t ns;
};

#define TRACER_PROGRAMS 16

/* Returns the number of programs. */
int tracer_program_costs(const struct tracer *tracer, struct program_cost costs[TRACER_PROGRAMS]);

#endif
