/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the machine was short of during the window, as the kernel counts it: stalls, paging, swap,
 * and the limits of the targets' cgroups. Unknown is UNKNOWN_NS / UNKNOWN_COUNT / NAN. Filled by
 * src/probe/machine/pressure.c.
 */
#ifndef TEGRATRACE_PRESSURE_H
#define TEGRATRACE_PRESSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Pressure stall information: time in which some, or all, tasks that wanted to run stalled. */
struct stall {
	int64_t some_ns, full_ns;
};

enum stall_resource { STALL_CPU, STALL_MEMORY, STALL_IO, STALL_RESOURCES };

/* "cpu", "memory", "io": names of the kernel and keys of pressure.stalls in the JSON. */
const char *stall_resource_name(enum stall_resource resource);

/* Events of /proc/vmstat, of the whole machine. Memory limits of cgroups reclaim unseen here. */
enum vm_event {
	VM_FAULTS,
	VM_MAJOR_FAULTS,
	VM_PAGED_IN_BYTES, /* from block devices, file reads included */
	VM_PAGED_OUT_BYTES,
	VM_SWAPPED_IN_BYTES,
	VM_SWAPPED_OUT_BYTES,
	VM_ALLOCATION_STALLS, /* an allocation had to reclaim by itself */
	VM_DIRECT_SCANNED,    /* pages, by those allocations */
	VM_DIRECT_RECLAIMED,
	VM_KSWAPD_SCANNED,
	VM_REFAULTS_FILE, /* pages read again soon after they were dropped */
	VM_REFAULTS_ANON,
	VM_EVENTS,
};

/* "faults", "swapped_in_bytes", ...: keys of pressure.vm in the JSON. */
const char *vm_event_name(enum vm_event event);

/* Counts since the window's begin. */
struct vm_point {
	int64_t t_ns; /* since the window's begin */
	int64_t available_bytes;
	int64_t count[VM_EVENTS];
};

#define VM_SERIES 240 /* points; then every second one is dropped and half as many are taken */

enum swap_kind {
	SWAP_ZRAM, /* compressed memory: a page costs CPU time, not disk time */
	SWAP_DISK,
	SWAP_FILE,
};

/* "zram", "disk", "file" */
const char *swap_kind_name(enum swap_kind kind);

struct swap_device {
	char name[64]; /* sanitised */
	enum swap_kind kind;
	int64_t size_bytes, used_bytes;
};

/* A cgroup of a target, or one above it, that limits CPU time. */
struct cpu_quota {
	char cgroup[256];	   /* sanitised; the end of a long path */
	int version;		   /* 1, 2 */
	pid_t pid;		   /* a target in it */
	double cpus;		   /* that it allows */
	int64_t periods;	   /* in which it had something to run */
	int64_t throttled_periods; /* in which it used up its quota */
	int64_t throttled_ns;	   /* of all CPUs added up: may exceed the window */
};

/* The same for memory. */
struct memory_limit {
	char cgroup[256];
	int version;
	pid_t pid;
	int64_t limit_bytes; /* the lower of high and max */
	int64_t used_bytes;  /* at the end */
	int64_t reclaims;    /* times that it reclaimed because the limit was reached */
	int64_t oom_kills;
	struct stall stall;
};

#define PRESSURE_SWAPS	8
#define PRESSURE_LIMITS 16

struct pressure {
	bool measured;
	struct stall stalls[STALL_RESOURCES];
	int64_t vm[VM_EVENTS]; /* over the window */
	int64_t total_bytes;
	int64_t available_min_bytes; /* lowest of the points */
	struct swap_device swaps[PRESSURE_SWAPS];
	int nswaps; /* -1 unknown */
	struct cpu_quota quotas[PRESSURE_LIMITS];
	int nquotas; /* -1 unknown */
	struct memory_limit limits[PRESSURE_LIMITS];
	int nlimits;			     /* -1 unknown */
	int64_t rt_runtime_us, rt_period_us; /* real-time threads may run so much; -1 = no limit */
	struct vm_point *series;
	size_t nseries;
};

void pressure_init(struct pressure *pressure);
void pressure_free(struct pressure *pressure);

/* Share of its periods in which a group used up its quota; NAN without one. */
double cpu_quota_throttled(const struct cpu_quota *quota);

#endif
