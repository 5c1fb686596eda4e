/* SPDX-License-Identifier: GPL-2.0-only */
/* The point of a measured run on the roofline of its board. */
#include "diagnose/session_roofline.h"

#include <stdio.h>

#include "diagnose/models.h"
#include "diagnose/rules.h"
#include "tegra/modules.h"

/* A log gives the clock but no ceilings: those of the largest mode scale with it and the SMs. */
static void scale_ceilings(const struct session *session, const struct facts *facts,
			   struct board_ceilings *now)
{
	const struct board_info *board = &session->board;
	double gpu = facts->gpu_mhz / board->gpu.hw_max_mhz * facts->sm_share;
	double emc = session->tegra.emc_clock_mhz.n
			     ? session->tegra.emc_clock_mhz.mean / board->emc.hw_max_mhz
			     : NAN;

	for (int i = 0; i < PRECISIONS; i++)
		now->flops[i] = board->largest.ceilings.flops[i] * gpu;
	now->dram = board->largest.ceilings.dram * emc;
	now->dram_practical = board->largest.ceilings.dram_practical * emc;
}

static bool is_below_cap(const struct rule_outcome *at_cap)
{
	return at_cap->value < at_cap->threshold;
}

/*
 * The roof is where the clocks were on average, when they were below what the mode allows. A GPU
 * that was gated at times (0 MHz) shows no mean clock of its work.
 */
static void lower_to_clocks(const struct session *session, const struct rule_outcome *rules,
			    struct board_ceilings *now)
{
	const struct rule_outcome *gpu = &rules[RULE_GPU_AT_CAP], *emc = &rules[RULE_EMC_AT_CAP];

	if (is_below_cap(gpu) && session->tegra.gpu_clock_mhz.min > 0) {
		for (int i = 0; i < PRECISIONS; i++)
			now->flops[i] *= gpu->value;
	}
	if (is_below_cap(emc)) {
		now->dram *= emc->value;
		now->dram_practical *= emc->value;
	}
}

static bool is_given(const struct workload *workload)
{
	return workload->flop_per_item > 0 &&
	       (workload->latency_s > 0 || workload->items_per_s > 0);
}

/* For a lower bound of the traffic, where the EMC load is not known. */
static void take_model(const struct workload *workload, const struct roofline_format *format,
		       struct roofline_input *input)
{
	const struct model *model = model_by_name(workload->model);

	if (!model)
		return;
	input->weight_bytes = model->params_m * 1e6 * format->weight_bytes;
	input->io_bytes_per_item = model->io_melem * 1e6 * format->activation_bytes;
}

/* Figures that were given, held against those of the table and of the clocks seen. */
static void check_figures(const struct session *session, const struct board_ceilings *table,
			  struct verdict *verdict)
{
	const struct workload *workload = &session->workload;
	const struct roofline_origin origin = {
		.module = module_by_name(session->board.module, NULL),
		.model = *workload->model ? model_by_name(workload->model) : NULL,
		.table = *table,
		.peak_flops = workload->peak_flops,
		.peak_bw = workload->peak_bw,
	};

	roofline_check(&origin, &verdict->roofline_input, &verdict->roofline_notes);
}

void roofline_of_session(const struct session *session, const struct facts *facts,
			 struct verdict *verdict)
{
	const struct workload *workload = &session->workload;
	struct roofline_input *input = &verdict->roofline_input;
	struct roofline_format format;
	struct board_ceilings table;

	if (!is_given(workload))
		return;
	roofline_input_init(input);
	input->now = session->board.ceilings;
	if (session->board_guessed)
		scale_ceilings(session, facts, &input->now);
	else
		lower_to_clocks(session, verdict->rules, &input->now);
	table = input->now;
	input->largest = session->board.largest.ceilings;
	input->unverified = session->board.unverified;
	input->precision = PRECISIONS;
	if (roofline_format_parse(*workload->precision ? workload->precision : "fp16", &input->now,
				  &format))
		input->precision = format.precision;
	if (workload->peak_flops > 0 && input->precision < PRECISIONS) {
		input->now.flops[input->precision] = workload->peak_flops;
		input->peak_given = true;
	}
	if (workload->peak_bw > 0) {
		input->now.dram = workload->peak_bw;
		input->now.dram_practical =
			workload->peak_bw * roofline_thresholds[ROOFLINE_DRAM_PRACTICAL].share;
	}
	input->bytes_per_item = workload->bytes_per_item;
	input->flop_per_item = workload->flop_per_item;
	input->batch = workload->batch;
	input->latency_s = workload->latency_s;
	input->items_per_s = workload->items_per_s;
	input->emc_share = facts->emc_busy;
	if (*workload->model && input->precision < PRECISIONS)
		take_model(workload, &format, input);
	roofline_compute(input, &verdict->roofline_point);
	verdict->has_roofline = true;
	check_figures(session, &table, verdict);
}
