/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/session.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_POINTS 256

/* Every float of a point, so that means are taken in one loop. */
#define POINT_FLOATS                                                                         \
	((offsetof(struct tegra_point, power_mw) - offsetof(struct tegra_point, gpu_busy)) / \
		 sizeof(float) +                                                             \
	 1)

static float *floats_of(struct tegra_point *point)
{
	return &point->gpu_busy;
}

/* The mean of a (of `na` samples) and b (of `nb`); what only one of them knows is kept. */
static void merge(struct tegra_point *a, unsigned int na, struct tegra_point *b, unsigned int nb)
{
	float *into = floats_of(a), *from = floats_of(b);

	for (size_t i = 0; i < POINT_FLOATS; i++) {
		if (isnan(into[i]))
			into[i] = from[i];
		else if (!isnan(from[i]))
			into[i] = (into[i] * (float)na + from[i] * (float)nb) / (float)(na + nb);
	}
}

static void thin_out(struct tegra_series *series)
{
	for (size_t i = 0; i < series->n / 2; i++) {
		series->points[i] = series->points[2 * i];
		merge(&series->points[i], 1, &series->points[2 * i + 1], 1);
	}
	series->n /= 2;
	series->merged *= 2;
}

static int append(struct tegra_series *series, const struct tegra_point *point)
{
	struct tegra_point *points = series->points;

	if (series->n == SERIES_LIMIT)
		thin_out(series);
	/* Full at every power of two from FIRST_POINTS on. */
	if (!series->n || (series->n >= FIRST_POINTS && !(series->n & (series->n - 1)))) {
		size_t room = series->n ? series->n * 2 : FIRST_POINTS;

		points = realloc(points, room * sizeof(*points));
		if (!points)
			return -ENOMEM;
		series->points = points;
	}
	points[series->n++] = *point;
	return 0;
}

int series_add(struct tegra_series *series, const struct tegra_point *point)
{
	struct tegra_point next = *point;

	if (!series->merged)
		series->merged = 1;
	if (series->pending_n)
		merge(&series->pending, series->pending_n, &next, 1);
	else
		series->pending = next;
	if (++series->pending_n < series->merged)
		return 0;
	series->pending_n = 0;
	return append(series, &series->pending);
}

int series_flush(struct tegra_series *series)
{
	if (!series->pending_n)
		return 0;
	series->pending_n = 0;
	return append(series, &series->pending);
}

void series_free(struct tegra_series *series)
{
	free(series->points);
	*series = (struct tegra_series){0};
}
