/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests by block device, operation and submitter. Filled by src/probe/block_io.c. */
#ifndef TEGRATRACE_SESSION_BLOCK_IO_H
#define TEGRATRACE_SESSION_BLOCK_IO_H

#include <stdbool.h>
#include <stdint.h>

/* As enum tt_block_op of bpf/block.h. */
enum block_op {
	BLOCK_READ,
	BLOCK_WRITE,
	BLOCK_FLUSH,
	BLOCK_DISCARD,
	BLOCK_OTHER,
	BLOCK_OPS,
};

/* "read", "write", ... */
const char *block_op_name(enum block_op op);

#define BLOCK_HIST_BUCKETS 28 /* the buckets of run-queue delays */

/* Delays that began and ended inside the window. */
struct block_delay {
	int64_t count;
	int64_t sum_ns;
	int64_t max_ns;
	uint32_t hist[BLOCK_HIST_BUCKETS];
};

/* Of traced threads (`target`), or of all others. */
struct block_row {
	char device[32]; /* "nvme0n1", sanitised; "259:0" where it has no name */
	enum block_op op;
	bool target;
	int64_t count; /* issued in the window */
	int64_t bytes;
	struct block_delay queue;      /* from the request's allocation to its issue */
	struct block_delay device_lat; /* from there to its completion */
};

/* Mean in ns, and quantile q (0-1) as of run-queue delays; UNKNOWN_NS without a delay. */
int64_t block_mean_ns(const struct block_delay *delay);
int64_t block_quantile_ns(const struct block_delay *delay, double q);

#endif
