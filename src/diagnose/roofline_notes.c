/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/roofline.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/models.h"
#include "tegra/modules.h"

/* Figures that differ by less are the same one, rounded. */
#define SAME 0.03

#define NUMBER 32

void roofline_note(struct roofline_notes *notes, const char *format, ...)
{
	va_list args;

	if (notes->n == ROOFLINE_NOTES)
		return;
	va_start(args, format);
	vsnprintf(notes->text[notes->n++], ROOFLINE_NOTE_LEN, format, args);
	va_end(args);
}

/* False when either is unknown. */
static bool same(double a, double b)
{
	return fabs(a / b - 1) <= SAME;
}

static bool differ(double a, double b)
{
	return fabs(a / b - 1) > SAME;
}

static bool is_orin_nano(const struct module *module)
{
	return module && strstr(module->name, "Orin Nano");
}

static void point_under_table(const struct roofline_origin *origin,
			      const struct roofline_input *input, struct roofline_notes *notes)
{
	struct roofline_input right = *input;
	struct roofline_wording words;
	struct roofline_point point;

	right.now = origin->table;
	roofline_compute(&right, &point);
	if (isnan(point.flops))
		return;
	roofline_words(&right, &point, &words);
	roofline_note(notes, "with the table's roofs %s", words.headline);
}

static void check_40_gflops(const struct roofline_origin *origin, struct roofline_notes *notes)
{
	const struct roofline_claim *claim = &roofline_claims[ROOFLINE_CLAIM_40_GFLOPS];
	const double *flops = origin->table.flops;
	char fp32[NUMBER], fp16[NUMBER], int8[NUMBER];

	roofline_format_si(fp32, sizeof(fp32), flops[PREC_FP32], "FLOP/s");
	roofline_format_si(fp16, sizeof(fp16), flops[PREC_FP16_TC], "FLOP/s");
	roofline_format_si(int8, sizeof(int8), flops[PREC_INT8_TC], "OP/s");
	roofline_note(notes, "not \"%s\": %s; dense in this mode: FP32 %s, FP16 TC %s, INT8 TC %s",
		      claim->claim, claim->fact, fp32, fp16, int8);
}

static bool is_sparse_peak(const struct roofline_input *input, double given, double table)
{
	return input->sparse_tensor_cores && input->precision >= PREC_TF32_TC &&
	       (same(given, 2 * table) || same(given, 2 * input->largest.flops[input->precision]));
}

static void check_peak(const struct roofline_origin *origin, const struct roofline_input *input,
		       struct roofline_notes *notes)
{
	double given = origin->peak_flops;
	double table = input->precision < PRECISIONS ? origin->table.flops[input->precision] : NAN;
	char right[NUMBER];

	if (!differ(given, table))
		return;
	roofline_format_si(right, sizeof(right), table, "FLOP/s");
	if (is_sparse_peak(input, given, table))
		roofline_note(notes,
			      "--peak-flops is a sparse peak (2:4 pruned weights only); the "
			      "dense one of this mode is %s",
			      right);
	else if (is_orin_nano(origin->module) && (same(given, 40e9) || same(given, 40e12)))
		check_40_gflops(origin, notes);
	else
		roofline_note(notes, "--peak-flops is %.2gx the table's %s for %s in this mode",
			      given / table, right, roofline_precision_label(input->precision));
}

static void check_bandwidth(const struct roofline_origin *origin, struct roofline_notes *notes)
{
	const struct roofline_claim *claim = &roofline_claims[ROOFLINE_CLAIM_102_GB_S];
	double given = origin->peak_bw, table = origin->table.dram;
	char right[NUMBER];

	if (!differ(given, table))
		return;
	roofline_format_si(right, sizeof(right), table, "B/s");
	if (is_orin_nano(origin->module) && same(given, 102.4e9))
		roofline_note(notes, "not \"%s\": %s; this mode %s", claim->claim, claim->fact,
			      right);
	else
		roofline_note(notes, "--peak-bw is %.2gx the table's %s of this mode",
			      given / table, right);
}

static void check_rate(const struct roofline_input *input, struct roofline_notes *notes)
{
	if (input->precision < PRECISIONS && !input->peak_given &&
	    input->unverified & 1U << input->precision)
		roofline_note(notes,
			      "the %s rate of this GPU is unverified: no NVIDIA text states "
			      "it",
			      roofline_precision_label(input->precision));
}

/* Published figures are rounded to about 1 %. */
static void check_work(const struct roofline_origin *origin, const struct roofline_input *input,
		       struct roofline_notes *notes)
{
	const struct model *models;
	size_t n;

	if (origin->model && origin->model->unverified)
		roofline_note(notes, "the GFLOP of %s is unverified (%s)", origin->model->name,
			      origin->model->source);
	if (origin->model)
		return;
	models = models_all(&n);
	for (size_t i = 0; i < n; i++) {
		if (!(fabs(input->flop_per_item / 1e9 / models[i].gmac - 1) < 0.01))
			continue;
		roofline_note(notes, "%.3g is the GMAC of %s: is it yours? Its GFLOP are %.3g",
			      models[i].gmac, models[i].name, models[i].gflop);
		return;
	}
}

void roofline_check(const struct roofline_origin *origin, const struct roofline_input *input,
		    struct roofline_notes *notes)
{
	int before = notes->n;

	check_peak(origin, input, notes);
	check_bandwidth(origin, notes);
	if (notes->n > before)
		point_under_table(origin, input, notes);
	check_rate(input, notes);
	check_work(origin, input, notes);
}
