/* SPDX-License-Identifier: GPL-2.0-only */
/* What the calls of the CUDA driver library tell: waits for the GPU, launches, copies, iterations. */
#ifndef TEGRATRACE_SESSION_CUDA_H
#define TEGRATRACE_SESSION_CUDA_H

#include <stdint.h>
#include <sys/types.h>

enum cuda_state {
	CUDA_OFF,    /* not asked for */
	CUDA_ABSENT, /* no process of the target has the library */
	CUDA_FAILED, /* it has, and the probes could not be set */
	CUDA_ATTACHED,
};

enum cuda_mode { CUDA_MODE_OFF, CUDA_MODE_SYNC, CUDA_MODE_ALL };

/*
 * Of one thread. Unknown where not measured: all of it without probes; launches and asynchronous
 * copies in the mode "sync".
 */
struct cuda_account {
	int64_t sync_calls; /* synchronisations and synchronous copies */
	int64_t sync_ns;    /* inside them, on a CPU or not */
	int64_t polls;	    /* queries whether the GPU is done */
	int64_t poll_ns;    /* in them, and between those of a loop */
	int64_t spin_ns;    /* part of sync_ns + poll_ns spent on a CPU */
	int64_t launches;   /* of kernels */
	int64_t graph_launches;
	int64_t launch_ns; /* inside both */
	int64_t copies;
	int64_t copy_bytes; /* of those whose call says how many */
};

#define CUDA_KINDS 9

/* All threads: the calls of one kind. */
struct cuda_kind_sum {
	const char *name;   /* "stream_sync" */
	const char *symbol; /* the function that stands for it: "cuStreamSynchronize" */
	int64_t calls, ns, oncpu_ns, bytes; /* unknown where not measured */
};

enum iteration_source {
	ITER_NONE,
	ITER_SYNC,  /* the rhythm of the feeding thread's waits */
	ITER_PROBE, /* what --iter names */
};

struct iterations {
	enum iteration_source source;
	char note[192]; /* why there are none, or a reservation; empty otherwise */
	int64_t count;	/* unknown without */
	int syncs;	/* waits that make one iteration; 0 with a probe */
	int64_t mean_ns, p50_ns, p99_ns;
	int64_t attached_ns; /* as that of the calls below, of a probe; unknown without */
};

struct cuda_summary {
	enum cuda_state state;
	enum cuda_mode mode;
	char library[160];   /* path in the target, sanitised; with several, the first */
	int libraries;	     /* different files */
	char note[192];	     /* why it failed, what was missed; empty otherwise */
	int64_t attached_ns; /* after the window's begin, 0 = before it; unknown */
	struct cuda_kind_sum kinds[CUDA_KINDS];
	int64_t nested; /* calls inside calls, part of the outer ones */
	int64_t lost;	/* calls left without a return: their time is not counted */
	int64_t cut; /* calls open at the window's end or their thread's death: counted until then */
	/* The thread that waits most for the GPU. */
	pid_t feeder_pid, feeder_tid; /* 0 = none */
	char feeder[32];	      /* its group, sanitised */
	int64_t feeder_wall_ns;
	struct cuda_account feeder_calls;
	int feeder_kind; /* of its longest waits; -1 = none */
	int64_t feeder_kind_ns;
	struct iterations iterations;
	double ns_per_call; /* that the probes add; NAN unknown */
};

/* "stream_sync", ...; and the function that stands for the kind, "cuStreamSynchronize". */
const char *cuda_kind_name(int kind);
const char *cuda_kind_symbol(int kind);

void cuda_account_init(struct cuda_account *account);

/* Unknown swallows known. */
void cuda_account_merge(struct cuda_account *into, const struct cuda_account *from);

void cuda_summary_init(struct cuda_summary *summary);

/* "off", "absent", "failed", "attached" */
const char *cuda_state_name(enum cuda_state state);

/* "off", "sync", "all" */
const char *cuda_mode_name(enum cuda_mode mode);

#endif
