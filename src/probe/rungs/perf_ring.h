/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of a perf ring buffer. Pure: over memory that the kernel, or a test, has filled.
 * Layouts: enum perf_event_type in linux/perf_event.h. Private to src/probe.
 */
#ifndef TEGRATRACE_PERF_RING_H
#define TEGRATRACE_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* header.size is 16 bits wide */
#define PERF_RECORD_MAX 65536

/* A ring has less room than this left: the kernel may have dropped what did not fit. */
#define PERF_RING_NEARLY_FULL 4096

struct perf_ring {
	const char *data;
	size_t size;	   /* bytes, a power of two */
	uint64_t position; /* of the next record */
	uint64_t head;	   /* records end here */
	char *scratch;	   /* PERF_RECORD_MAX bytes, for a record that wraps around */
};

/*
 * The next record, in one piece, and moves on; valid until the next call. NULL at the head, and for
 * a record that cannot be one (then the rest up to the head is skipped and *damaged set).
 */
const struct perf_event_header *perf_ring_next(struct perf_ring *ring, bool *damaged);

/* Of PERF_RECORD_SAMPLE with PERF_SAMPLE_TIME, PERF_SAMPLE_RAW and, if so, PERF_SAMPLE_CALLCHAIN. */
struct perf_sample {
	uint64_t time_ns;
	const void *raw;
	uint32_t raw_size;
	const uint64_t *frames; /* kernel and user addresses, and markers of context */
	uint64_t nframes;
};

/* False when it is cut. */
bool perf_sample_parse(const struct perf_event_header *header, bool callchain,
		       struct perf_sample *sample);

/* Number of records that PERF_RECORD_LOST tells of. */
uint64_t perf_lost_count(const struct perf_event_header *header);

#endif
