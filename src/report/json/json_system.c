/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json/json_values.h"

static json_t *id_or_null(pid_t id)
{
	return id > 0 ? json_integer(id) : json_null();
}

static json_t *name_or_null(const char *name)
{
	return name ? json_string(name) : json_null();
}

static json_t *stall_json(const struct stall *stall)
{
	json_t *object = json_object();

	json_put(&object, "some_ns", json_count(stall->some_ns));
	json_put(&object, "full_ns", json_count(stall->full_ns));
	return object;
}

static json_t *stalls_json(const struct pressure *pressure)
{
	json_t *object = json_object();

	for (int i = 0; i < STALL_RESOURCES; i++)
		json_put(&object, stall_resource_name(i), stall_json(&pressure->stalls[i]));
	return object;
}

static json_t *vm_json(const int64_t count[VM_EVENTS])
{
	json_t *object = json_object();

	for (int i = 0; i < VM_EVENTS; i++)
		json_put(&object, vm_event_name(i), json_count(count[i]));
	return object;
}

/* What was counted from the point before to this one. */
static json_t *point_json(const struct vm_point *before, const struct vm_point *point)
{
	json_t *object;
	int64_t count[VM_EVENTS];

	for (int i = 0; i < VM_EVENTS; i++) {
		bool known = before->count[i] >= 0 && point->count[i] >= before->count[i];

		count[i] = known ? point->count[i] - before->count[i] : UNKNOWN_COUNT;
	}
	object = vm_json(count);
	json_put(&object, "t_ns", json_count(before->t_ns));
	json_put(&object, "duration_ns", json_count(point->t_ns - before->t_ns));
	json_put(&object, "available_bytes", json_count(point->available_bytes));
	return object;
}

static json_t *series_json(const struct pressure *pressure)
{
	json_t *array = json_array();

	for (size_t i = 1; i < pressure->nseries; i++)
		json_push(&array, point_json(&pressure->series[i - 1], &pressure->series[i]));
	return array;
}

static json_t *swaps_json(const struct pressure *pressure)
{
	json_t *array = pressure->nswaps < 0 ? json_null() : json_array();

	for (int i = 0; i < pressure->nswaps; i++) {
		const struct swap_device *swap = &pressure->swaps[i];
		json_t *object = json_object();

		json_put(&object, "name", json_bytes(swap->name, sizeof(swap->name)));
		json_put(&object, "kind", json_string(swap_kind_name(swap->kind)));
		json_put(&object, "size_bytes", json_count(swap->size_bytes));
		json_put(&object, "used_bytes", json_count(swap->used_bytes));
		json_push(&array, object);
	}
	return array;
}

static json_t *quotas_json(const struct pressure *pressure)
{
	json_t *array = pressure->nquotas < 0 ? json_null() : json_array();

	for (int i = 0; i < pressure->nquotas; i++) {
		const struct cpu_quota *quota = &pressure->quotas[i];
		json_t *object = json_object();

		json_put(&object, "cgroup", json_bytes(quota->cgroup, sizeof(quota->cgroup)));
		json_put(&object, "version", json_integer(quota->version));
		json_put(&object, "pid", json_integer(quota->pid));
		json_put(&object, "cpus", json_number(quota->cpus));
		json_put(&object, "periods", json_count(quota->periods));
		json_put(&object, "throttled_periods", json_count(quota->throttled_periods));
		json_put(&object, "throttled_share", json_number(cpu_quota_throttled(quota)));
		json_put(&object, "throttled_ns", json_count(quota->throttled_ns));
		json_push(&array, object);
	}
	return array;
}

static json_t *limits_json(const struct pressure *pressure)
{
	json_t *array = pressure->nlimits < 0 ? json_null() : json_array();

	for (int i = 0; i < pressure->nlimits; i++) {
		const struct memory_limit *limit = &pressure->limits[i];
		json_t *object = json_object();

		json_put(&object, "cgroup", json_bytes(limit->cgroup, sizeof(limit->cgroup)));
		json_put(&object, "version", json_integer(limit->version));
		json_put(&object, "pid", json_integer(limit->pid));
		json_put(&object, "limit_bytes", json_count(limit->limit_bytes));
		json_put(&object, "used_bytes", json_count(limit->used_bytes));
		json_put(&object, "reclaims", json_count(limit->reclaims));
		json_put(&object, "oom_kills", json_count(limit->oom_kills));
		json_put(&object, "stall", stall_json(&limit->stall));
		json_push(&array, object);
	}
	return array;
}

json_t *json_pressure(const struct session *session)
{
	const struct pressure *pressure = &session->pressure;
	json_t *object;

	if (!pressure->measured)
		return json_null();
	object = json_object();
	json_put(&object, "stalls", stalls_json(pressure));
	json_put(&object, "total_bytes", json_count(pressure->total_bytes));
	json_put(&object, "available_min_bytes", json_count(pressure->available_min_bytes));
	json_put(&object, "vm", vm_json(pressure->vm));
	json_put(&object, "swaps", swaps_json(pressure));
	json_put(&object, "cpu_quotas", quotas_json(pressure));
	json_put(&object, "memory_limits", limits_json(pressure));
	json_put(&object, "rt_runtime_us", json_count(pressure->rt_runtime_us));
	json_put(&object, "rt_period_us", json_count(pressure->rt_period_us));
	json_put(&object, "series", series_json(pressure));
	return object;
}

static json_t *holder_json(const struct cpu_holder *row)
{
	json_t *holder = json_object();

	json_put(&holder, "kind", json_string(holder_kind_name(row->kind)));
	json_put(&holder, "pid", id_or_null(row->holder_pid));
	json_put(&holder, "tid", id_or_null(row->holder_tid));
	json_put(&holder, "name", json_text(row->name));
	json_put(&holder, "process", json_text(row->process));
	json_put(&holder, "policy", name_or_null(sched_policy_name(row->policy)));
	json_put(&holder, "rt_priority",
		 row->rt_priority < 0 ? json_null() : json_integer(row->rt_priority));
	return holder;
}

json_t *json_cpu_holders(const struct session *session)
{
	json_t *array = session->cpu_holders_measured ? json_array() : json_null();

	for (size_t i = 0; i < session->ncpu_holders; i++) {
		const struct cpu_holder *row = &session->cpu_holders[i];
		json_t *object = json_object();

		json_put(&object, "waiter", id_or_null(row->tid));
		json_put(&object, "pid", json_integer(row->pid));
		json_put(&object, "group", json_bytes(row->group, sizeof(row->group)));
		json_put(&object, "holder", holder_json(row));
		json_put(&object, "ns", json_count(row->ns));
		json_put(&object, "count", json_count(row->count));
		json_put(&object, "waited_ns", json_count(row->waited_ns));
		json_put(&object, "share", json_number(row->share));
		json_push(&array, object);
	}
	return array;
}

json_t *json_top_processes(const struct session *session)
{
	json_t *array = session->ntop_processes < 0 ? json_null() : json_array();

	for (int i = 0; i < session->ntop_processes && i < TOP_PROCESSES; i++) {
		const struct top_process *process = &session->top_processes[i];
		json_t *object = json_object();

		json_put(&object, "pid", json_integer(process->pid));
		json_put(&object, "comm", json_bytes(process->comm, sizeof(process->comm)));
		json_put(&object, "cpu_share", json_number(process->cpu_share));
		json_push(&array, object);
	}
	return array;
}
