/* SPDX-License-Identifier: GPL-2.0-only */
/* A spark line: the last values of a quantity as one character each. */
#ifndef TEGRATRACE_SPARK_H
#define TEGRATRACE_SPARK_H

#include <stdbool.h>
#include <stddef.h>

#define SPARK_CELLS 16

/* Zeroed is empty. */
struct spark {
	float cells[SPARK_CELLS]; /* a ring; NAN unknown */
	unsigned int n;		  /* cells ever closed */
	double sum;		  /* of the values of the cell under way */
	unsigned int values;
};

/* A value of the cell under way; NAN is none. */
void spark_add(struct spark *spark, double value);

/* Ends the cell under way: the mean of its values, unknown without one. */
void spark_close_cell(struct spark *spark);

/* Lowest and highest of the cells; false when none is known. */
bool spark_range(const struct spark *spark, double *low, double *high);

/*
 * Appends the last `width` cells to the string in @dst, in UTF-8, from low (the smallest block) to high
 * (a full one). An unknown cell is a blank, as are those before the first.
 */
void spark_append(char *dst, size_t size, const struct spark *spark, int width, double low,
		  double high);

#endif
