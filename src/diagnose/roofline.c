/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/roofline.h"

#include <math.h>

/* A roof is met exactly by rounded published figures; that is no error of the inputs. */
#define ROUNDING 1e-6

#define SPARSITY 2 /* 2:4 pruned weights; never judged against */

const struct roofline_threshold roofline_thresholds[ROOFLINE_THRESHOLDS] = {
	[ROOFLINE_AT_ROOF] =
		{"above a roof", 1.00,
		 "roofs are dense peaks at the actual clock: nothing real exceeds one"},
	[ROOFLINE_AT_DRAM] = {"memory-bandwidth-bound", 0.60,
			      "good decode reaches 73-92 % of the theoretical peak, cached models "
			      "stay below 20 %"},
	[ROOFLINE_AT_COMPUTE] = {"compute-bound", 0.60,
				 "the best GEMM and convolution engines reach 61-75 % of the dense "
				 "roof; the speed-of-light rule of Nsight Compute uses 60 %"},
	[ROOFLINE_UNDER_COMPUTE_SIDE] = {"under-utilised", 0.40,
					 "batch-1 CNNs under TensorRT reach 5-36 %: the GPU is "
					 "busy, its units are not"},
	[ROOFLINE_UNDER_NEITHER] = {"neither-roof", 0.15,
				    "below 15 % of both roofs INT8 brings 1.3x over FP16, not 2x: "
				    "latency, launches or the CPU"},
	[ROOFLINE_DRAM_PRACTICAL] = {"DRAM practical", 0.80,
				     "LLM decode stops at 76-83 %, tuned streams at 93-98 %, "
				     "refresh and turnaround take the rest"},
};

/* Facts: NVIDIA data sheets and power-mode files; the claims are of widely copied tutorials. */
const struct roofline_claim roofline_claims[ROOFLINE_CLAIMS] = {
	[ROOFLINE_CLAIM_40_GFLOPS] = {"an Orin Nano peaks at 40 GFLOPS (FP32)",
				      "40 is the sparse INT8 TOPS of the 8GB module (67 as Super)"},
	[ROOFLINE_CLAIM_102_GB_S] = {"every Orin Nano has 102.4 GB/s",
				     "only the 8GB Super in 25W and MAXN_SUPER, with EMC at 3199 "
				     "MHz; else 68.3, the 4GB 34.1 (Super 51.2)"},
	[ROOFLINE_CLAIM_85_C] = {"a Jetson throttles at 85 C",
				 "Orin clocks down at 99 C, Xavier at 89-92.5, Nano at 97, TX2 at "
				 "95.5; 85 C is a limit of the module's surface"},
};

static double known(double value)
{
	return isfinite(value) && value > 0 ? value : NAN;
}

/* Also NAN when the quotient left the range of a double. */
static double ratio(double a, double b)
{
	return known(known(a) / known(b));
}

static double product(double a, double b)
{
	return known(known(a) * known(b));
}

static double share_known(double value)
{
	return isfinite(value) && value >= 0 ? value : NAN;
}

void roofline_input_init(struct roofline_input *input)
{
	*input = (struct roofline_input){
		.precision = PRECISIONS,
		.flop_per_item = NAN,
		.batch = NAN,
		.latency_s = NAN,
		.items_per_s = NAN,
		.bytes_per_item = NAN,
		.emc_share = NAN,
		.weight_bytes = NAN,
		.io_bytes_per_item = NAN,
	};
	board_ceilings_init(&input->now);
	board_ceilings_init(&input->largest);
}

static double batch_of(const struct roofline_input *input)
{
	double batch = known(input->batch);

	return isnan(batch) ? 1 : batch;
}

static double lower_bound(const struct roofline_input *input)
{
	double io = known(input->io_bytes_per_item);

	return known(ratio(input->weight_bytes, batch_of(input)) + (isnan(io) ? 0 : io));
}

static void find_traffic(const struct roofline_input *input, struct roofline_point *point)
{
	double emc = share_known(input->emc_share);

	point->traffic = ROOFLINE_TRAFFIC_GIVEN;
	point->bytes_per_item = known(input->bytes_per_item);
	point->bytes_per_s = product(point->bytes_per_item, point->items_per_s);
	if (!isnan(point->bytes_per_item))
		return;
	point->traffic = ROOFLINE_TRAFFIC_EMC;
	if (!isnan(emc) && !isnan(known(input->now.dram))) {
		point->bytes_per_s = share_known(emc * input->now.dram);
		point->bytes_per_item = ratio(point->bytes_per_s, point->items_per_s);
		return;
	}
	point->traffic = ROOFLINE_TRAFFIC_LOWER_BOUND;
	point->bytes_per_item = lower_bound(input);
	point->bytes_per_s = product(point->bytes_per_item, point->items_per_s);
	if (isnan(point->bytes_per_item))
		point->traffic = ROOFLINE_TRAFFIC_UNKNOWN;
}

