/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/perf_ring.h"

#include <string.h>

const struct perf_event_header *perf_ring_next(struct perf_ring *ring, bool *damaged)
{
	size_t offset = ring->position & (ring->size - 1), first = ring->size - offset;
	const struct perf_event_header *header = (const void *)(ring->data + offset);
	uint64_t left = ring->head - ring->position;

	if (!left)
		return NULL;
	/* records are multiples of 8 bytes, so a header never wraps around */
	if (left > ring->size || left < sizeof(*header) || header->size < sizeof(*header) ||
	    header->size > left || header->size % 8) {
		ring->position = ring->head;
		*damaged = true;
		return NULL;
	}
	ring->position += header->size;
	if (header->size <= first)
		return header;
	memcpy(ring->scratch, header, first);
	memcpy(ring->scratch + first, ring->data, header->size - first);
	return (const void *)ring->scratch;
}

bool perf_sample_parse(const struct perf_event_header *header, bool callchain,
		       struct perf_sample *sample)
{
	const char *at = (const char *)(header + 1);
	size_t left = header->size - sizeof(*header);

	memset(sample, 0, sizeof(*sample));
	if (left < sizeof(uint64_t))
		return false;
	memcpy(&sample->time_ns, at, sizeof(uint64_t));
	at += sizeof(uint64_t);
	left -= sizeof(uint64_t);
	if (callchain) {
		if (left < sizeof(uint64_t))
			return false;
		memcpy(&sample->nframes, at, sizeof(uint64_t));
		at += sizeof(uint64_t);
		left -= sizeof(uint64_t);
		if (sample->nframes > left / sizeof(uint64_t))
			return false;
		sample->frames = (const void *)at;
		at += sample->nframes * sizeof(uint64_t);
		left -= sample->nframes * sizeof(uint64_t);
	}
	if (left < sizeof(uint32_t))
		return false;
	memcpy(&sample->raw_size, at, sizeof(uint32_t));
	sample->raw = at + sizeof(uint32_t);
	return sample->raw_size <= left - sizeof(uint32_t);
}

uint64_t perf_lost_count(const struct perf_event_header *header)
{
	/* header, id, lost */
	uint64_t lost = 0;

	if (header->size >= sizeof(*header) + 2 * sizeof(uint64_t))
		memcpy(&lost, (const char *)(header + 1) + sizeof(uint64_t), sizeof(lost));
	return lost;
}
