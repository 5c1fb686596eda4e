/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/models.h"
#include "diagnose/roofline.h"
#include "roofline_rows.h"
#include "tegra/modules.h"

/* Orin Nano 8GB Super in MAXN_SUPER: 2089 GFLOPS FP32, 102.4 GB/s. */
static void orin_nano_input(struct roofline_input *input, enum precision precision)
{
	roofline_input_init(input);
	ceilings_at(&input->now, SOC_T234, 8, 1020, 128, 3199);
	input->largest = input->now;
	input->precision = precision;
}

static void check_row(const struct row *row)
{
	struct roofline_input input;
	struct roofline_point point;

	roofline_input_init(&input);
	input.precision = row_precision(row);
	input.now.flops[input.precision] = row->roof_gflops * 1e9;
	input.now.dram = row->dram_gb_s * 1e9;
	input.flop_per_item = row->gflop * 1e9;
	input.latency_s = row->latency_ms / 1e3;
	input.bytes_per_item = row->traffic_mb * 1e6;
	roofline_compute(&input, &point);
	check_percent(row, "roof", 100 * point.roof_share[input.precision], row->roof_pct);
	check_percent(row, "DRAM", 100 * point.dram_share, row->dram_pct);
	if (strcmp(roofline_bound_name(point.bound), row->verdict))
		fail_msg("%s: %s, the table has %s", row->id, roofline_bound_name(point.bound),
			 row->verdict);
}

static void test_corpus(void **state)
{
	(void)state;
	assert_int_equal(each_row(check_row), 22);
}

static int roofs_compared;

/* The module table and the formulas against the roofs that the corpus states. */
static void check_row_roof(const struct row *row)
{
	const struct module *module = module_by_name(row->module, NULL);
	const struct module_mode *mode = module ? module_mode_by_name(module, row->mode) : NULL;
	struct board_ceilings ceilings;

	if (!mode || strstr(row->roof, "DLA"))
		return;
	module_mode_ceilings(&ceilings, module, mode);
	/* 2.1 %: the corpus has 612 MHz of the Super file in rows 26 and 28, the module 624.75 */
	assert_near(ceilings.flops[row_precision(row)], row->roof_gflops * 1e9, 0.022);
	assert_near(ceilings.dram, row->dram_gb_s * 1e9, 0.02);
	roofs_compared++;
}

static void test_corpus_roofs_from_the_module_table(void **state)
{
	(void)state;
	roofs_compared = 0;
	each_row(check_row_roof);
	assert_true(roofs_compared >= 18);
}

static int models_compared;

/* The lower bound of the traffic, made from the model table, against the corpus. */
static void check_row_model(const struct row *row)
{
	const struct model *model = model_by_name(row->model);
	struct roofline_input input;
	struct roofline_format format;
	struct roofline_point point;

	/* decode sizes in the corpus are file sizes, and one precision is not the weights' */
	if (!model || !strcmp(model->item, "token") || strcmp(row->batch, "1"))
		return;
	assert_near(model->gflop, row->gflop, 0.01);
	roofline_input_init(&input);
	assert_true(roofline_format_parse(strstr(row->roof, "INT8")   ? "int8"
					  : strstr(row->roof, "FP16") ? "fp16"
								      : "fp32",
					  &input.now, &format));
	input.weight_bytes = 1e6 * model->params_m * format.weight_bytes;
	input.io_bytes_per_item = 1e6 * model->io_melem * format.activation_bytes;
	input.latency_s = row->latency_ms / 1e3;
	roofline_compute(&input, &point);
	assert_int_equal(point.traffic, ROOFLINE_TRAFFIC_LOWER_BOUND);
	assert_near(point.bytes_per_item, row->traffic_mb * 1e6, 0.02);
	models_compared++;
}

static void test_corpus_traffic_from_the_model_table(void **state)
{
	(void)state;
	models_compared = 0;
	each_row(check_row_model);
	assert_true(models_compared >= 12);
}

