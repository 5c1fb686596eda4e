/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/host_series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define FIRST_POINTS 256

#define POINT_FLOATS \
	((sizeof(struct host_point) - offsetof(struct host_point, oncpu_cpus)) / sizeof(float))

void host_point_init(struct host_point *point)
{
	float *values = &point->oncpu_cpus;

	*point = (struct host_point){0};
	for (size_t i = 0; i < POINT_FLOATS; i++)
		values[i] = NAN;
}

/* What only one of them knows is kept. */
static void merge(struct host_point *a, const struct host_point *b)
{
	float *into = &a->oncpu_cpus;
	const float *from = &b->oncpu_cpus;
	double wa = (double)a->span_ns, wb = (double)b->span_ns;

	for (size_t i = 0; i < POINT_FLOATS; i++) {
		if (isnan(into[i]))
			into[i] = from[i];
		else if (!isnan(from[i]) && wa + wb > 0)
			into[i] = (float)((into[i] * wa + from[i] * wb) / (wa + wb));
	}
	a->t_ns = b->t_ns;
	a->span_ns += b->span_ns;
}

static void thin_out(struct host_series *series)
{
	for (size_t i = 0; i < series->n / 2; i++) {
		series->points[i] = series->points[2 * i];
		merge(&series->points[i], &series->points[2 * i + 1]);
	}
	series->n /= 2;
	series->merged *= 2;
}

static int append(struct host_series *series, const struct host_point *point)
{
	struct host_point *points = series->points;

	if (series->n == HOST_LIMIT)
		thin_out(series);
	/* Full at every power of two from FIRST_POINTS on. */
	if (!series->n || (series->n >= FIRST_POINTS && !(series->n & (series->n - 1)))) {
		size_t room = series->n ? series->n * 2 : FIRST_POINTS;

		points = reallocarray(points, room, sizeof(*points));
		if (!points)
			return -ENOMEM;
		series->points = points;
	}
	points[series->n++] = *point;
	return 0;
}

int host_series_add(struct host_series *series, const struct host_point *point)
{
	if (!series->merged)
		series->merged = 1;
	if (series->pending_n)
		merge(&series->pending, point);
	else
		series->pending = *point;
	if (++series->pending_n < series->merged)
		return 0;
	series->pending_n = 0;
	return append(series, &series->pending);
}

int host_series_flush(struct host_series *series)
{
	if (!series->pending_n)
		return 0;
	series->pending_n = 0;
	return append(series, &series->pending);
}

void host_series_free(struct host_series *series)
{
	free(series->points);
	*series = (struct host_series){0};
}
