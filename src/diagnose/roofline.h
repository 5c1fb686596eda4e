/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The roofline as pure arithmetic over numbers. FLOP/s, bytes/s, bytes, seconds; shares 0-1 and
 * above 1 where an input is wrong; unknown is NAN. Zero, negative and infinite inputs count as
 * unknown, so no result is ever a guess or an infinity.
 */
#ifndef TEGRATRACE_ROOFLINE_H
#define TEGRATRACE_ROOFLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "session/board_info.h"

/* "FP16 TC": as people write it; precision_name() is for machines. */
const char *roofline_precision_label(enum precision precision);

/* How a person names the arithmetic: which roof it is held against, and the sizes. */
struct roofline_format {
	enum precision precision;
	double weight_bytes;
	double activation_bytes; /* of an input or output element */
};

/*
 * "fp16", "INT8", "tf32-tc", "w4a16", "q4f16": case and punctuation are forgiven. FP16 is of the
 * tensor cores unless `ceilings` are of a GPU without. False when the word is unknown.
 */
bool roofline_format_parse(const char *text, const struct board_ceilings *ceilings,
			   struct roofline_format *format);

enum roofline_traffic {
	ROOFLINE_TRAFFIC_UNKNOWN,
	ROOFLINE_TRAFFIC_GIVEN,
	ROOFLINE_TRAFFIC_EMC,	      /* EMC share x bandwidth x time: of the whole SoC */
	ROOFLINE_TRAFFIC_LOWER_BOUND, /* weights once per launch, input and output of each item */
};

/* "given", "emc-whole-soc", "lower-bound"; NULL for unknown. */
const char *roofline_traffic_name(enum roofline_traffic traffic);

/* Of several sources of the traffic the first known one counts, in the order of the fields. */
struct roofline_input {
	struct board_ceilings now;
	struct board_ceilings largest; /* of the module's largest power mode */
	enum precision precision;
	double flop_per_item;
	double batch;	    /* items a launch; unknown is 1 */
	double latency_s;   /* of one batch */
	double items_per_s; /* used when the latency is unknown */

	double bytes_per_item;
	double emc_share;	  /* 0-1 of `now.dram`; 0 is known */
	double weight_bytes;	  /* read once per launch */
	double io_bytes_per_item; /* input and output; unknown is 0 beside known weights */

	unsigned int unverified;  /* bit (1 << precision): no NVIDIA text states the rate */
	bool sparse_tensor_cores; /* the GPU has 2:4 sparsity */
	bool peak_given;	  /* the roof was typed in, not looked up or read */
	bool dla;		  /* the module has DLAs, which `now` does not hold */
};

void roofline_input_init(struct roofline_input *input);

enum roofline_bound {
	ROOFLINE_UNKNOWN,
	ROOFLINE_IMPOSSIBLE, /* above a roof: an input is wrong */
	ROOFLINE_MEMORY_BANDWIDTH,
	ROOFLINE_COMPUTE,
	ROOFLINE_COMPUTE_SIDE,
	ROOFLINE_UNDER_UTILISED,
	ROOFLINE_NEITHER,
};

/* "memory-bandwidth-bound" and so on; NULL for unknown. */
const char *roofline_bound_name(enum roofline_bound bound);

/* Which inputs of an impossible point may be wrong. */
enum roofline_suspect {
	ROOFLINE_SUSPECT_PRECISION = 1 << 0, /* the roof of another precision holds the point */
	ROOFLINE_SUSPECT_SPARSITY = 1 << 1,  /* the sparse roof does */
	ROOFLINE_SUSPECT_MAC = 1 << 2,	     /* half the work does */
	ROOFLINE_SUSPECT_PADDING = 1 << 3,   /* work counted for items or tokens never computed */
	ROOFLINE_SUSPECT_CLOCK = 1 << 4,     /* the largest mode does: clock or SM count */
	ROOFLINE_SUSPECT_DLA = 1 << 5,	     /* a part may run outside the GPU */
	ROOFLINE_SUSPECT_PEAK = 1 << 6,	     /* typed in, or nothing else explains it */
	ROOFLINE_SUSPECT_TRAFFIC = 1 << 7,   /* above the DRAM roof: bytes or EMC clock */
};