/* 2 x 128 x 8 x 1.02 GHz = 2088.96; 8.9 / 4.43 ms = 2009.03; both by hand. */
static void test_by_hand(void **state)
{
	struct roofline_input input;
	struct roofline_point point;

	(void)state;
	orin_nano_input(&input, PREC_FP16_TC);
	input.flop_per_item = 8.9e9;
	input.batch = 4;
	input.latency_s = 4 * 4.43e-3;
	input.weight_bytes = 6.4e6;
	input.io_bytes_per_item = 4e6;
	roofline_compute(&input, &point);
	assert_near(input.now.flops[PREC_FP32], 2088.96e9, 1e-9);
	assert_near(point.items_per_s, 225.7336, 1e-6);
	assert_near(point.flops, 2009.029e9, 1e-6);
	assert_near(point.bytes_per_item, 5.6e6, 1e-9); /* 6.4 / 4 + 4 */
	assert_near(point.intensity, 1589.286, 1e-6);
	assert_near(point.ridge[PREC_FP16_TC], 163.251, 1e-5);
	assert_near(point.roof_share[PREC_FP16_TC], 0.1202171, 1e-6);
	assert_near(point.roof_share[PREC_FP32], 0.9617366, 1e-6);
	assert_near(point.dram_share, 0.0123487, 1e-5);
	assert_near(point.dram_practical_share, 0.0123487 / 0.8, 1e-5);
	assert_near(point.share_of_roof, 0.1202171, 1e-6);
	assert_near(point.largest_share, 0.1202171, 1e-6);
	assert_int_equal(point.bound, ROOFLINE_NEITHER);
}

static void test_rate_instead_of_latency(void **state)
{
	struct roofline_input input;
	struct roofline_point point;

	(void)state;
	orin_nano_input(&input, PREC_FP16_TC);
	input.flop_per_item = 1e9;
	input.items_per_s = 500;
	input.batch = 8;
	input.weight_bytes = 80e6;
	roofline_compute(&input, &point);
	assert_near(point.flops, 500e9, 1e-12);
	assert_near(point.bytes_per_item, 10e6, 1e-12);
	assert_near(point.bytes_per_s, 5e9, 1e-12);
}

static void test_traffic_of_emc(void **state)
{
	struct roofline_input input;
	struct roofline_point point;

	(void)state;
	orin_nano_input(&input, PREC_FP16_TC);
	input.flop_per_item = 6.4e9;
	input.latency_s = 0.02;
	input.emc_share = 0.79;
	input.weight_bytes = 1e6;
	roofline_compute(&input, &point);
	assert_int_equal(point.traffic, ROOFLINE_TRAFFIC_EMC);
	assert_string_equal(roofline_traffic_name(point.traffic), "emc-whole-soc");
	assert_near(point.dram_share, 0.79, 1e-12);
	assert_near(point.bytes_per_item, 0.79 * 102.368e9 * 0.02, 1e-9);
	assert_int_equal(point.bound, ROOFLINE_MEMORY_BANDWIDTH);

	/* an EMC load of 0 is a measurement; the intensity is then without meaning */
	input.emc_share = 0;
	roofline_compute(&input, &point);
	assert_true(point.dram_share == 0);
	assert_true(isnan(point.intensity));
	assert_int_equal(point.bound, ROOFLINE_NEITHER);

	input.bytes_per_item = 5e6;
	roofline_compute(&input, &point);
	assert_int_equal(point.traffic, ROOFLINE_TRAFFIC_GIVEN);
}

static enum roofline_bound bound_of(double roof, double dram)
{
	struct roofline_input input;
	struct roofline_point point;

	roofline_input_init(&input);
	input.precision = PREC_FP32;
	input.now.flops[PREC_FP32] = 1e12;
	input.now.dram = 1e11;
	input.items_per_s = 1;
	input.flop_per_item = roof * 1e12;
	input.bytes_per_item = dram * 1e11;
	roofline_compute(&input, &point);
	return point.bound;
}

