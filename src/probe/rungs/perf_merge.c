/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/perf_merge.h"

#include <string.h>

void merge_set_head(struct event_source *source, uint64_t head)
{
	uint64_t used = head - source->ring.position;

	source->ring.head = head;
	source->full = used + PERF_RING_NEARLY_FULL > source->ring.size;
}

/* When the record after a LOST one was written: from then on nothing is missing. */
static uint64_t time_of_next(const struct event_source *source)
{
	struct perf_ring ahead = source->ring;
	const struct perf_event_header *header;
	uint64_t time_ns;
	bool damaged = false;

	header = perf_ring_next(&ahead, &damaged);
	if (!header || header->type != PERF_RECORD_SAMPLE ||
	    header->size < sizeof(*header) + sizeof(time_ns))
		return MERGE_UNTIL_READ;
	memcpy(&time_ns, header + 1, sizeof(time_ns));
	return time_ns;
}

static void set_lost(struct event_source *source, uint64_t count, uint64_t until_ns)
{
	source->next = (struct trace_event){
		.time_ns = source->last_ns,
		.kind = EVENT_LOST,
		.cpu = source->cpu,
		.tid = count < UINT32_MAX ? (__u32)count : UINT32_MAX,
		.until_ns = until_ns,
	};
	source->has_next = true;
}

static bool take_sample(const struct event_merge *merge, struct event_source *source,
			const struct perf_event_header *header)
{
	struct trace_event *next = &source->next;
	struct perf_sample sample;

	if (!perf_sample_parse(header, source->stacks, &sample))
		return false;
	source->last_ns = sample.time_ns;
	next->time_ns = sample.time_ns;
	next->cpu = source->cpu;
	if (!event_decode(merge->formats, sample.raw, sample.raw_size, next))
		return false;
	if (source->stacks) {
		next->kind = EVENT_STACK;
		next->nframes = event_kernel_frames(sample.frames, sample.nframes, source->frames);
		next->frames = source->frames;
	}
	return true;
}

static void take_next(struct event_merge *merge, struct event_source *source)
{
	const struct perf_event_header *header;
	bool damaged = false;

	while (!source->has_next && (header = perf_ring_next(&source->ring, &damaged))) {
		if (header->type == PERF_RECORD_SAMPLE) {
			source->has_next = take_sample(merge, source, header);
			merge->damaged += !source->has_next;
		} else if (header->type == PERF_RECORD_LOST && source->stacks) {
			merge->stacks_lost += perf_lost_count(header);
		} else if (header->type == PERF_RECORD_LOST) {
			set_lost(source, perf_lost_count(header), time_of_next(source));
		}
	}
	merge->damaged += damaged;
	if (!source->has_next && (source->full || damaged) && !source->stacks)
		set_lost(source, 0, MERGE_UNTIL_READ);
	if (source->has_next && source->next.kind == EVENT_LOST)
		source->full = false;
}

const struct trace_event *merge_next(struct event_merge *merge, uint64_t horizon_ns)
{
	struct event_source *first = NULL;

	for (int i = 0; i < merge->n; i++) {
		struct event_source *source = merge->sources[i];

		if (!source->has_next)
			take_next(merge, source);
		if (source->has_next && source->next.time_ns < horizon_ns &&
		    (!first || source->next.time_ns < first->next.time_ns))
			first = source;
	}
	if (!first)
		return NULL;
	first->has_next = false;
	if (first->next.kind != EVENT_LOST)
		merge->events++;
	return &first->next;
}
