/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json/json_series.h"

#include <math.h>
#include <stdio.h>

#include "report/json/json.h"
#include "report/json/json_values.h"

/* A float of each row as a list; rows are `stride` bytes long. */
static json_t *floats(const void *rows, size_t offset, size_t n, size_t stride)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		float value = *(const float *)((const char *)rows + i * stride + offset);

		json_push(&list, isfinite(value) ? json_real((double)value) : json_null());
	}
	return list;
}

/* The time is the first field of a row. */
static json_t *times(const void *rows, size_t n, size_t stride)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		int64_t t_ns = *(const int64_t *)((const char *)rows + i * stride);

		json_push(&list, t_ns == UNKNOWN_NS ? json_null()
						    : json_real((double)(t_ns / 1000) / 1e3));
	}
	return list;
}

#define BOARD(field)                                                           \
	floats(series->points, offsetof(struct tegra_point, field), series->n, \
	       sizeof(*series->points))

static void put_board(json_t **object, const struct tegra_series *series, double interval_ms)
{
	json_t *temps = json_object();

	json_put(object, "interval_ms", json_number(interval_ms * fmax(1, series->merged)));
	json_put(object, "t_ms", times(series->points, series->n, sizeof(*series->points)));
	json_put(object, "gpu_busy", BOARD(gpu_busy));
	json_put(object, "gpu_mhz", BOARD(gpu_mhz));
	json_put(object, "emc_busy", BOARD(emc_busy));
	json_put(object, "emc_mhz", BOARD(emc_mhz));
	json_put(&temps, "hottest", BOARD(hottest_c));
	json_put(object, "temps", temps);
	json_put(object, "power_mw", BOARD(power_mw));
	json_put(object, "core_max", BOARD(core_max));
	json_put(object, "ram_mb", BOARD(ram_mb));
	json_put(object, "swap_mb", BOARD(swap_mb));
}

#define HOST(field)                                                           \
	floats(series->points, offsetof(struct host_point, field), series->n, \
	       sizeof(*series->points))

/* Only CPUs that were ever seen. */
static json_t *cpus(const struct host_series *series)
{
	json_t *object = json_object();
	char number[16];

	for (int cpu = 0; cpu < HOST_CPUS; cpu++) {
		size_t i = 0;

		while (i < series->n && isnan(series->points[i].cpu_busy[cpu]))
			i++;
		if (i == series->n)
			continue;
		snprintf(number, sizeof(number), "%d", cpu);
		json_put(&object, number, HOST(cpu_busy[cpu]));
	}
	return object;
}

/* Only classes that a rung, or the version that recorded it, tells apart. */
static json_t *asleep(const struct host_series *series)
{
	json_t *object = json_object();

	for (int c = 0; c < WAIT_CLASSES; c++) {
		size_t i = 0;

		while (i < series->n && isnan(series->points[i].off_threads[c]))
			i++;
		if (i < series->n)
			json_put(&object, wait_class_name((enum wait_class)c),
				 HOST(off_threads[c]));
	}
	return object;
}

static json_t *host(const struct host_series *series)
{
	json_t *object = json_object();

	json_put(&object, "interval_ms",
		 series->n ? json_real((double)series->points[0].span_ns / 1e6) : json_null());
	json_put(&object, "t_ms", times(series->points, series->n, sizeof(*series->points)));
	json_put(&object, "cpus", cpus(series));
	json_put(&object, "oncpu", HOST(oncpu_cpus));
	json_put(&object, "runq", HOST(runq_threads));
	json_put(&object, "stopped", HOST(stopped_threads));
	json_put(&object, "offcpu", asleep(series));
	json_put(&object, "minor_faults", HOST(minor_faults_per_s));
	json_put(&object, "major_faults", HOST(major_faults_per_s));
	json_put(&object, "read_bytes", HOST(read_bytes_per_s));
	json_put(&object, "write_bytes", HOST(write_bytes_per_s));
	return object;
}

json_t *json_series(const struct session *session, const struct verdict *verdict)
{
	json_t *object = json_object();

	put_board(&object, &session->series, session->tegra.interval_ms);
	json_put(&object, "host", host(&session->host_series));
	json_put(&object, "phases", json_phases(verdict));
	return object;
}