static void test_bounds_at_their_edges(void **state)
{
	(void)state;
	assert_int_equal(bound_of(0.149, 0.149), ROOFLINE_NEITHER);
	assert_int_equal(bound_of(0.150, 0.100), ROOFLINE_UNDER_UTILISED);
	assert_int_equal(bound_of(0.100, 0.150), ROOFLINE_UNDER_UTILISED);
	assert_int_equal(bound_of(0.399, 0.599), ROOFLINE_UNDER_UTILISED);
	assert_int_equal(bound_of(0.400, 0.100), ROOFLINE_COMPUTE_SIDE);
	assert_int_equal(bound_of(0.599, 0.100), ROOFLINE_COMPUTE_SIDE);
	assert_int_equal(bound_of(0.600, 0.100), ROOFLINE_COMPUTE);
	assert_int_equal(bound_of(0.900, 0.600), ROOFLINE_MEMORY_BANDWIDTH);
	assert_int_equal(bound_of(1.000, 0.100), ROOFLINE_COMPUTE);
	assert_int_equal(bound_of(0.100, 1.000), ROOFLINE_MEMORY_BANDWIDTH);
	assert_int_equal(bound_of(1.001, 0.700), ROOFLINE_IMPOSSIBLE);
	assert_int_equal(bound_of(0.700, 1.001), ROOFLINE_IMPOSSIBLE);
}

static void test_unknown_is_not_a_verdict(void **state)
{
	(void)state;
	assert_int_equal(bound_of(0.3, NAN), ROOFLINE_UNKNOWN);
	assert_int_equal(bound_of(NAN, 0.3), ROOFLINE_UNKNOWN);
	assert_int_equal(bound_of(NAN, NAN), ROOFLINE_UNKNOWN);
	assert_null(roofline_bound_name(ROOFLINE_UNKNOWN));
	/* one roof is enough where the other cannot change the answer */
	assert_int_equal(bound_of(0.7, NAN), ROOFLINE_COMPUTE);
	assert_int_equal(bound_of(NAN, 0.7), ROOFLINE_MEMORY_BANDWIDTH);
	assert_int_equal(bound_of(1.7, NAN), ROOFLINE_IMPOSSIBLE);
}

/* ResNet-50 "7.7 GFLOP" in 25 ms against "40 GFLOPS": the roof is wrong by 52 x. */
static void test_the_blog(void **state)
{
	struct roofline_input input;
	struct roofline_point point;
	struct roofline_wording words;

	(void)state;
	orin_nano_input(&input, PREC_FP32);
	input.now.flops[PREC_FP32] = 40e9;
	input.peak_given = true;
	input.flop_per_item = 7.7e9;
	input.latency_s = 0.025;
	input.bytes_per_item = 102e6;
	roofline_compute(&input, &point);
	assert_near(point.roof_share[PREC_FP32], 7.70, 1e-9);
	assert_int_equal(point.bound, ROOFLINE_IMPOSSIBLE);
	assert_true(point.suspects & ROOFLINE_SUSPECT_PEAK);
	assert_true(point.suspects & ROOFLINE_SUSPECT_PADDING);
	assert_false(point.suspects & ROOFLINE_SUSPECT_MAC);
	roofline_words(&input, &point, &words);
	assert_non_null(strstr(words.headline, "impossible: 770 %"));
	assert_non_null(strstr(words.steps[0], "peak"));

	orin_nano_input(&input, PREC_FP32);
	input.flop_per_item = 8.178e9;
	input.latency_s = 0.025;
	input.bytes_per_item = 102e6;
	roofline_compute(&input, &point);
	assert_near(point.roof_share[PREC_FP32], 0.1566, 1e-3);
	assert_int_equal(point.bound, ROOFLINE_UNDER_UTILISED);
	assert_int_equal(point.suspects, 0);
}

