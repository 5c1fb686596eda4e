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
	RUNG_RAW,
	RUNG_TRACEPOINT,
	RUNG_PERF,
	RUNG_PROC,
};

/* Returns 0 and the rung for "auto", "btf", "raw", "tracepoint", "perf", "proc"; -EINVAL otherwise. */
int rung_from_name(const char *name, enum rung *rung);

struct tracer_options {
	enum rung rung;
	const char *btf; /* a file of type data for kernels that have none; NULL */
	bool follow_children;
	uint32_t slots;	    /* threads traced at once; 0 = default */
	bool interrupts;    /* tell interrupts that wake from the tasks they interrupt */
	bool kernel_stacks; /* of sleeps that are long enough to pay for it */
	bool user_stacks;
	uint32_t timeline_bytes; /* ring of the timeline: whole pages, a power of two; 0 = none */
};

struct tracer;
struct bpf_map;
struct bpf_object;
struct map_table;
struct sleep_site;

/*
 * Load and attach the best rung (or the one asked for); the window is closed, so nothing is
 * counted yet. Without any privilege that is the rung proc. Rungs tried in vain, and what else is missing, are added to `capability`. Returns 0,
 * -EPERM when privileges are missing, another -errno; then `reason` says why in one line.
 */
int tracer_open(const struct tracer_options *options, struct tracer **tracer,
		struct capability *capability, char *reason, size_t reason_size);

/* After end_ns has passed; on return every thread born in the window has a record. */
void tracer_settle(struct tracer *tracer, int64_t end_ns);

/* Detach if still attached, unload, free. NULL is fine. */
void tracer_close(struct tracer *tracer);
void tracer_detach(struct tracer *tracer);

/*
 * Trace one more thread, from the window's begin on. Returns its slot; -EEXIST when it is traced
 * already, -ENOSPC without a free slot, -ERANGE beyond pid_max.
 */
int tracer_seed(struct tracer *tracer, pid_t tgid, pid_t tid);

/* A thread seeded in this slot that turns out to have ended; before the window begins. */
void tracer_note_dead(struct tracer *tracer, uint32_t slot);

/* One that was born in the window without an event. */
struct missed_thread {
	pid_t tgid, tid;
	int64_t birth_ns, found_ns; /* unknown until it was found */
	uint32_t bucket;	    /* since */
};

/* As tracer_seed(), in the window. */
int tracer_adopt(struct tracer *tracer, const struct missed_thread *missed);
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
 * of slots, and an object whose window is published and whose cost is counted along with the tracer's
 * own (kept until tracer_close). -ENOTSUP on a rung without BPF: such probes are missing there.
 */
int tracer_tid_slots_fd(const struct tracer *tracer);
/* A map of the scheduler object, to share; -ENOENT for another name, -ENOTSUP without BPF. */
int tracer_map_fd(const struct tracer *tracer, const char *name);
/*
 * Before the load of another probe's object: its map `timeline` becomes the tracer's ring and *keep
 * true, or it is left out where there is no ring (src/probe/timeline.c). Returns 0 or -errno.
 */
int tracer_share_timeline(const struct tracer *tracer, struct bpf_map *map, bool *keep);
int tracer_add_object(struct tracer *tracer, const struct bpf_object *object,
		      struct tt_window *window);

/* What the rung noted of sleeps and of delays: rows of the layouts in bpf/abi.h. */
enum tracer_table {
	TRACER_EDGES,	/* tt_edge_key -> tt_edge */
	TRACER_HOLDERS, /* tt_holder_key -> tt_holder */
};

/* A copy of all rows. Returns 0 or -errno. */
int tracer_read_table(const struct tracer *tracer, enum tracer_table table, struct map_table *rows);
void tracer_delete_row(const struct tracer *tracer, enum tracer_table table, const void *key);

/* The kernel stack of this key. Returns 0, -ENOENT. */
int tracer_read_stack(const struct tracer *tracer, __u64 key, struct tt_stack *stack);

/*
 * Where a rung that only polls saw a thread sleep: then tt_edge_key.kernel_stack is the key of the
 * place. Returns 0; -ENOENT on other rungs and for other keys.
 */
int tracer_read_site(const struct tracer *tracer, __u64 key, struct sleep_site *site);

/* The record in a slot, as the programs see it. */
const struct tt_thread *tracer_record(const struct tracer *tracer, uint32_t slot);

/* Slots ever used; a slot number is always <= this. */
uint32_t tracer_slots_used(const struct tracer *tracer);
uint32_t tracer_slots_max(const struct tracer *tracer);
struct tt_losses tracer_losses(const struct tracer *tracer);

/* The rung sees no events: no single delays, no wakers, sleep sites as samples. */
bool tracer_polls(const struct tracer *tracer);

/* It sees in which system call a thread sleeps, and the call's arguments. */
bool tracer_sees_calls(const struct tracer *tracer);

/* Events that user space handled, or readings that it made; UNKNOWN_COUNT where programs in the kernel do. */
int64_t tracer_events(const struct tracer *tracer);

/* What one program cost while BPF statistics were on. */
struct program_cost {
	char name[32];
	uint64_t runs;
	uint64_t ns;
};

#define TRACER_PROGRAMS 96

/* Returns the number of programs. */
int tracer_program_costs(const struct tracer *tracer, struct program_cost costs[TRACER_PROGRAMS]);

#endif
