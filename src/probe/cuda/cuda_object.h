/* SPDX-License-Identifier: GPL-2.0-only */
/* The loaded uprobe programs of bpf/cuda.bpf.c and what they are attached to. Private to cuda.c. */
#ifndef TEGRATRACE_CUDA_OBJECT_H
#define TEGRATRACE_CUDA_OBJECT_H

#include <bpf/libbpf.h>
#include <linux/types.h>

#include "cuda_abi.h"
#include "probe/cuda/cuda_iter_spec.h"
#include "probe/cuda/cuda_target.h"
#include "probe/tracer.h"

#define CUDA_REASON 192 /* as capability.why and the notes of the session */

struct cuda_object {
	struct cuda *skeleton; /* NULL = not loaded */
	const struct bpf_object *object;
	struct tt_window *window;
	struct tt_cuda *records; /* by slot, shared with the programs */
	size_t records_size;
	int threads_fd; /* the scheduler object's records */
	int series_fd, free_series_fd;
	bool multi; /* links of many probes (uprobe_multi) */
	struct cuda_link *links;
	int nlinks;
	int functions, pushes; /* probed, and those that begin with a push */
};

/* Load the programs and share the tracer's maps. Returns 0 or -errno with a reason. */
int cuda_object_open(struct cuda_object *object, const struct tracer *tracer, bool iter_by_probe,
		     char reason[CUDA_REASON]);
void cuda_object_close(struct cuda_object *object);

/*
 * Attach to the calls that the file has, in all processes that map it now or later. Returns how
 * many, or -errno with a reason (-ENOENT: it has none of them).
 */
int cuda_object_attach_calls(struct cuda_object *object, const struct target_file *file,
			     enum cuda_mode mode, char reason[CUDA_REASON]);

/* Attach to what --iter names. Returns 0 or -errno with a reason (-ENOENT: it is not there). */
int cuda_object_attach_iteration(struct cuda_object *object, const struct target_file *file,
				 const struct iter_spec *spec, char reason[CUDA_REASON]);

/* Events that did not fit into the ring of the timeline; 0 while nothing is loaded. */
__u64 cuda_object_timeline_lost(const struct cuda_object *object);

/* A thread's series, which is then free for another. */
void cuda_object_take_series(struct cuda_object *object, __u32 index,
			     struct tt_cuda_series *series);

/*
 * What entry and return probe add to a call, measured on a function of our own: the traps, which
 * are nearly all of it. NAN when it cannot be.
 */
double cuda_object_cost_ns(struct cuda_object *object);

#endif