/* Row 6 of the fact sheet: a TensorRT FP32 engine above the CUDA roof ran on TF32. */
static void test_suspects(void **state)
{
	struct roofline_input input;
	struct roofline_point point;

	(void)state;
	orin_nano_input(&input, PREC_FP32);
	input.flop_per_item = 68.5e9;
	input.latency_s = 28.21e-3;
	roofline_compute(&input, &point);
	assert_int_equal(point.bound, ROOFLINE_IMPOSSIBLE);
	assert_int_equal(point.held_by, PREC_TF32_TC);
	assert_true(point.suspects & ROOFLINE_SUSPECT_PRECISION);
	assert_true(point.suspects & ROOFLINE_SUSPECT_MAC);
	assert_false(point.suspects & ROOFLINE_SUSPECT_SPARSITY);
	assert_false(point.suspects & ROOFLINE_SUSPECT_CLOCK);

	/* AGX Orin, default mode: 8 of 16 SM; the largest mode would hold it */
	roofline_input_init(&input);
	ceilings_at(&input.now, SOC_T234, 8, 612, 256, 3199);
	ceilings_at(&input.largest, SOC_T234, 16, 1300.5, 256, 3199);
	input.precision = PREC_INT8_TC;
	input.sparse_tensor_cores = input.dla = true;
	input.flop_per_item = 30e12;
	input.items_per_s = 1;
	roofline_compute(&input, &point);
	assert_int_equal(point.bound, ROOFLINE_IMPOSSIBLE);
	assert_int_equal(point.held_by, PRECISIONS);
	assert_int_equal(point.suspects, ROOFLINE_SUSPECT_CLOCK | ROOFLINE_SUSPECT_SPARSITY |
						 ROOFLINE_SUSPECT_MAC | ROOFLINE_SUSPECT_DLA |
						 ROOFLINE_SUSPECT_PADDING);

	input.flop_per_item = 1e9;
	input.bytes_per_item = 300e9;
	roofline_compute(&input, &point);
	assert_int_equal(point.bound, ROOFLINE_IMPOSSIBLE);
	assert_int_equal(point.suspects, ROOFLINE_SUSPECT_TRAFFIC);

	input.flop_per_item = 1e18;
	input.dla = false;
	input.bytes_per_item = NAN;
	roofline_compute(&input, &point);
	assert_true(point.suspects & ROOFLINE_SUSPECT_PEAK);
}

static bool sane(double value)
{
	return isnan(value) || (isfinite(value) && value >= 0);
}

/* Whatever comes in, nothing infinite or negative comes out, and the words fit. */
static void check_sane(const struct roofline_input *input)
{
	struct roofline_wording words;
	struct roofline_point point;

	roofline_compute(input, &point);
	assert_true(sane(point.items_per_s) && sane(point.flops) && sane(point.intensity));
	assert_true(sane(point.bytes_per_item) && sane(point.bytes_per_s));
	assert_true(sane(point.dram_share) && sane(point.dram_practical_share));
	assert_true(sane(point.share_of_roof) && sane(point.largest_share));
	for (int i = 0; i < PRECISIONS; i++)
		assert_true(sane(point.ridge[i]) && sane(point.roof_share[i]));
	assert_true((point.bound == ROOFLINE_IMPOSSIBLE) == (point.suspects != 0));
	roofline_words(input, &point, &words);
	assert_true(*words.headline && strlen(words.headline) < sizeof(words.headline) - 1);
	assert_true(words.nsteps >= 1);
}

static void test_odd_inputs(void **state)
{
	static const double odd[] = {NAN, 0, -1, 1e-308, 1, 1e9, 1e300, INFINITY, -INFINITY};
	const int n = sizeof(odd) / sizeof(odd[0]);
	struct roofline_input input;

	(void)state;
	for (int i = 0; i < n * n * n * n; i++) {
		orin_nano_input(&input, (unsigned int)i % (PRECISIONS + 1));
		input.flop_per_item = odd[i % n];
		input.latency_s = odd[i / n % n];
		input.batch = odd[i / n / n % n];
		input.items_per_s = odd[(i + 3) % n];
		input.now.dram = odd[(i / 7 + 5) % n];
		*(i % 3 == 0   ? &input.bytes_per_item
		  : i % 3 == 1 ? &input.emc_share
			       : &input.weight_bytes) = odd[i / n / n / n];
		input.io_bytes_per_item = odd[(i + 1) % n];
		if (i % 5 == 0 && input.precision < PRECISIONS)
			input.now.flops[input.precision] = odd[(i / 5) % n];
		check_sane(&input);
	}
	roofline_input_init(&input);
	check_sane(&input);
}

