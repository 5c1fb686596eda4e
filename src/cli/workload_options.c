/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/workload_options.h"

#include <stdlib.h>

#include "base/text.h"
#include "diagnose/models.h"
#include "diagnose/roofline.h"
#include "session/session.h"

enum {
	KEY_MODEL = 3000,
	KEY_GFLOP,
	KEY_PRECISION,
	KEY_BATCH,
	KEY_LATENCY,
	KEY_FPS,
	KEY_BYTES,
	KEY_PEAK_FLOPS,
	KEY_PEAK_BW,
};

static const struct argp_option entries[] = {
	{NULL, 0, NULL, 0, "Point on the roofline:", 5},
	{"model", KEY_MODEL, "NAME", 0, "The model, for its work per item (see roofline --help)",
	 0},
	{"gflop", KEY_GFLOP, "X", 0, "Work per item in GFLOP, instead of a model", 0},
	{"precision", KEY_PRECISION, "P", 0, "fp32, tf32, fp16 (default), int8, ...", 0},
	{"batch", KEY_BATCH, "N", 0, "Items in one inference (default 1)", 0},
	{"latency", KEY_LATENCY, "MS", 0, "Time of one inference", 0},
	{"bytes", KEY_BYTES, "B", 0, "DRAM bytes per item (default: from the EMC load)", 0},
	{"peak-flops", KEY_PEAK_FLOPS, "F", 0, "Ceiling of a board not known here, as 16.7T", 0},
	{"peak-bw", KEY_PEAK_BW, "B", 0, "Its DRAM bandwidth, as 102G", 0},
	{"fps", KEY_FPS, "X", 0, "Items a second, instead of a latency", 0},
	{0},
};

static double positive(struct argp_state *state, const char *text, const char *what)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value > 0) || value > 1e12)
		argp_error(state, "%s must be a number above 0, not '%s'", what, text);
	return value;
}

static double with_prefix(struct argp_state *state, const char *text, const char *what)
{
	double value = NAN;

	if (!roofline_parse_si(text, &value, NULL))
		argp_error(state, "%s must be a number above 0, as 16.7T or 102G, not '%s'", what,
			   text);
	return value;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct workload *workload = state->input;
	const struct model *model;

	switch (key) {
	case KEY_MODEL:
		model = model_by_name(arg);
		if (!model)
			argp_error(state,
				   "the model '%s' is not in the table: give --gflop, or see "
				   "tegratrace roofline --help",
				   arg);
		else
			workload->flop_per_item = model->gflop * 1e9;
		return 0;
	case KEY_GFLOP:
		workload->flop_per_item = 1e9 * positive(state, arg, "--gflop");
		return 0;
	case KEY_PRECISION:
		text_copy(workload->precision, sizeof(workload->precision), arg);
		return 0;
	case KEY_BATCH:
		workload->batch = positive(state, arg, "--batch");
		return 0;
	case KEY_LATENCY:
		workload->latency_s = positive(state, arg, "--latency") / 1000;
		return 0;
	case KEY_BYTES:
		workload->bytes_per_item = with_prefix(state, arg, "--bytes");
		return 0;
	case KEY_PEAK_FLOPS:
		workload->peak_flops = with_prefix(state, arg, "--peak-flops");
		return 0;
	case KEY_PEAK_BW:
		workload->peak_bw = with_prefix(state, arg, "--peak-bw");
		return 0;
	case KEY_FPS:
		workload->items_per_s = positive(state, arg, "--fps");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp workload_argp = {entries, parse_option, NULL, NULL, NULL, NULL, NULL};
