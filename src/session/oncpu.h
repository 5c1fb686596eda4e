/* SPDX-License-Identifier: GPL-2.0-only */
/* Where threads burned their CPU time, by samples. Filled by src/probe/samples/samples.c. */
#ifndef TEGRATRACE_ONCPU_H
#define TEGRATRACE_ONCPU_H

#include <stdint.h>
#include <sys/types.h>

enum oncpu_kind {
	ONCPU_WORK,
	ONCPU_GPU_SPIN, /* burns the CPU to wait for the GPU */
	ONCPU_SPIN,	/* burns it to wait for another thread or a lock */
	ONCPU_KINDS,
};

/* "work", "gpu-spin", "spin": samples[].kind in the JSON. */
const char *oncpu_kind_name(enum oncpu_kind kind);

/* Samples of a thread; UNKNOWN_COUNT where none are taken. */
struct oncpu_samples {
	int64_t total;
	int64_t kernel; /* in kernel mode */
	int64_t gpu_spin;
	int64_t spin;
};

void oncpu_samples_init(struct oncpu_samples *samples);

/* Samples of one thread in one function. All text is sanitised; "" = unknown. */
struct oncpu_site {
	pid_t pid, tid; /* tid 0: exited threads of this group */
	char group[32];
	char library[64];   /* "libjpeg.so.62", "[vdso]", "[anon]" */
	char function[128]; /* of user space; in kernel mode the one that made the system call */
	char kernel[64];    /* kernel function; "?" in kernel mode and not known; "" in user mode */
	enum oncpu_kind kind;
	int64_t samples;
};

/* A whole stack, as of wait_stack: only with --user-stacks. */
struct oncpu_stack {
	pid_t pid, tid;
	char group[32];
	enum oncpu_kind kind;
	char *frames; /* malloc'd; outermost first, ";" between, kernel frames end in "_[k]" */
	int64_t samples;
};

#endif