static void test_parse_si(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {
		{"40G", 40e9},		{"16.7T", 16.7e12},  {"102.4 GB/s", 102.4e9},
		{"102.4GB/s", 102.4e9}, {"40 GFLOPS", 40e9}, {"67 TOPS", 67e12},
		{"1e9", 1e9},		{"20.3m", 20.3e6},   {"512k", 512e3},
		{"1GiB", 1073741824},	{".5T", 5e11},	     {"2tflop/s", 2e12},
		{"10 bytes", 10},
	};
	static const char *const bad[] = {"",	  "0",	"-1G", "nan",	"inf",
					  "0x10", "G",	"1Q",  "1e400", "1GG",
					  "1G x", " 1", ".",   "5GMAC", "1,5G"};
	double value = -7;
	bool prefixed;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(roofline_parse_si(good[i].text, &value, NULL));
		assert_near(value, good[i].value, 1e-12);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		value = -7;
		if (roofline_parse_si(bad[i], &value, NULL) || value != -7)
			fail_msg("'%s' is taken as %g", bad[i], value);
	}
	assert_true(roofline_parse_si("8.9", &value, &prefixed) && !prefixed);
	assert_true(roofline_parse_si("8.9G", &value, &prefixed) && prefixed);
}

static void test_format(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{2088.96e9, "2.09 TB"}, {999.4e9, "999 GB"}, {999.6e9, "1.00 TB"}, {12, "12.0 B"},
		{0.5, "0.50 B"},	{99.96e6, "100 MB"}, {NAN, "unknown"},	   {0, "0.00 B"},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		roofline_format_si(text, sizeof(text), cases[i].value, "B");
		assert_string_equal(text, cases[i].text);
	}
	roofline_format_si(text, sizeof(text), 1e300, "FLOP/s");
	assert_true(strlen(text) < 24);
	assert_string_equal(roofline_format_share(text, sizeof(text), 0.0803), "8.0 %");
	assert_string_equal(roofline_format_share(text, sizeof(text), 0.715), "72 %");
	assert_string_equal(roofline_format_share(text, sizeof(text), 0.0002), "< 0.1 %");
	assert_string_equal(roofline_format_share(text, sizeof(text), 7.7), "770 %");
	assert_string_equal(roofline_format_share(text, sizeof(text), NAN), "unknown");
}

static void test_precision_names(void **state)
{
	struct board_ceilings orin, nano, none;
	struct roofline_format format;

	(void)state;
	ceilings_at(&orin, SOC_T234, 8, 1020, 128, 3199);
	ceilings_at(&nano, SOC_T210, 1, 921.6, 64, 1600);
	board_ceilings_init(&none);
	assert_true(roofline_format_parse("FP16", &orin, &format));
	assert_int_equal(format.precision, PREC_FP16_TC);
	assert_true(roofline_format_parse("half", &nano, &format));
	assert_int_equal(format.precision, PREC_FP16);
	assert_true(roofline_format_parse("fp16", &none, &format));
	assert_int_equal(format.precision, PREC_FP16_TC);
	assert_true(roofline_format_parse("w4a16", &orin, &format));
	assert_int_equal(format.precision, PREC_FP16_TC);
	assert_near(format.weight_bytes, 0.5, 0);
	assert_near(format.activation_bytes, 2, 0);
	assert_true(roofline_format_parse("int8-tc", &orin, &format));
	assert_int_equal(format.precision, PREC_INT8_TC);
	assert_false(roofline_format_parse("fp12", &orin, &format));
	assert_false(roofline_format_parse("", &orin, &format));
	assert_false(roofline_format_parse("fp16fp16fp16fp16fp16", &orin, &format));
	/* what JSON prints can be typed */
	for (int i = 0; i < PRECISIONS; i++) {
		assert_true(roofline_format_parse(precision_name(i), &nano, &format));
		assert_int_equal(format.precision, i);
	}
}

