/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/roofline.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A mode that brings less is not worth a step. */
#define MODE_GAIN 1.03

#define PERCENT_LEN 16

const char *roofline_bound_name(enum roofline_bound bound)
{
	switch (bound) {
	case ROOFLINE_UNKNOWN:
		return NULL;
	case ROOFLINE_IMPOSSIBLE:
		return "impossible";
	case ROOFLINE_MEMORY_BANDWIDTH:
		return "memory-bandwidth-bound";
	case ROOFLINE_COMPUTE:
		return "compute-bound";
	case ROOFLINE_COMPUTE_SIDE:
		return "compute-side";
	case ROOFLINE_UNDER_UTILISED:
		return "under-utilised";
	case ROOFLINE_NEITHER:
		return "neither-roof";
	}
	return NULL;
}

const char *roofline_traffic_name(enum roofline_traffic traffic)
{
	switch (traffic) {
	case ROOFLINE_TRAFFIC_UNKNOWN:
		return NULL;
	case ROOFLINE_TRAFFIC_GIVEN:
		return "given";
	case ROOFLINE_TRAFFIC_EMC:
		return "emc-whole-soc";
	case ROOFLINE_TRAFFIC_LOWER_BOUND:
		return "lower-bound";
	}
	return NULL;
}

const char *roofline_format_share(char *dst, size_t size, double share)
{
	if (isnan(share))
		snprintf(dst, size, "unknown");
	else if (share < 0.000995)
		snprintf(dst, size, "< 0.1 %%");
	else if (share >= 1e4)
		snprintf(dst, size, "%.1e %%", 100 * share);
	else
		snprintf(dst, size, "%.*f %%", share < 0.0995 ? 1 : 0, 100 * share);
	return dst;
}

