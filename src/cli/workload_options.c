/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/workload_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/text.h"
#include "cli/options.h"
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
	{"model", KEY_MODEL, "NAME", 0, "Known model: resnet50, yolov8n, llama-3.1-8b, ...", 0},
	{"gflop", KEY_GFLOP, "X", 0, "GFLOP an item, instead of a model; a multiply-add is 2", 0},
	{"precision", KEY_PRECISION, "NAME", 0,
	 "fp32, tf32, fp16 (default), int8, fp16-cuda, fp8, fp4; w4a16, w8a16: FP16 on quantised "
	 "weights",
	 0},
	{"batch", KEY_BATCH, "N", 0, "Items a launch (default 1)", 0},
	{"latency", KEY_LATENCY, "MS", 0, "Time of a batch", 0},
	{"fps", KEY_FPS, "X", 0, "Items a second, instead of a latency", 0},
	{"bytes", KEY_BYTES, "B", 0,
	 "DRAM traffic an item: 10M (default: from the EMC load, else a lower bound)", 0},
	{"peak-flops", KEY_PEAK_FLOPS, "FLOP/s", 0, "Ceiling instead of the board's own: 16.7T", 0},
	{"peak-bw", KEY_PEAK_BW, "B/s", 0, "DRAM bandwidth instead of the board's own: 102.4G", 0},
	{0},
};

#define REFUSE(...)                     \
	do {                            \
		msg_error(__VA_ARGS__); \
		exit(EXIT_USAGE);       \
	} while (0)

/* Below `least` a number without a prefix is one whose prefix was forgotten. */
static double parse_si(const char *what, const char *text, double least)
{
	bool prefixed = false;
	double value;

	if (!roofline_parse_si(text, &value, &prefixed))
		REFUSE("%s must be a number above 0 such as 16.7T or 102.4G, not '%s'", what, text);
	if (!prefixed && value < least)
		REFUSE("%s %s is without an SI prefix: is it %sM, %sG or %sT?", what, text, text,
		       text, text);
	return value;
}

static double parse_unit(const char *what, const char *text, const char *const *units,
			 const double *factors)
{
	double value;

	if (!roofline_parse_unit(text, units, factors, &value))
		REFUSE("%s must be a number above 0 (%s), not '%s'", what, units[0], text);
	return value;
}

static double parse_gflop(const char *text)
{
	bool prefixed = false;
	double value;

	if (!roofline_parse_si(text, &value, &prefixed))
		REFUSE("--gflop must be a number above 0 such as 8.9, not '%s'%s", text,
		       strcasestr(text, "mac") ? " (1 GMAC is 2 GFLOP)" : "");
	return prefixed ? value : value * 1e9;
}

static double parse_batch(const char *text)
{
	static const char *const units[] = {"items", NULL};
	static const double ones[] = {1};
	double value = parse_unit("--batch", text, units, ones);

	if (value < 1 || floor(value) != value)
		REFUSE("--batch must be a whole number, not '%s'", text);
	return value;
}

static void take_model(struct workload *workload, const char *text)
{
	const struct model *model = model_by_name(text);
	char names[1024];

	if (!model) {
		models_like(text, names, sizeof(names));
		REFUSE("unknown model '%s': give --gflop, or one of %s", text, names);
	}
	text_copy(workload->model, sizeof(workload->model), model->name);
}

static void take_precision(struct workload *workload, const char *text)
{
	struct board_ceilings unknown;
	struct roofline_format format;

	board_ceilings_init(&unknown);
	if (!text_copy(workload->precision, sizeof(workload->precision), text) ||
	    !roofline_format_parse(text, &unknown, &format))
		REFUSE("unknown precision '%s': fp32, tf32, fp16, fp16-cuda, int8, fp8, fp4, "
		       "w8a16, w4a16",
		       text);
}

/* What only the whole command line shows. */
static void finish(struct workload *workload)
{
	if (*workload->model && !isnan(workload->flop_per_item))
		REFUSE("either --model or --gflop, not both");
	if (!isnan(workload->latency_s) && !isnan(workload->items_per_s))
		REFUSE("either --latency or --fps, not both");
	if (*workload->model)
		workload->flop_per_item = 1e9 * model_by_name(workload->model)->gflop;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const times[] = {"ms", "us", "s", NULL};
	static const double seconds[] = {1e-3, 1e-6, 1};
	static const char *const rates[] = {"fps", "items/s", "tok/s", NULL};
	static const double ones[] = {1, 1, 1};
	struct workload *workload = state->input;

	switch (key) {
	case KEY_MODEL:
		take_model(workload, arg);
		return 0;
	case KEY_GFLOP:
		workload->flop_per_item = parse_gflop(arg);
		return 0;
	case KEY_PRECISION:
		take_precision(workload, arg);
		return 0;
	case KEY_BATCH:
		workload->batch = parse_batch(arg);
		return 0;
	case KEY_LATENCY:
		workload->latency_s = parse_unit("--latency", arg, times, seconds);
		return 0;
	case KEY_FPS:
		workload->items_per_s = parse_unit("--fps", arg, rates, ones);
		return 0;
	case KEY_BYTES:
		workload->bytes_per_item = parse_si("--bytes", arg, 1e3);
		return 0;
	case KEY_PEAK_FLOPS:
		workload->peak_flops = parse_si("--peak-flops", arg, 1e6);
		return 0;
	case KEY_PEAK_BW:
		workload->peak_bw = parse_si("--peak-bw", arg, 1e6);
		return 0;
	case ARGP_KEY_END:
		finish(workload);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp workload_argp = {entries, parse_option, NULL, NULL, NULL, NULL, NULL};
