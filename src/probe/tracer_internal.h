/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by tracer.c, which loads and attaches, and tracer_records.c, which has the threads' records. */
#ifndef TEGRATRACE_TRACER_INTERNAL_H
#define TEGRATRACE_TRACER_INTERNAL_H

#include "probe/rungs/records.h"
#include "probe/rungs/rung.h"
#include "probe/tracer.h"

#define TRACER_OTHERS 8

struct tracer {
	const struct rung_ops *ops;
	struct rung_objects objects;
	struct records *records; /* NULL: the maps of the programs */
	bool attached;
	__u32 slots; /* numbers 1 .. slots - 1 */
	__u32 pid_max;
	struct tt_thread *threads; /* shared with the programs */
	size_t threads_size;
	struct tt_slot_line *lines; /* likewise: tid -> slot */
	size_t lines_size;
	int free_fd;
	__u32 used; /* highest slot ever seen in use */
	unsigned char *seen_dead;
	struct {
		const struct bpf_object *object;
		struct tt_window *window;
	} others[TRACER_OTHERS]; /* of other probes */
	int nothers;
};

/* Maps the records of the rung that is loaded. 0 or -errno. */
int tracer_set_up_slots(struct tracer *tracer);

#endif