struct roofline_point {
	double items_per_s;
	double flops;
	double bytes_per_item;
	double bytes_per_s;
	enum roofline_traffic traffic;
	double intensity;	  /* FLOP/byte */
	double ridge[PRECISIONS]; /* FLOP/byte, with the theoretical DRAM roof */
	double roof_share[PRECISIONS];
	double dram_share;
	double dram_practical_share;
	double share_of_roof; /* of the roof above the point, min(peak, intensity x DRAM) */
	double largest_share; /* of the same precision's roof in the largest mode */
	enum roofline_bound bound;
	unsigned int suspects;	/* of roofline_suspect; 0 unless impossible */
	enum precision held_by; /* tensor roofs first; PRECISIONS: no roof holds it */
};

/* `precision` of PRECISIONS is an unknown roof. */
void roofline_compute(const struct roofline_input *input, struct roofline_point *point);

enum roofline_threshold_id {
	ROOFLINE_AT_ROOF,
	ROOFLINE_AT_DRAM,
	ROOFLINE_AT_COMPUTE,
	ROOFLINE_UNDER_COMPUTE_SIDE,
	ROOFLINE_UNDER_NEITHER,
	ROOFLINE_DRAM_PRACTICAL,
	ROOFLINE_THRESHOLDS,
};

struct roofline_threshold {
	const char *name;
	double share;
	const char *reason;
};

extern const struct roofline_threshold roofline_thresholds[ROOFLINE_THRESHOLDS];

#define ROOFLINE_STEPS 5

/* The point in words, for people. */
struct roofline_wording {
	char headline[200];
	char steps[ROOFLINE_STEPS][200]; /* what to do; of an impossible point: what to check */
	int nsteps;
};

void roofline_words(const struct roofline_input *input, const struct roofline_point *point,
		    struct roofline_wording *words);

/* Figures that blogs repeat, and what is right. */
struct roofline_claim {
	const char *claim;
	const char *fact;
};

enum roofline_claim_id {
	ROOFLINE_CLAIM_40_GFLOPS,
	ROOFLINE_CLAIM_102_GB_S,
	ROOFLINE_CLAIM_85_C,
	ROOFLINE_CLAIMS,
};

extern const struct roofline_claim roofline_claims[ROOFLINE_CLAIMS];

struct json_t;

/*
 * New references; NULL when out of memory. The roofline of the JSON contract, {precision,
 * peak_flops, peak_bw, ridge, point{intensity, flops, share_of_roof, bound}}; the list of all
 * ceilings; what the point was computed from. Unknown is null.
 */
struct json_t *roofline_json(const struct roofline_input *input,
			     const struct roofline_point *point);
struct json_t *roofline_ceilings_json(const struct roofline_input *input,
				      const struct roofline_point *point);
struct json_t *roofline_workload_json(const struct roofline_input *input,
				      const struct roofline_point *point);

#define ROOFLINE_NOTES	  8
#define ROOFLINE_NOTE_LEN 256

struct roofline_notes {
	char text[ROOFLINE_NOTES][ROOFLINE_NOTE_LEN];
	int n;
};

void roofline_note(struct roofline_notes *notes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

struct module;
struct module_mode;
struct model;

/* Beside the numbers of the input, where they came from; NULL and NAN: not given. */
struct roofline_origin {
	const struct module *module;
	const struct module_mode *mode;
	const struct model *model;
	struct board_ceilings table; /* of the module in this mode */
	double peak_flops, peak_bw;  /* given by the user */
};

/* Wrong figures answered with the right ones, and what is not certain about the others. */
void roofline_check(const struct roofline_origin *origin, const struct roofline_input *input,
		    struct roofline_notes *notes);

/*
 * A positive finite number with an SI (or Ki, Mi, ...) prefix; a unit behind it ("GB/s",
 * "TFLOPS", "TOPS", "MB") is forgiven. *prefixed tells whether there was a prefix, and may be
 * NULL. False and nothing written when it is anything else.
 */
bool roofline_parse_si(const char *text, double *value, bool *prefixed);

/*
 * A positive finite number and one of the units (a NULL ends them), times its factor; without a
 * unit the first factor counts.
 */
bool roofline_parse_unit(const char *text, const char *const *units, const double *factors,
			 double *value);

/* Three digits: "2.09 TFLOP/s"; "unknown" for NAN. */
void roofline_format_si(char *dst, size_t size, double value, const char *unit);

/* "8.0 %", "71 %", "unknown"; returns dst. */
const char *roofline_format_share(char *dst, size_t size, double share);

#endif
