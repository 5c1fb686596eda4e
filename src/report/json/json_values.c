/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json/json_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/output.h"

#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(6))

void json_put(json_t **object, const char *key, json_t *value)
{
	if (!*object) {
		json_decref(value);
	} else if (json_object_set_new(*object, key, value)) {
		json_decref(*object);
		*object = NULL;
	}
}

void json_push(json_t **array, json_t *value)
{
	if (!*array) {
		json_decref(value);
	} else if (json_array_append_new(*array, value)) {
		json_decref(*array);
		*array = NULL;
	}
}

json_t *json_count(int64_t value)
{
	return value == UNKNOWN_COUNT ? json_null() : json_integer(value);
}

json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_bytes(const char *bytes, size_t size)
{
	size_t len = strnlen(bytes, size);
	size_t room = TEXT_SANITIZED_SIZE(len);
	char *clean = malloc(room);
	json_t *value;

	if (!clean)
		return NULL;
	text_sanitize(clean, room, bytes, len);
	value = json_string(clean);
	free(clean);
	return value;
}

json_t *json_text(const char *text)
{
	return *text ? json_bytes(text, strlen(text)) : json_null();
}

struct sink {
	FILE *out;
	int error;
};

static int dump_to_sink(const char *data, size_t size, void *context)
{
	struct sink *sink = context;

	sink->error = output_write(sink->out, data, size);
	return sink->error ? -1 : 0;
}

int json_write_line(FILE *out, json_t *object)
{
	struct sink sink = {.out = out};
	int failed;

	if (!object)
		return -ENOMEM;
	failed = json_dump_callback(object, dump_to_sink, &sink, DUMP_FLAGS);
	json_decref(object);
	if (sink.error)
		return sink.error;
	if (failed)
		return -ENOMEM;
	sink.error = output_write(out, "\n", 1);
	return sink.error ? sink.error : output_finish(out);
}
