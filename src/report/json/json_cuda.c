/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json/json_values.h"

json_t *json_thread_cuda(const struct cuda_account *cuda)
{
	json_t *object;

	if (cuda->sync_calls == UNKNOWN_COUNT)
		return json_null();
	object = json_object();
	json_put(&object, "sync_calls", json_count(cuda->sync_calls));
	json_put(&object, "sync_ns", json_count(cuda->sync_ns));
	json_put(&object, "polls", json_count(cuda->polls));
	json_put(&object, "poll_ns", json_count(cuda->poll_ns));
	json_put(&object, "spin_ns", json_count(cuda->spin_ns));
	json_put(&object, "launches", json_count(cuda->launches));
	json_put(&object, "graph_launches", json_count(cuda->graph_launches));
	json_put(&object, "launch_ns", json_count(cuda->launch_ns));
	json_put(&object, "copies", json_count(cuda->copies));
	json_put(&object, "copy_bytes", json_count(cuda->copy_bytes));
	return object;
}

static json_t *kinds_json(const struct cuda_summary *cuda)
{
	json_t *kinds = json_object();

	for (int i = 0; i < CUDA_KINDS; i++) {
		const struct cuda_kind_sum *sum = &cuda->kinds[i];
		json_t *kind = json_object();

		json_put(&kind, "calls", json_count(sum->calls));
		json_put(&kind, "ns", json_count(sum->ns));
		json_put(&kind, "oncpu_ns", json_count(sum->oncpu_ns));
		json_put(&kind, "bytes", json_count(sum->bytes));
		json_put(&kinds, sum->name, kind);
	}
	return kinds;
}

static json_t *iterations_json(const struct iterations *iterations)
{
	static const char *const sources[] = {
		[ITER_SYNC] = "waits",
		[ITER_PROBE] = "probe",
	};
	json_t *object = json_object();

	json_put(&object, "source",
		 iterations->source ? json_string(sources[iterations->source]) : json_null());
	json_put(&object, "count", json_count(iterations->count));
	json_put(&object, "waits_each",
		 iterations->syncs ? json_integer(iterations->syncs) : json_null());
	json_put(&object, "mean_ns", json_count(iterations->mean_ns));
	json_put(&object, "p50_ns", json_count(iterations->p50_ns));
	json_put(&object, "p99_ns", json_count(iterations->p99_ns));
	json_put(&object, "attached_ns", json_count(iterations->attached_ns));
	json_put(&object, "note", json_text(iterations->note));
	return object;
}

json_t *json_cuda(const struct cuda_summary *cuda)
{
	json_t *object = json_object();

	json_put(&object, "state", json_string(cuda_state_name(cuda->state)));
	json_put(&object, "mode", json_string(cuda_mode_name(cuda->mode)));
	json_put(&object, "library", json_text(cuda->library));
	json_put(&object, "libraries", json_integer(cuda->libraries));
	json_put(&object, "note", json_text(cuda->note));
	json_put(&object, "attached_ns", json_count(cuda->attached_ns));
	json_put(&object, "calls", kinds_json(cuda));
	json_put(&object, "nested", json_count(cuda->nested));
	json_put(&object, "lost", json_count(cuda->lost));
	json_put(&object, "cut", json_count(cuda->cut));
	json_put(&object, "feeder",
		 cuda->feeder_tid ? json_integer(cuda->feeder_tid) : json_null());
	json_put(&object, "iterations", iterations_json(&cuda->iterations));
	json_put(&object, "ns_per_call", json_number(cuda->ns_per_call));
	return object;
}
