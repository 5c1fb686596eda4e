/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The JSON of the example sessions. With TEGRATRACE_EXAMPLES set, the JSON of each is also written into
 * that folder, for a check against the schema.
 */
#include "example_sessions.h"

static json_t *json_of(const struct example *example)
{
	char *text = NULL;
	json_error_t error;
	json_t *json;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(report_json_write(out, &example->session, &example->verdict), 0);
	fclose(out);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		fail_msg("%s at %d", error.text, error.position);
	/* one line: nothing may end it early */
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	free(text);
	return json;
}

static int64_t integer_at(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static void assert_null_at(const json_t *object, const char *key)
{
	assert_true(json_is_null(json_object_get(object, key)));
}

static void json_has_the_numbers(void **state)
{
	struct example example;
	json_t *json, *thread, *tegra, *runq, *part;

	(void)state;
	start(&example, usual);
	json = json_of(&example);
	assert_string_equal(json_string_value(json_object_get(json, "schema")), "tegratrace/1");
	assert_int_equal(integer_at(json_object_get(json, "window"), "duration_ns"), 10 * SECOND);
	assert_int_equal(json_array_size(json_object_get(json, "edges")), 0);
	assert_null_at(json, "command_exit");
	assert_int_equal(json_array_size(json_object_get(json, "threads")), 4);

	thread = json_array_get(json_object_get(json, "threads"), 1);
	assert_int_equal(integer_at(thread, "tid"), 1236);
	assert_int_equal(integer_at(thread, "oncpu_ns"), 9310 * MS);
	assert_int_equal(integer_at(thread, "identity_error_ns"), 0);
	assert_int_equal(integer_at(json_object_get(thread, "wait"), "disk"), 100 * MS);
	assert_null_at(thread, "gpu_spin_ns");
	runq = json_object_get(thread, "runq");
	/* bucket 3 is [2048, 4096): 2048 + 2048 * 50 / 98 */
	assert_int_equal(integer_at(runq, "p50_ns"), 3093);
	assert_int_equal(integer_at(runq, "p99_ns"), 5 * MS);
	assert_int_equal(json_array_size(json_object_get(runq, "hist")), SESSION_HIST_BUCKETS);
	assert_null_at(json_array_get(json_object_get(json, "threads"), 3), "tid");
	part = json_object_get(json_array_get(json_object_get(json, "threads"), 0), "wait");
	assert_null_at(part, "disk");

	tegra = json_object_get(json, "tegra");
	part = json_object_get(tegra, "gpu");
	assert_true(json_real_value(json_object_get(part, "busy")) == 0.284);
	assert_null_at(part, "cap_mhz");
	part = json_object_get(tegra, "power");
	assert_int_equal(json_object_size(part), 3);
	assert_null_at(json_object_get(part, "NC"), "mean");
	assert_true(json_real_value(json_object_get(json_object_get(part, "NC #2"), "max")) == 80);
	json_decref(json);
	session_free(&example.session);
}

static void json_has_the_block_devices(void **state)
{
	struct example example;
	json_t *json, *row, *part;

	(void)state;
	start(&example, usual);
	json = json_of(&example);
	assert_null_at(json, "block");
	assert_null_at(json_object_get(json, "losses"), "block_unfinished");
	part = json_object_get(json_array_get(json_object_get(json, "threads"), 0), "io");
	assert_null_at(part, "reads");
	json_decref(json);

	usual_block(&example.session);
	json = json_of(&example);
	assert_int_equal(json_array_size(json_object_get(json, "block")), 2);
	row = json_array_get(json_object_get(json, "block"), 1);
	assert_string_equal(json_string_value(json_object_get(row, "device")), "nvme0n1");
	assert_string_equal(json_string_value(json_object_get(row, "op")), "write");
	assert_string_equal(json_string_value(json_object_get(row, "submitter")), "other");
	assert_int_equal(integer_at(row, "count"), 51);
	part = json_object_get(row, "device_lat");
	assert_int_equal(integer_at(part, "count"), 50);
	assert_int_equal(integer_at(part, "mean_ns"), 8 * MS);
	part = json_object_get(row, "queue");
	assert_int_equal(integer_at(part, "count"), 0);
	assert_null_at(part, "mean_ns");
	assert_null_at(part, "p99_ns");
	assert_null_at(part, "max_ns");
	part = json_object_get(json_array_get(json_object_get(json, "threads"), 1), "io");
	assert_int_equal(integer_at(part, "reads"), 990);
	assert_int_equal(integer_at(part, "read_bytes"), 990 << 17);
	assert_int_equal(integer_at(json_object_get(json, "losses"), "block_unfinished"), 1);
	json_decref(json);
	session_free(&example.session);
}

/* Every key of the schema is in the value; a null has none. */
static void assert_keys(const json_t *schema, const json_t *value)
{
	json_t *property, *required = json_object_get(schema, "required");
	const char *key;
	size_t i;

	if (!json_is_object(value))
		return;
	json_array_foreach(required, i, property)
	{
		if (!json_object_get(value, json_string_value(property)))
			fail_msg("no key %s", json_string_value(property));
	}
	if (required)
		assert_int_equal(json_object_size(value), json_array_size(required));
	json_object_foreach(json_object_get(schema, "properties"), key, property)
		assert_keys(property, json_object_get(value, key));
}

static void json_has_every_key_of_the_schema(void **state)
{
	json_t *schema = json_loads(report_schema(), JSON_REJECT_DUPLICATES, NULL);
	json_t *thread_schema, *thread, *json;

	(void)state;
	assert_non_null(schema);
	thread_schema = json_object_get(json_object_get(schema, "$defs"), "thread");
	assert_non_null(thread_schema);
	for (size_t i = 0; i < EXAMPLES; i++) {
		struct example example;
		size_t at;

		start(&example, examples[i].build);
		json = json_of(&example);
		assert_keys(schema, json);
		json_array_foreach(json_object_get(json, "threads"), at, thread)
			assert_keys(thread_schema, thread);
		json_decref(json);
		session_free(&example.session);
	}
	json_decref(schema);
}

static int allocations_left;

static void *failing_malloc(size_t size)
{
	return allocations_left-- > 0 ? malloc(size) : NULL;
}

static void json_survives_any_failed_allocation(void **state)
{
	struct example example;
	json_t *json = NULL;
	int n;

	(void)state;
	start(&example, usual);
	json_set_alloc_funcs(failing_malloc, free);
	for (n = 0; !json && n < 100000; n++) {
		allocations_left = n;
		json = report_json(&example.session, &example.verdict);
	}
	assert_non_null(json);
	assert_true(n > 500);
	json_decref(json);
	allocations_left = n / 2;
	assert_int_equal(report_json_write(stderr, &example.session, &example.verdict), -ENOMEM);
	json_set_alloc_funcs(malloc, free);
	session_free(&example.session);
}

static void write_examples(void **state)
{
	const char *folder = getenv("TEGRATRACE_EXAMPLES");

	(void)state;
	if (!folder)
		skip();
	for (size_t i = 0; i < EXAMPLES; i++) {
		struct example example;
		char path[4096];
		FILE *out;

		snprintf(path, sizeof(path), "%s/%s.json", folder, examples[i].name);
		out = fopen(path, "w");
		assert_non_null(out);
		start(&example, examples[i].build);
		assert_int_equal(report_json_write(out, &example.session, &example.verdict), 0);
		assert_int_equal(fclose(out), 0);
		session_free(&example.session);
	}
}

static void assert_write_fails(const struct example *example, FILE *out, int error)
{
	const struct report_text_options options = {.verbose = true};

	assert_int_equal(report_json_write(out, &example->session, &example->verdict), error);
	clearerr(out);
	assert_int_equal(report_text_write(out, &example->session, &example->verdict, &options),
			 error);
}

static void write_errors_are_returned(void **state)
{
	struct example example;
	FILE *full = fopen("/dev/full", "w"), *closed;
	int ends[2];

	(void)state;
	assert_non_null(full);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	closed = fdopen(ends[1], "w");
	assert_non_null(closed);
	for (size_t i = 0; i < EXAMPLES; i++) {
		start(&example, examples[i].build);
		assert_write_fails(&example, full, -ENOSPC);
		assert_write_fails(&example, closed, -EPIPE);
		session_free(&example.session);
	}
	fclose(full);
	fclose(closed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_the_numbers),
		cmocka_unit_test(json_has_the_block_devices),
		cmocka_unit_test(json_has_every_key_of_the_schema),
		cmocka_unit_test(json_survives_any_failed_allocation),
		cmocka_unit_test(write_examples),
		cmocka_unit_test(write_errors_are_returned),
	};

	signal(SIGPIPE, SIG_IGN);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
