/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "report/json/json_values.h"

static json_t *id_or_null(pid_t id)
{
	return id ? json_integer(id) : json_null();
}

static json_t *waker_json(const struct wait_edge *edge)
{
	json_t *waker = json_object();

	json_put(&waker, "kind", json_string(waker_kind_name(edge->waker_kind)));
	json_put(&waker, "tid", id_or_null(edge->waker_tid));
	json_put(&waker, "pid", id_or_null(edge->waker_pid));
	json_put(&waker, "name", json_text(edge->waker));
	return waker;
}

static json_t *edge_json(const struct wait_edge *edge)
{
	json_t *object = json_object();

	json_put(&object, "waiter", id_or_null(edge->tid));
	json_put(&object, "pid", json_integer(edge->pid));
	json_put(&object, "group", json_bytes(edge->group, sizeof(edge->group)));
	json_put(&object, "waker", waker_json(edge));
	json_put(&object, "class", json_string(wait_class_name(edge->class)));
	json_put(&object, "site", json_text(edge->site));
	json_put(&object, "via", json_text(edge->via));
	json_put(&object, "ns", json_count(edge->ns));
	json_put(&object, "count", json_count(edge->count));
	json_put(&object, "max_ns", json_count(edge->max_ns));
	json_put(&object, "stack", edge->stack < 0 ? json_null() : json_integer(edge->stack));
	return object;
}

json_t *json_edges(const struct session *session)
{
	json_t *edges = json_array();

	for (size_t i = 0; i < session->nedges; i++)
		json_push(&edges, edge_json(&session->edges[i]));
	return edges;
}

static json_t *frames_json(const char *folded)
{
	json_t *frames = json_array();

	for (const char *end; folded && *folded; folded = *end ? end + 1 : end) {
		end = strchrnul(folded, ';');
		json_push(&frames, json_bytes(folded, end - folded));
	}
	return frames;
}

static json_t *stack_json(const struct wait_stack *stack)
{
	json_t *object = json_object();

	json_put(&object, "tid", id_or_null(stack->tid));
	json_put(&object, "pid", json_integer(stack->pid));
	json_put(&object, "group", json_bytes(stack->group, sizeof(stack->group)));
	json_put(&object, "class", json_string(wait_class_name(stack->class)));
	json_put(&object, "frames", frames_json(stack->frames));
	json_put(&object, "ns", json_count(stack->ns));
	json_put(&object, "count", json_count(stack->count));
	return object;
}

json_t *json_stacks(const struct session *session)
{
	json_t *stacks = json_array();

	for (size_t i = 0; i < session->nstacks; i++)
		json_push(&stacks, stack_json(&session->stacks[i]));
	return stacks;
}

json_t *json_wait_coverage(const struct session *session)
{
	json_t *waits = json_object();

	json_put(&waits, "ns", json_count(session->waits.ns));
	json_put(&waits, "with_stack_ns", json_count(session->waits.with_stack_ns));
	json_put(&waits, "estimated_ns", json_count(session->waits.estimated_ns));
	return waits;
}
