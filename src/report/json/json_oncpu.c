/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json/json_values.h"

static json_t *id_or_null(pid_t id)
{
	return id ? json_integer(id) : json_null();
}

json_t *json_oncpu_samples(const struct oncpu_samples *samples)
{
	json_t *object;

	if (samples->total == UNKNOWN_COUNT)
		return json_null();
	object = json_object();
	json_put(&object, "total", json_count(samples->total));
	json_put(&object, "kernel", json_count(samples->kernel));
	json_put(&object, "gpu_spin", json_count(samples->gpu_spin));
	json_put(&object, "spin", json_count(samples->spin));
	return object;
}

static json_t *site_json(const struct oncpu_site *site)
{
	json_t *object = json_object();

	json_put(&object, "tid", id_or_null(site->tid));
	json_put(&object, "pid", id_or_null(site->pid));
	json_put(&object, "group", json_bytes(site->group, sizeof(site->group)));
	json_put(&object, "library", json_text(site->library));
	json_put(&object, "function", json_text(site->function));
	json_put(&object, "kernel", json_text(site->kernel));
	json_put(&object, "kind", json_string(oncpu_kind_name(site->kind)));
	json_put(&object, "samples", json_count(site->samples));
	return object;
}

json_t *json_oncpu(const struct session *session)
{
	json_t *sites;

	if (!session->oncpu_hz)
		return json_null();
	sites = json_array();
	for (size_t i = 0; i < session->noncpu; i++)
		json_push(&sites, site_json(&session->oncpu[i]));
	return sites;
}

static json_t *fault_site_json(const struct fault_site *site)
{
	json_t *object = json_object();

	json_put(&object, "tid", id_or_null(site->tid));
	json_put(&object, "pid", id_or_null(site->pid));
	json_put(&object, "group", json_bytes(site->group, sizeof(site->group)));
	json_put(&object, "mapping", json_text(site->mapping));
	json_put(&object, "kind", json_string(site->kind));
	json_put(&object, "minor", json_count(site->minor));
	json_put(&object, "major", json_count(site->major));
	return object;
}

static json_t *series_json(const struct fault_series *series)
{
	json_t *object, *minor, *major;

	if (!series)
		return json_null();
	object = json_object();
	minor = json_array();
	major = json_array();
	for (size_t i = 0; i < series->n; i++) {
		json_push(&minor, json_integer(series->points[i].minor));
		json_push(&major, json_integer(series->points[i].major));
	}
	json_put(&object, "interval_ns", json_count(series->interval_ns));
	json_put(&object, "minor", minor);
	json_put(&object, "major", major);
	return object;
}

json_t *json_faults(const struct session *session)
{
	const struct fault_summary *faults = &session->faults;
	json_t *object, *sites;

	if (!faults->measured)
		return json_null();
	object = json_object();
	sites = json_array();
	for (size_t i = 0; i < faults->nsites; i++)
		json_push(&sites, fault_site_json(&faults->sites[i]));
	json_put(&object, "minor", json_count(faults->minor));
	json_put(&object, "major", json_count(faults->major));
	json_put(&object, "anonymous", json_count(faults->anonymous));
	json_put(&object, "swap_ins", json_count(faults->swap_ins));
	json_put(&object, "file_reads", json_count(faults->file_reads));
	json_put(&object, "rss_growth_bytes", json_count(faults->rss_growth_bytes));
	json_put(&object, "sites", sites);
	json_put(&object, "series", series_json(faults->series));
	return object;
}
