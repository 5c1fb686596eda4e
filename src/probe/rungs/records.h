/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the scheduler programs keep in BPF maps, in plain memory: for the rungs that account in user
 * space. One thread of such a rung writes; the loader reads the records as it reads those that the
 * programs write. Private to src/probe.
 */
#ifndef TEGRATRACE_RECORDS_H
#define TEGRATRACE_RECORDS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "abi.h"
#include "base/hash_table.h"

struct records {
	struct tt_thread *threads; /* by slot; 0 not used */
	struct tt_slot_line *lines;
	size_t threads_size, lines_size; /* bytes */
	__u32 slots, pid_max;
	pthread_mutex_t lock; /* of all below */
	__u32 *free_slots;
	__u32 nfree;
	__u32 used;		    /* highest slot ever taken */
	struct hash_table *edges;   /* tt_edge_key -> tt_edge */
	struct hash_table *holders; /* tt_holder_key -> tt_holder */
	struct hash_table *stacks;  /* __u64 -> tt_stack */
};

/* NULL when out of memory. Pages are only taken as they are used. */
struct records *records_new(__u32 slots, __u32 pid_max);
void records_free(struct records *records);

/* 0 = every slot is taken. With the lock held. */
__u32 records_take_slot(struct records *records);
void records_give_slot(struct records *records, __u32 slot);

/* NULL beyond pid_max. */
__u16 *records_slot_ref(const struct records *records, __u32 tid);

#endif
