/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json/json_values.h"

static json_t *delay_json(const struct block_delay *delay)
{
	json_t *object = json_object();
	json_t *hist = json_array();

	for (int i = 0; i < BLOCK_HIST_BUCKETS; i++)
		json_push(&hist, json_integer(delay->hist[i]));
	json_put(&object, "count", json_integer(delay->count));
	json_put(&object, "sum_ns", json_integer(delay->sum_ns));
	json_put(&object, "mean_ns", json_count(block_mean_ns(delay)));
	json_put(&object, "p50_ns", json_count(block_quantile_ns(delay, 0.50)));
	json_put(&object, "p99_ns", json_count(block_quantile_ns(delay, 0.99)));
	json_put(&object, "max_ns", delay->count > 0 ? json_integer(delay->max_ns) : json_null());
	json_put(&object, "hist", hist);
	return object;
}

static json_t *row_json(const struct block_row *row)
{
	json_t *object = json_object();

	json_put(&object, "device", json_bytes(row->device, sizeof(row->device)));
	json_put(&object, "op", json_string(block_op_name(row->op)));
	json_put(&object, "submitter", json_string(row->target ? "target" : "other"));
	json_put(&object, "count", json_integer(row->count));
	json_put(&object, "bytes", json_integer(row->bytes));
	json_put(&object, "queue", delay_json(&row->queue));
	json_put(&object, "device_lat", delay_json(&row->device_lat));
	return object;
}

json_t *json_block(const struct session *session)
{
	json_t *block = json_array();

	for (size_t i = 0; i < session->nblock; i++)
		json_push(&block, row_json(&session->block[i]));
	return block;
}
