/* SPDX-License-Identifier: GPL-2.0-only */
/* What a rung of the capability ladder gives the tracer. Private to src/probe. */
#ifndef TEGRATRACE_RUNG_H
#define TEGRATRACE_RUNG_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "abi.h"
#include "probe/rungs/records.h"

struct sleep_site;

struct rung_settings {
	bool follow_children;
	bool interrupts; /* tell interrupts from the tasks that they interrupt */
	bool kernel_stacks;
	bool user_stacks;
	const char *btf;	 /* a file for rung raw; NULL: the kernel's own type data */
	__u32 timeline_bytes;	 /* of its ring, a power of two and whole pages; 0 = none */
	__u32 slots;		 /* records, slot 0 not used */
	__u32 pid_max;		 /* tids below this */
	struct records *records; /* of a rung that accounts in user space */
};

/* A loaded rung. */
struct rung_objects {
	void *skeleton;		   /* or what a rung without one keeps */
	struct bpf_object *object; /* NULL: no BPF, the records are in user space */
	struct tt_window *window;  /* shared with the programs */
	struct tt_losses *losses;
	bool interrupts; /* are told apart */
	bool calls;	 /* system calls and their arguments are seen */
};

#define RUNG_REASON_LEN 192

struct rung_ops {
	const char *name;
	bool in_user_space;
	bool polls; /* sees no events: no delays, no wakers */
	/* Returns 0 or -errno with a reason in words. */
	int (*load)(const struct rung_settings *settings, struct rung_objects *objects,
		    char reason[RUNG_REASON_LEN]);
	int (*attach)(struct rung_objects *objects, char reason[RUNG_REASON_LEN]);
	void (*detach)(struct rung_objects *objects);
	void (*destroy)(struct rung_objects *objects);
	/* NULL, or: waits until all events of before are accounted. */
	void (*settle)(struct rung_objects *objects, __u64 until_ns);
	/* Both may be NULL: see tracer_events() and tracer_read_site(). */
	__u64 (*events)(const struct rung_objects *objects);
	int (*read_site)(const struct rung_objects *objects, __u64 key, struct sleep_site *site);
};

extern const struct rung_ops rung_btf;
extern const struct rung_ops rung_raw;
extern const struct rung_ops rung_tracepoint;
extern const struct rung_ops rung_perf;
extern const struct rung_ops rung_proc;

/*
 * Leave out the programs on interrupt and timer events: not asked for, or this kernel has no such
 * events. Returns whether they stay.
 */
bool rung_choose_interrupts(struct bpf_object *object, bool wanted);

/*
 * Before the load: size the ring of the timeline, or leave it out where it is not wanted or not
 * known to the kernel (before 5.8). Returns whether it stays.
 */
bool rung_choose_timeline(struct bpf_object *object, __u32 bytes);

/* Set the sizes of the maps before the load. Returns 0 or -errno. */
int rung_size_maps(struct bpf_object *object, const struct rung_settings *settings);

/*
 * Attach every program of a skeleton that was loaded to the tracepoint that its section names, also where tracefs
 * has no path. Returns 0 or -errno with a reason.
 */
int rung_attach_tracepoints(struct bpf_object_skeleton *skeleton, char reason[RUNG_REASON_LEN]);

/* As many open files as this process may have; each event or probe holds some. */
void rung_raise_file_limit(void);

/* One plain sentence for an errno of a failed load, with what to do. */
void rung_explain_load(int err, char reason[RUNG_REASON_LEN]);

#endif
