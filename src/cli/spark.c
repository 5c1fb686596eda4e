/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/spark.h"

#include <math.h>

#include "base/text.h"

#define BLOCKS 8

void spark_add(struct spark *spark, double value)
{
	if (isnan(value))
		return;
	spark->sum += value;
	spark->values++;
}

void spark_close_cell(struct spark *spark)
{
	spark->cells[spark->n++ % SPARK_CELLS] =
		spark->values ? (float)(spark->sum / spark->values) : NAN;
	spark->sum = 0;
	spark->values = 0;
}

/* The cell so many before the last; NAN where there is none. */
static float cell(const struct spark *spark, unsigned int back)
{
	if (back >= spark->n || back >= SPARK_CELLS)
		return NAN;
	return spark->cells[(spark->n - 1 - back) % SPARK_CELLS];
}

bool spark_range(const struct spark *spark, double *low, double *high)
{
	*low = *high = NAN;
	for (unsigned int i = 0; i < SPARK_CELLS; i++) {
		*low = fmin(*low, cell(spark, i));
		*high = fmax(*high, cell(spark, i));
	}
	return !isnan(*low);
}

void spark_append(char *dst, size_t size, const struct spark *spark, int width, double low,
		  double high)
{
	static const char *const blocks[BLOCKS] = {
		"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588",
	};

	for (int back = width - 1; back >= 0; back--) {
		double value = cell(spark, (unsigned int)back);
		double share = high > low ? (value - low) / (high - low) : 0;

		text_appendf(dst, size, "%s",
			     isnan(value) ? " "
					  : blocks[(int)fmin(BLOCKS - 1, fmax(0, share * BLOCKS))]);
	}
}
