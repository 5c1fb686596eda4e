/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/records.h"

#include <stdlib.h>
#include <sys/mman.h>

static void *map_zeroes(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/*
 * The loader may lose its CPU while it holds the lock; a reader of rings that waits for it then lends
 * it its priority.
 */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	if (pthread_mutex_init(lock, &attributes))
		pthread_mutex_init(lock, NULL);
	pthread_mutexattr_destroy(&attributes);
}

struct records *records_new(__u32 slots, __u32 pid_max)
{
	struct records *records = calloc(1, sizeof(*records));

	if (!records)
		return NULL;
	init_lock(&records->lock);
	records->slots = slots;
	records->pid_max = pid_max;
	records->threads_size = slots * sizeof(struct tt_thread);
	records->lines_size =
		(pid_max + TT_TIDS_PER_LINE - 1) / TT_TIDS_PER_LINE * sizeof(struct tt_slot_line);
	records->threads = map_zeroes(records->threads_size);
	records->lines = map_zeroes(records->lines_size);
	records->free_slots = calloc(slots, sizeof(*records->free_slots));
	records->edges =
		hash_table_new(TT_MAX_EDGES, sizeof(struct tt_edge_key), sizeof(struct tt_edge));
	records->holders = hash_table_new(TT_MAX_HOLDERS, sizeof(struct tt_holder_key),
					  sizeof(struct tt_holder));
	records->stacks = hash_table_new(TT_MAX_STACKS, sizeof(__u64), sizeof(struct tt_stack));
	if (!records->threads || !records->lines || !records->free_slots || !records->edges ||
	    !records->holders || !records->stacks) {
		records_free(records);
		return NULL;
	}
	/* The lowest ends on top, so the slots in use stay a dense range from 1. */
	for (__u32 slot = slots - 1; slot > 0; slot--)
		records_give_slot(records, slot);
	return records;
}

void records_free(struct records *records)
{
	if (!records)
		return;
	if (records->threads)
		munmap(records->threads, records->threads_size);
	if (records->lines)
		munmap(records->lines, records->lines_size);
	free(records->free_slots);
	hash_table_free(records->edges);
	hash_table_free(records->holders);
	hash_table_free(records->stacks);
	pthread_mutex_destroy(&records->lock);
	free(records);
}

__u32 records_take_slot(struct records *records)
{
	__u32 slot = records->nfree ? records->free_slots[--records->nfree] : 0;

	if (slot > records->used)
		records->used = slot;
	return slot;
}

void records_give_slot(struct records *records, __u32 slot)
{
	records->free_slots[records->nfree++] = slot;
}

__u16 *records_slot_ref(const struct records *records, __u32 tid)
{
	if (tid >= records->pid_max)
		return NULL;
	return &records->lines[tid >> TT_TID_SHIFT].slot[tid & (TT_TIDS_PER_LINE - 1)];
}
