/* SPDX-License-Identifier: GPL-2.0-only */
/* Work of well-known models: one multiply-add is 2 FLOP here, whatever the source counts. */
#ifndef TEGRATRACE_MODELS_H
#define TEGRATRACE_MODELS_H

#include <stdbool.h>
#include <stddef.h>

enum model_unit {
	MODEL_GIVES_GMAC,
	MODEL_GIVES_GFLOP,
	MODEL_ARITHMETIC, /* from the layer sizes; no published figure */
};

struct model {
	const char *name;    /* "ResNet-50" */
	const char *aliases; /* more names, space separated; "" */
	const char *input;   /* "224x224" */
	const char *item;    /* what one unit of work is: "image", "token" */
	double params_m;
	double gflop;	 /* per item */
	double gmac;	 /* the figure of a source that gives GMAC, NAN otherwise */
	double io_melem; /* input and output elements, millions; NAN unknown */
	const char *source;
	enum model_unit unit;
	bool unverified; /* repeated in public, not looked up at its source */
};

const struct model *models_all(size_t *n);

/*
 * Case, punctuation, "v" in YOLO names, the input size behind the name and .pt, .onnx, .engine are
 * forgiven. NULL when unknown.
 */
const struct model *model_by_name(const char *name);

/* The names most like `name`, or all when there is none like it, separated by ", ". */
void models_like(const char *name, char *dst, size_t size);

#endif