static bool above(double share)
{
	return share > roofline_thresholds[ROOFLINE_AT_ROOF].share + ROUNDING;
}

static bool reaches(double share, enum roofline_threshold_id id)
{
	return share >= roofline_thresholds[id].share;
}

static enum roofline_bound classify(double roof, double dram)
{
	if (above(roof) || above(dram))
		return ROOFLINE_IMPOSSIBLE;
	if (reaches(dram, ROOFLINE_AT_DRAM))
		return ROOFLINE_MEMORY_BANDWIDTH;
	if (reaches(roof, ROOFLINE_AT_COMPUTE))
		return ROOFLINE_COMPUTE;
	if (isnan(roof) || isnan(dram))
		return ROOFLINE_UNKNOWN;
	if (!reaches(roof, ROOFLINE_UNDER_NEITHER) && !reaches(dram, ROOFLINE_UNDER_NEITHER))
		return ROOFLINE_NEITHER;
	if (!reaches(roof, ROOFLINE_UNDER_COMPUTE_SIDE))
		return ROOFLINE_UNDER_UTILISED;
	return ROOFLINE_COMPUTE_SIDE;
}

static bool tensor_cores(enum precision precision)
{
	return precision >= PREC_TF32_TC && precision < PRECISIONS;
}

/* Engines run on tensor cores where they can, so the CUDA roofs come last. */
static enum precision lowest_roof_over(const double *shares)
{
	enum precision best = PRECISIONS;

	for (int i = PRECISIONS - 1; i >= 0; i--) {
		if (isnan(shares[i]) || above(shares[i]))
			continue;
		if (best == PRECISIONS || (!tensor_cores(best) && shares[i] > shares[best]) ||
		    (tensor_cores(i) && shares[i] > shares[best]))
			best = i;
	}
	return best;
}

static unsigned int find_suspects(const struct roofline_input *input,
				  const struct roofline_point *point, double roof)
{
	unsigned int suspects = 0;

	if (above(point->dram_share))
		suspects |= ROOFLINE_SUSPECT_TRAFFIC;
	if (!above(roof))
		return suspects;
	if (point->held_by != PRECISIONS)
		suspects |= ROOFLINE_SUSPECT_PRECISION;
	if (input->sparse_tensor_cores && tensor_cores(input->precision) && !above(roof / SPARSITY))
		suspects |= ROOFLINE_SUSPECT_SPARSITY;
	if (!above(roof / 2))
		suspects |= ROOFLINE_SUSPECT_MAC;
	if (input->peak_given)
		suspects |= ROOFLINE_SUSPECT_PEAK;
	else if (point->largest_share < roof && !above(point->largest_share))
		suspects |= ROOFLINE_SUSPECT_CLOCK;
	if (input->dla && (input->precision == PREC_INT8_TC || input->precision == PREC_FP16_TC))
		suspects |= ROOFLINE_SUSPECT_DLA;
	if (!suspects)
		suspects |= ROOFLINE_SUSPECT_PEAK;
	return suspects | ROOFLINE_SUSPECT_PADDING;
}

void roofline_compute(const struct roofline_input *input, struct roofline_point *point)
{
	bool roof_named = input->precision < PRECISIONS;
	double rate = ratio(batch_of(input), input->latency_s);
	double roof;

	*point = (struct roofline_point){.held_by = PRECISIONS};
	point->items_per_s = isnan(rate) ? known(input->items_per_s) : rate;
	point->flops = product(input->flop_per_item, point->items_per_s);
	find_traffic(input, point);
	point->intensity = ratio(input->flop_per_item, point->bytes_per_item);
	for (int i = 0; i < PRECISIONS; i++) {
		point->ridge[i] = ratio(input->now.flops[i], input->now.dram);
		point->roof_share[i] = ratio(point->flops, input->now.flops[i]);
	}
	roof = roof_named ? point->roof_share[input->precision] : NAN;
	point->largest_share =
		roof_named ? ratio(point->flops, input->largest.flops[input->precision]) : NAN;
	point->dram_share = share_known(point->bytes_per_s / known(input->now.dram));
	point->dram_practical_share =
		share_known(point->bytes_per_s / known(input->now.dram_practical));
	/* The roof above a point is the one of which it has the larger share. */
	point->share_of_roof =
		isnan(roof) || isnan(point->dram_share) ? NAN : fmax(roof, point->dram_share);
	point->bound = classify(roof, point->dram_share);
	if (point->bound != ROOFLINE_IMPOSSIBLE)
		return;
	point->held_by = lowest_roof_over(point->roof_share);
	point->suspects = find_suspects(input, point, roof);
}
