/* SPDX-License-Identifier: GPL-2.0-only */
/* What the block I/O programs, their state machine (block_state.h) and the loader share. */
#ifndef __TEGRATRACE_BLOCK_H
#define __TEGRATRACE_BLOCK_H

#include "abi.h"

enum tt_block_op {
	TT_BLOCK_READ,
	TT_BLOCK_WRITE,
	TT_BLOCK_FLUSH,
	TT_BLOCK_DISCARD,
	TT_BLOCK_OTHER, /* write zeroes, zone management, passed-through commands */
	TT_BLOCK_OPS,

	TT_BLOCK_FLUSH_WAITING = TT_BLOCK_OPS, /* only in keys: asked for, not issued */
};

#define TT_BLOCK_SECTOR_SHIFT 9

#define TT_BLOCK_REQUESTS 8192 /* under way at once */
#define TT_BLOCK_ROWS	  256

/* The flush machinery runs one flush a hardware queue; more at once are counted as unmatched. */
#define TT_BLOCK_FLUSHES 4

/* What is read of an event's record, from its start, and where in it the fields lie. */
#define TT_BLOCK_RECORD_BYTES 64

struct tt_block_fields {
	__u32 dev;
	__u32 sector;
	__u32 size; /* in sectors; of an issue, in bytes */
	__u32 rwbs;
};

struct tt_block_event {
	__u64 sector;
	__u32 dev; /* as the kernel has it: major << 20 | minor */
	__u32 bytes;
	__u32 op;
	bool preflush; /* the device's cache is flushed before it */
};

struct tt_block_key {
	__u32 dev;
	__u32 op;
	__u64 sector; /* where the rest of it begins; of a flush under way, a number */
};

struct tt_block_request {
	__u64 t_queue_ns; /* allocated; 0 = not seen */
	__u64 t_issue_ns; /* 0 = in the queue */
	__u32 bytes;	  /* at the issue */
	__u32 left;	  /* of them */
	__u32 slot;	  /* of the submitter; 0 = not traced, or not seen */
	__u32 tid;
	__u32 tgid;
	__u32 pad;
};

struct tt_block_delay {
	__u64 count;
	__u64 sum_ns;
	__u64 max_ns;
	__u32 hist[TT_HIST_BUCKETS];
};

/* One device and operation, of the target or of all others. */
struct tt_block_row_key {
	__u32 dev;
	__u16 op;
	__u16 target;
};

struct tt_block_row {
	__u64 count;
	__u64 bytes;
	struct tt_block_delay queue;
	struct tt_block_delay device;
};

/* Reads and writes of one slot. Several CPUs may complete its requests at once. */
struct tt_block_io {
	__u64 reads, writes;
	__u64 read_bytes, write_bytes;
	__u64 queue_ns, device_ns;
	__u32 tid; /* whose; requests of an earlier owner of the slot are left out */
	__u32 pad[3];
};

_Static_assert(sizeof(struct tt_block_io) == 64, "one cache line");

struct tt_block_losses {
	__u64 unmatched; /* completed, and the issue was not seen */
	__u64 dropped;	 /* a table was full or busy */
};

#endif /* __TEGRATRACE_BLOCK_H */
