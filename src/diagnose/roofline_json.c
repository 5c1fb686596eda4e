/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/roofline.h"

#include <jansson.h>
#include <math.h>

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static void put_ceiling(json_t *list, const char *name, const char *unit, double now,
			double largest, double ridge, double share, bool unverified)
{
	json_array_append_new(list, json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:b}", "name", name, "unit",
					      unit, "value", number(now), "largest_mode",
					      number(largest), "ridge", number(ridge), "share",
					      number(share), "unverified", unverified));
}

json_t *roofline_ceilings_json(const struct roofline_input *input,
			       const struct roofline_point *point)
{
	const struct board_ceilings *now = &input->now, *largest = &input->largest;
	json_t *list = json_array();

	for (int i = 0; i < PRECISIONS; i++)
		if (!isnan(now->flops[i]) || !isnan(largest->flops[i]))
			put_ceiling(list, precision_name(i), "FLOP/s", now->flops[i],
				    largest->flops[i], point->ridge[i], point->roof_share[i],
				    input->unverified & 1U << i);
	put_ceiling(list, "dram-theoretical", "B/s", now->dram, largest->dram, NAN,
		    point->dram_share, false);
	put_ceiling(list, "dram-practical", "B/s", now->dram_practical, largest->dram_practical,
		    NAN, point->dram_practical_share, false);
	return list;
}

json_t *roofline_workload_json(const struct roofline_input *input,
			       const struct roofline_point *point)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:s?}", "flop_per_item",
			 number(input->flop_per_item), "batch", number(input->batch), "latency_s",
			 number(input->latency_s), "items_per_s", number(point->items_per_s),
			 "bytes_per_item", number(point->bytes_per_item), "traffic",
			 roofline_traffic_name(point->traffic));
}

json_t *roofline_json(const struct roofline_input *input, const struct roofline_point *point)
{
	bool named = input->precision < PRECISIONS;
	double peak = named ? input->now.flops[input->precision] : NAN;
	double ridge = named ? point->ridge[input->precision] : NAN;
	json_t *place =
		json_pack("{s:o,s:o,s:o,s:s?}", "intensity", number(point->intensity), "flops",
			  number(point->flops), "share_of_roof", number(point->share_of_roof),
			  "bound", roofline_bound_name(point->bound));

	return json_pack("{s:s?,s:o,s:o,s:o,s:o}", "precision",
			 named ? precision_name(input->precision) : NULL, "peak_flops",
			 number(peak), "peak_bw", number(input->now.dram), "ridge", number(ridge),
			 "point", place);
}