static void test_models(void **state)
{
	static const char *const spelled[][2] = {
		{"resnet50", "ResNet-50"},
		{"ResNet-50 v1.5", "ResNet-50"},
		{"resnet_50.onnx", "ResNet-50"},
		{"yolov8n", "YOLOv8n"},
		{"YOLO8n 640", "YOLOv8n"},
		{"yolov8n.engine", "YOLOv8n"},
		{"yolo11x-640x640", "YOLO11x"},
		{"YOLOv11m", "YOLO11m"},
		{"yolov3_416", "YOLOv3-416"},
		{"yolov3-tiny", "YOLOv3-tiny-416"},
		{"vit_b_16", "ViT-B/16"},
		{"bert-large", "BERT-large-384"},
		{"Llama 3.1 8B", "Llama-3.1-8B"},
		{"mobilenet_v2", "MobileNetV2"},
		{"yolov3-tiny-416", "YOLOv3-tiny-416"},
	};
	static const char *const unknown[] = {"",	 "-",		"yolov3",
					      "yolov8",	 "resnet",	"resnet101",
					      "resnet5", "yolov8n-320", "\xff\xfe"};
	char names[1024], small[8];
	const struct model *models;
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(spelled) / sizeof(spelled[0]); i++) {
		const struct model *model = model_by_name(spelled[i][0]);

		if (!model || strcmp(model->name, spelled[i][1]))
			fail_msg("'%s' is %s", spelled[i][0], model ? model->name : "unknown");
	}
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_null(model_by_name(unknown[i]));
	models = models_all(&n);
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(model_by_name(models[i].name), &models[i]);
		assert_true(models[i].gflop > 0 && models[i].params_m > 0 && *models[i].source);
		assert_true(isnan(models[i].gmac) == (models[i].unit != MODEL_GIVES_GMAC));
	}
	models_like("yolov8z", names, sizeof(names));
	assert_string_equal(names, "YOLOv8n, YOLOv8s, YOLOv8m, YOLOv8l, YOLOv8x");
	models_like("qwen", names, sizeof(names));
	assert_non_null(strstr(names, "ResNet-18, ResNet-50"));
	assert_non_null(strstr(names, "Llama-2-7B"));
	models_like("qwen", small, sizeof(small));
	assert_true(strlen(small) < sizeof(small));
	assert_near(model_by_name("resnet50")->gflop, 8.18, 1e-3);
	assert_near(model_by_name("vgg16")->gflop, 30.9, 2e-3);
	assert_near(model_by_name("vit-b/16")->gflop, 35.1, 2e-3);
}

static void test_thresholds_have_reasons(void **state)
{
	struct board_ceilings ceilings;

	(void)state;
	for (int i = 0; i < ROOFLINE_THRESHOLDS; i++)
		assert_true(roofline_thresholds[i].name && *roofline_thresholds[i].reason);
	for (int i = 0; i < ROOFLINE_CLAIMS; i++)
		assert_true(*roofline_claims[i].claim && *roofline_claims[i].fact);
	ceilings_at(&ceilings, SOC_T234, 8, 1020, 128, 3199);
	assert_near(ceilings.dram_practical / ceilings.dram,
		    roofline_thresholds[ROOFLINE_DRAM_PRACTICAL].share, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus),
		cmocka_unit_test(test_corpus_roofs_from_the_module_table),
		cmocka_unit_test(test_corpus_traffic_from_the_model_table),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_rate_instead_of_latency),
		cmocka_unit_test(test_traffic_of_emc),
		cmocka_unit_test(test_bounds_at_their_edges),
		cmocka_unit_test(test_unknown_is_not_a_verdict),
		cmocka_unit_test(test_the_blog),
		cmocka_unit_test(test_suspects),
		cmocka_unit_test(test_odd_inputs),
		cmocka_unit_test(test_parse_si),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_precision_names),
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_thresholds_have_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
