/* SPDX-License-Identifier: GPL-2.0-only */
/* The host series while it is merged, and both series as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "report/json/json_series.h"
#include "session/session.h"

/*
 * However often neighbours are merged, spans add up to the time that there was, and means times
 * spans to what was added; what is unknown stays so.
 */
static void merging_keeps_the_sums(void **state)
{
	struct host_series series = {0};
	double added = 0, kept = 0;
	int64_t t_ns = 0, span_ns = 0;

	(void)state;
	for (int i = 0; i < 3 * HOST_LIMIT + 5; i++) {
		struct host_point point;

		host_point_init(&point);
		point.span_ns = 1000 * (1 + i % 3);
		point.t_ns = t_ns += point.span_ns;
		point.runq_threads = (float)(i % 7);
		point.cpu_busy[0] = i % 2 ? 1 : 0;
		added += point.runq_threads * (double)point.span_ns;
		assert_int_equal(host_series_add(&series, &point), 0);
		assert_true(series.n <= HOST_LIMIT);
	}
	assert_int_equal(host_series_flush(&series), 0);
	assert_true(series.n > HOST_LIMIT / 2);
	for (size_t i = 0; i < series.n; i++) {
		kept += series.points[i].runq_threads * (double)series.points[i].span_ns;
		span_ns += series.points[i].span_ns;
		assert_int_equal(series.points[i].t_ns, span_ns);
		assert_true(isnan(series.points[i].oncpu_cpus));
		assert_true(isnan(series.points[i].cpu_busy[1]));
		assert_true(series.points[i].cpu_busy[0] <= 1);
	}
	assert_int_equal(span_ns, t_ns);
	assert_true(fabs(kept / added - 1) < 1e-5);
	host_series_free(&series);
}

/* What is known at one of two moments only is kept. */
static void merging_keeps_the_known(void **state)
{
	struct host_series series = {.merged = 2};
	struct host_point point;

	(void)state;
	host_point_init(&point);
	point.span_ns = 10;
	host_series_add(&series, &point);
	point.major_faults_per_s = 3;
	host_series_add(&series, &point);
	assert_int_equal(series.n, 1);
	assert_true(series.points[0].major_faults_per_s == 3);
	host_series_free(&series);
}

static const json_t *at(const json_t *object, const char *path)
{
	char keys[64], *save, *key;

	strcpy(keys, path);
	for (key = strtok_r(keys, ".", &save); key; key = strtok_r(NULL, ".", &save)) {
		object = json_object_get(object, key);
		if (!object)
			fail_msg("no %s", path);
	}
	return object;
}

static double number(const json_t *object, const char *path, size_t i)
{
	return json_number_value(json_array_get(at(object, path), i));
}

static void the_contract(void **state)
{
	static const char *const board[] = {"t_ms",    "gpu_busy",	"gpu_mhz",  "emc_busy",
					    "emc_mhz", "temps.hottest", "power_mw", "core_max",
					    "ram_mb",  "swap_mb"};
	static const char *const host[] = {
		"host.t_ms",	     "host.cpus.0",	  "host.cpus.3",      "host.oncpu",
		"host.runq",	     "host.stopped",	  "host.offcpu.disk", "host.offcpu.other",
		"host.minor_faults", "host.major_faults", "host.read_bytes",  "host.write_bytes"};
	struct verdict verdict = {0};
	struct session session;
	struct host_point point;
	json_t *json;

	(void)state;
	session_init(&session);
	session.tegra.interval_ms = 100;
	for (int i = 0; i < 3; i++) {
		struct tegra_point sample = {
			.t_ns = 100000000LL * i, .gpu_busy = 0.5f, .emc_mhz = NAN};

		series_add(&session.series, &sample);
	}
	for (int i = 0; i < 2; i++) {
		host_point_init(&point);
		point.t_ns = 500000000LL * (i + 1);
		point.span_ns = 500000000;
		point.cpu_busy[0] = 0.25f;
		if (i)
			point.cpu_busy[3] = 0.75f;
		point.runq_threads = 2;
		point.off_threads[WAIT_DISK] = point.off_threads[WAIT_OTHER] = 1;
		host_series_add(&session.host_series, &point);
	}
	json = json_series(&session, &verdict);
	assert_non_null(json);
	assert_true(json_number_value(at(json, "interval_ms")) == 100);
	for (size_t i = 0; i < sizeof(board) / sizeof(board[0]); i++)
		assert_int_equal(json_array_size(at(json, board[i])), 3);
	for (size_t i = 0; i < sizeof(host) / sizeof(host[0]); i++)
		assert_int_equal(json_array_size(at(json, host[i])), 2);
	assert_int_equal(json_object_size(at(json, "host.cpus")), 2);
	assert_int_equal(json_object_size(at(json, "host.offcpu")), 2);
	assert_true(number(json, "t_ms", 2) == 200 && number(json, "gpu_busy", 2) == 0.5);
	assert_true(json_is_null(json_array_get(at(json, "emc_mhz"), 0)));
	assert_true(number(json, "host.t_ms", 1) == 1000 && number(json, "host.runq", 0) == 2);
	assert_true(json_is_null(json_array_get(at(json, "host.cpus.3"), 0)));
	assert_true(number(json, "host.cpus.3", 1) == 0.75);
	assert_int_equal(json_array_size(at(json, "phases")), 0);
	json_decref(json);
	session_free(&session);
}

static void nothing_measured(void **state)
{
	struct verdict verdict = {0};
	struct session session;
	json_t *json;

	(void)state;
	session_init(&session);
	json = json_series(&session, &verdict);
	assert_true(json_is_null(at(json, "interval_ms")));
	assert_int_equal(json_array_size(at(json, "t_ms")), 0);
	assert_int_equal(json_array_size(at(json, "host.t_ms")), 0);
	assert_int_equal(json_object_size(at(json, "host.cpus")), 0);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merging_keeps_the_sums),
		cmocka_unit_test(merging_keeps_the_known),
		cmocka_unit_test(the_contract),
		cmocka_unit_test(nothing_measured),
	};

	return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
