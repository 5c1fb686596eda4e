/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/html/html.h"

#include <errno.h>
#include <string.h>

#include "report/json/json.h"
#include "report/json/json_series.h"
#include "report/json/json_values.h"
#include "report/output.h"
#include "report/html/page.h"

/* Enough for every figure that is drawn, and a third of the bytes of 17 digits. */
#define DRAWN_DIGITS 6

bool report_html_available(void)
{
	struct page page;

	return !report_page(&page);
}

static json_t *trips_json(const struct session *session)
{
	const struct board_trips *trips = &session->board.trips;
	const struct throttle_summary *throttle = &session->throttle;
	json_t *object = json_object();

	json_put(&object, "throttle_c", json_number(throttle->trip_c));
	json_put(&object, "throttle_zone", json_text(throttle->margin_zone));
	json_put(&object, "sw_cpu_c", json_number(trips->sw_cpu_c));
	json_put(&object, "sw_gpu_c", json_number(trips->sw_gpu_c));
	json_put(&object, "hw_c", json_number(trips->hw_c));
	json_put(&object, "shutdown_c", json_number(trips->shutdown_c));
	return object;
}

static json_t *board_json(const struct session *session, const struct verdict *verdict)
{
	json_t *object = json_object();

	json_put(&object, "module", json_text(session->board.module));
	json_put(&object, "guessed", json_boolean(session->board_guessed));
	json_put(&object, "trips", trips_json(session));
	json_put(&object, "ceilings",
		 verdict->has_roofline ? roofline_ceilings_json(&verdict->roofline_input,
								&verdict->roofline_point)
				       : json_null());
	return object;
}

json_t *report_html_data(const struct session *session, const struct verdict *verdict)
{
	json_t *data = json_object();

	json_put(&data, "report", report_json(session, verdict));
	json_put(&data, "series", json_series(session, verdict));
	json_put(&data, "board", board_json(session, verdict));
	return data;
}

struct sink {
	FILE *out;
	int error;
};

/*
 * Inside a script element, where <!-- and </script> would be read as markup whatever the JSON
 * means by them. U+2028 and U+2029 come as \u2028 from JSON_ENSURE_ASCII, as does all that a file
 * opened with a wrong encoding would garble.
 */
static int escape_to_sink(const char *data, size_t size, void *context)
{
	static const char special[] = "<>&";
	struct sink *sink = context;
	char escaped[8];
	size_t from = 0;

	for (size_t i = 0; i < size && !sink->error; i++) {
		if (!data[i] || !strchr(special, data[i]))
			continue;
		sink->error = output_write(sink->out, data + from, i - from);
		if (sink->error)
			break;
		snprintf(escaped, sizeof(escaped), "\\u%04x", (unsigned int)data[i]);
		sink->error = output_write(sink->out, escaped, strlen(escaped));
		from = i + 1;
	}
	if (!sink->error)
		sink->error = output_write(sink->out, data + from, size - from);
	return sink->error ? -1 : 0;
}

int report_html_write(FILE *out, const struct session *session, const struct verdict *verdict)
{
	struct sink sink = {.out = out};
	struct page page;
	json_t *data;
	int failed;

	sink.error = report_page(&page);
	if (sink.error)
		return sink.error;
	data = report_html_data(session, verdict);
	if (!data)
		return -ENOMEM;
	sink.error = output_write(out, page.head, page.head_size);
	failed = !sink.error && json_dump_callback(data, escape_to_sink, &sink,
						   JSON_COMPACT | JSON_ENSURE_ASCII |
							   JSON_REAL_PRECISION(DRAWN_DIGITS));
	json_decref(data);
	if (sink.error)
		return sink.error;
	if (failed)
		return -ENOMEM;
	sink.error = output_write(out, page.tail, page.tail_size);
	return sink.error ? sink.error : output_finish(out);
}
