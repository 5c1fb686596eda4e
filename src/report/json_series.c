/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json_series.h"

#include <stddef.h>

#include "report/json_values.h"

/* Stand-in until the recording brings the series of the host: those of tegrastats alone. */
static const struct {
	const char *key;
	size_t offset;
} curves[] = {
	{"gpu_busy", offsetof(struct tegra_point, gpu_busy)},
	{"gpu_mhz", offsetof(struct tegra_point, gpu_mhz)},
	{"emc_busy", offsetof(struct tegra_point, emc_busy)},
	{"emc_mhz", offsetof(struct tegra_point, emc_mhz)},
	{"power_mw", offsetof(struct tegra_point, power_mw)},
	{"core_max", offsetof(struct tegra_point, core_max)},
	{"ram_mb", offsetof(struct tegra_point, ram_mb)},
	{"swap_mb", offsetof(struct tegra_point, swap_mb)},
};

static json_t *curve(const struct tegra_series *series, size_t offset)
{
	json_t *list = json_array();

	for (size_t i = 0; i < series->n; i++)
		json_push(&list,
			  json_number(*(const float *)((const char *)&series->points[i] + offset)));
	return list;
}

/* Without dates the mean interval stands for the time between two lines; null when unknown too. */
static json_t *times(const struct session *session)
{
	const struct tegra_series *series = &session->series;
	double step_ms = session->tegra.interval_ms * series->merged;
	json_t *list = json_array();

	for (size_t i = 0; i < series->n; i++) {
		int64_t t_ns = series->points[i].t_ns;

		json_push(&list, t_ns != UNKNOWN_NS ? json_integer(t_ns / 1000000)
						    : json_number((double)i * step_ms));
	}
	return list;
}

json_t *json_series(const struct session *session)
{
	const struct tegra_series *series = &session->series;
	json_t *object = json_object(), *temps = json_object();

	json_put(&object, "interval_ms", json_number(session->tegra.interval_ms * series->merged));
	json_put(&object, "t_ms", times(session));
	for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++)
		json_put(&object, curves[i].key, curve(series, curves[i].offset));
	json_put(&temps, "hottest", curve(series, offsetof(struct tegra_point, hottest_c)));
	json_put(&object, "temps", temps);
	json_put(&object, "host", json_null());
	json_put(&object, "phases", json_array());
	return object;
}