static void add_step(struct roofline_wording *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_step(struct roofline_wording *words, const char *format, ...)
{
	va_list args;

	if (words->nsteps == ROOFLINE_STEPS)
		return;
	va_start(args, format);
	vsnprintf(words->steps[words->nsteps++], sizeof(words->steps[0]), format, args);
	va_end(args);
}

static double roof_share(const struct roofline_input *input, const struct roofline_point *point)
{
	return input->precision < PRECISIONS ? point->roof_share[input->precision] : NAN;
}

static void headline(const struct roofline_input *input, const struct roofline_point *point,
		     struct roofline_wording *words)
{
	const char *bound = roofline_bound_name(point->bound);
	const char *label = roofline_precision_label(input->precision);
	char share[PERCENT_LEN], roof[64], dram[64];

	if (isnan(roof_share(input, point)))
		snprintf(roof, sizeof(roof), "share of the %s roof unknown", label);
	else
		snprintf(roof, sizeof(roof), "%s of the %s roof",
			 roofline_format_share(share, sizeof(share), roof_share(input, point)),
			 label);
	if (isnan(point->dram_share))
		snprintf(dram, sizeof(dram), "DRAM unknown");
	else
		snprintf(dram, sizeof(dram), "%s%s of DRAM",
			 point->traffic == ROOFLINE_TRAFFIC_LOWER_BOUND ? "at least " : "",
			 roofline_format_share(share, sizeof(share), point->dram_share));
	snprintf(words->headline, sizeof(words->headline), "%s: %s, %s%s",
		 bound ? bound : "bound unknown", roof, dram,
		 point->bound == ROOFLINE_IMPOSSIBLE ? ": an input is wrong" : "");
}

static void precision_suspect(const struct roofline_input *input,
			      const struct roofline_point *point, struct roofline_wording *words)
{
	char share[PERCENT_LEN];

	add_step(words, "precision: %s of the %s roof%s",
		 roofline_format_share(share, sizeof(share), point->roof_share[point->held_by]),
		 roofline_precision_label(point->held_by),
		 input->precision == PREC_FP32 && point->held_by == PREC_TF32_TC
			 ? ", which TensorRT FP32 engines may use"
			 : ": which one ran?");
}

/* The explanations that fit the numbers first; padding fits always. */
static void impossible_steps(const struct roofline_input *input, const struct roofline_point *point,
			     struct roofline_wording *words)
{
	unsigned int s = point->suspects;
	char share[PERCENT_LEN];

	if (s & ROOFLINE_SUSPECT_TRAFFIC)
		add_step(words, "bytes: more than DRAM moves: quantised or cached weights? per "
				"item? EMC clock?");
	if (s & ROOFLINE_SUSPECT_PEAK)
		add_step(words, "%s",
			 input->peak_given ? "peak: the one given; then the unit of the "
					     "latency, the batch"
					   : "no roof of the module holds it: the unit of the "
					     "latency, or the batch");
	if (s & ROOFLINE_SUSPECT_PRECISION)
		precision_suspect(input, point, words);
	if (s & ROOFLINE_SUSPECT_CLOCK)
		add_step(words, "clock, SM count: %s of the largest mode's roof: is it this mode?",
			 roofline_format_share(share, sizeof(share), point->largest_share));
	if (s & ROOFLINE_SUSPECT_SPARSITY)
		add_step(words, "MAC/FLOP, sparsity: GFLOP doubled once too often, or 2:4 pruned "
				"weights: up to 2x");
	else if (s & ROOFLINE_SUSPECT_MAC)
		add_step(words, "MAC/FLOP: were GFLOP doubled once too often?");
	if (s & ROOFLINE_SUSPECT_DLA)
		add_step(words, "DLA: does a part run there? Give the sum of the roofs with "
				"--peak-flops");
	if (s & ROOFLINE_SUSPECT_PADDING)
		add_step(words, "padding: does GFLOP count items or tokens that were never "
				"computed?");
}

static void mode_step(double now, double largest, const char *what, struct roofline_wording *words)
{
	if (largest / now >= MODE_GAIN)
		add_step(words, "the largest power mode has %.2gx the %s (sudo nvpmodel -q)",
			 largest / now, what);
}

static void compute_steps(const struct roofline_input *input, struct roofline_wording *words)
{
	enum precision p = input->precision;

	if (p != PREC_INT8_TC && input->now.flops[PREC_INT8_TC] > input->now.flops[p])
		add_step(words, "lower precision: the INT8 roof is %.2gx as high",
			 input->now.flops[PREC_INT8_TC] / input->now.flops[p]);
	add_step(words, "less work: a smaller model or input, pruning%s",
		 input->sparse_tensor_cores && p >= PREC_TF32_TC ? " (2:4 sparsity: up to 2x)"
								 : "");
	mode_step(input->now.flops[p], input->largest.flops[p], "compute", words);
}

static void memory_steps(const struct roofline_input *input, const struct roofline_point *point,
			 struct roofline_wording *words)
{
	add_step(words, "move fewer bytes: quantise the weights (INT8, 4 bit), fuse layers, "
			"shorten the context");
	if (point->dram_practical_share < 1)
		add_step(words, "a larger batch reads the weights once for more items");
	else
		add_step(words, "DRAM is at its practical limit; a larger batch reads the weights "
				"less often");
	mode_step(input->now.dram, input->largest.dram, "DRAM bandwidth", words);
}

static bool unusable(double value)
{
	return !isfinite(value) || value <= 0;
}

static void unknown_steps(const struct roofline_input *input, const struct roofline_point *point,
			  struct roofline_wording *words)
{
	if (isnan(point->items_per_s))
		add_step(words, "give the rate: --latency or --fps");
	if (unusable(input->flop_per_item))
		add_step(words, "give the work: --model or --gflop");
	if (isnan(point->bytes_per_item) && point->traffic != ROOFLINE_TRAFFIC_EMC)
		add_step(words,
			 "give the traffic: --bytes (at least weights + input + output), or a "
			 "--model");
	if (input->precision >= PRECISIONS || unusable(input->now.flops[input->precision]))
		add_step(words, "give the roof: --peak-flops (for example 16.7T)");
	if (unusable(input->now.dram))
		add_step(words, "give the bandwidth: --peak-bw (for example 102.4G)");
	if (!words->nsteps)
		add_step(words, "the figures leave the range of numbers: check their units");
}

void roofline_words(const struct roofline_input *input, const struct roofline_point *point,
		    struct roofline_wording *words)
{
	*words = (struct roofline_wording){0};
	headline(input, point, words);
	switch (point->bound) {
	case ROOFLINE_UNKNOWN:
		unknown_steps(input, point, words);
		break;
	case ROOFLINE_IMPOSSIBLE:
		impossible_steps(input, point, words);
		break;
	case ROOFLINE_MEMORY_BANDWIDTH:
		memory_steps(input, point, words);
		break;
	case ROOFLINE_COMPUTE:
		compute_steps(input, words);
		break;
	case ROOFLINE_COMPUTE_SIDE:
		add_step(words, "the GPU computes most of the time: look for single slow layers "
				"(trtexec --dumpProfile), then:");
		compute_steps(input, words);
		break;
	case ROOFLINE_UNDER_UTILISED:
		add_step(words, "keep the GPU fed: is it idle between launches? (sudo tegratrace "
				"-p PID)");
		add_step(words, "fill it: larger batch, several streams, TensorRT instead of eager "
				"mode, fused layers");
		break;
	case ROOFLINE_NEITHER:
		add_step(words, "latency, launches or the CPU is the limit: see which with sudo "
				"tegratrace -p PID");
		add_step(words, "CUDA graphs, a larger batch, overlapped pre-/postprocessing; INT8 "
				"brings little");
		break;
	}
}
