/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers by a time each, the earliest on top; at one time the lowest number. Private to trace*.c. */
#ifndef TEGRATRACE_REPORT_TRACE_HEAP_H
#define TEGRATRACE_REPORT_TRACE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_heap_item {
	int64_t t_ns;
	uint32_t number;
};

struct trace_heap {
	struct trace_heap_item *items; /* the caller's, with room for all */
	size_t n;
};

static inline bool trace_heap_before(const struct trace_heap_item *a,
				     const struct trace_heap_item *b)
{
	return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->number < b->number;
}

static inline void trace_heap_add(struct trace_heap *heap, int64_t t_ns, uint32_t number)
{
	const struct trace_heap_item item = {t_ns, number};
	size_t i = heap->n++;

	for (; i && trace_heap_before(&item, &heap->items[(i - 1) / 2]); i = (i - 1) / 2)
		heap->items[i] = heap->items[(i - 1) / 2];
	heap->items[i] = item;
}

/* Another time for what lies on top. */
static inline void trace_heap_retime(struct trace_heap *heap, int64_t t_ns)
{
	const struct trace_heap_item item = {t_ns, heap->items[0].number};
	size_t i = 0, child;

	while ((child = 2 * i + 1) < heap->n) {
		if (child + 1 < heap->n &&
		    trace_heap_before(&heap->items[child + 1], &heap->items[child]))
			child++;
		if (!trace_heap_before(&heap->items[child], &item))
			break;
		heap->items[i] = heap->items[child];
		i = child;
	}
	heap->items[i] = item;
}

static inline void trace_heap_drop(struct trace_heap *heap)
{
	const struct trace_heap_item last = heap->items[--heap->n];

	if (!heap->n)
		return;
	heap->items[0].number = last.number;
	trace_heap_retime(heap, last.t_ns);
}

#endif
