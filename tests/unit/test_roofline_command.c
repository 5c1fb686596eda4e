/* SPDX-License-Identifier: GPL-2.0-only */
/* tegratrace roofline as a person calls it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/roofline_command.h"
#include "roofline_rows.h"
#include "tegra/modules.h"

#define ARGS 24

struct output {
	char out[16384], err[16384];
	int status;
};

static void take_all(FILE *file, char *text, size_t size)
{
	size_t n;

	rewind(file);
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	assert_true(n < size - 1);
	fclose(file);
}

/* In a child: argp exits by itself. */
static void run_command(struct output *output, char *const *args)
{
	char *argv[ARGS + 2] = {(char *)"tegratrace roofline"};
	FILE *out = tmpfile(), *err = tmpfile();
	int argc = 1, status;
	pid_t pid;

	assert_true(out && err);
	for (; args[argc - 1]; argc++)
		argv[argc] = args[argc - 1];
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		exit(roofline_command(argc, argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	output->status = WEXITSTATUS(status);
	take_all(out, output->out, sizeof(output->out));
	take_all(err, output->err, sizeof(output->err));
}

#define RUN(output, ...) run_command(output, (char *const[ARGS + 1]){__VA_ARGS__, NULL})

static json_t *member(const json_t *object, const char *path)
{
	char text[128], *rest = text, *key;
	json_t *value = (json_t *)object;

	snprintf(text, sizeof(text), "%s", path);
	while ((key = strsep(&rest, ".")))
		value = json_object_get(value, key);
	if (!value)
		fail_msg("no %s in the JSON", path);
	return value;
}

static json_t *parsed(const struct output *output)
{
	json_error_t error;
	json_t *object;

	assert_int_equal(output->status, 0);
	assert_string_equal(output->err, "");
	object = json_loads(output->out, 0, &error);
	if (!object)
		fail_msg("%s", error.text);
	return object;
}

static void check_shape(const char *text)
{
	int lines = 0;

	for (const char *line = text; *line; line = strchr(line, '\n') + 1, lines++)
		assert_true(strcspn(line, "\n") <= 100);
	assert_true(lines > 0 && lines <= 25);
}

static void test_command_text(void **state)
{
	struct output output;

	(void)state;
	RUN(&output, "--module", "orin-nano-super", "--mode", "maxn_super", "--model", "yolov8n",
	    "--latency", "4.43");
	assert_int_equal(output.status, 0);
	assert_string_equal(output.err, "");
	check_shape(output.out);
	assert_non_null(strstr(output.out, "neither-roof: 12 % of the FP16 TC roof"));
	assert_non_null(strstr(output.out, "Jetson Orin Nano 8GB Super, MAXN_SUPER"));
	assert_non_null(strstr(output.out, "16.7 TFLOP/s"));
	assert_non_null(strstr(output.out, "lower bound"));
	/* in the default mode half of the SMs are gated: the largest mode is shown beside it */
	RUN(&output, "--module", "agx orin 64gb", "--gflop", "8.9", "--fps", "100", "--bytes",
	    "5M");
	assert_int_equal(output.status, 0);
	check_shape(output.out);
	assert_non_null(strstr(output.out, "8 of 16 SM"));
	assert_non_null(strstr(output.out, "42.6 TFLOP/s"));
	assert_non_null(strstr(output.out, "default mode is assumed"));
}

static void test_command_fits_the_screen(void **state)
{
	struct output output;
	const struct module *modules;
	size_t n;

	(void)state;
	modules = modules_all(&n);
	for (size_t i = 0; i < n; i++) {
		RUN(&output, "--module", (char *)modules[i].name, "--model", "bert-large",
		    "--latency", "0.1", "--peak-flops", "40G", "--peak-bw", "102.4GB/s");
		assert_int_equal(output.status, 0);
		check_shape(output.out);
		assert_non_null(strstr(output.out, "impossible"));
	}
}

static void test_command_answers_the_blog(void **state)
{
	struct output output;
	json_t *object;

	(void)state;
	RUN(&output, "--module", "Orin Nano 8GB", "--precision", "fp32", "--peak-flops", "40G",
	    "--peak-bw", "102.4GB/s", "--gflop", "7.7", "--latency", "25", "--bytes", "102M",
	    "--json");
	object = parsed(&output);
	assert_string_equal(json_string_value(member(object, "roofline.point.bound")),
			    "impossible");
	assert_near(json_number_value(member(object, "roofline.point.share_of_roof")), 7.7, 1e-9);
	assert_non_null(strstr(output.out, "40 is the sparse INT8 TOPS"));
	assert_non_null(strstr(output.out, "FP32 1.28 TFLOP/s"));
	assert_non_null(strstr(output.out, "this mode 68.3 GB/s"));
	assert_non_null(strstr(output.out, "with the table's roofs under-utilised: 24 %"));
	json_decref(object);

	RUN(&output, "--module", "orin-nano-super", "--precision", "int8", "--peak-flops",
	    "67 TOPS");
	assert_non_null(strstr(output.out, "sparse peak"));
	RUN(&output, "--help");
	assert_int_equal(output.status, 0);
	assert_non_null(strstr(output.out, "85 C"));
}

static void test_command_json(void **state)
{
	static const char *const keys[] = {"precision", "peak_flops", "peak_bw", "ridge", "point"};
	struct output output;
	json_t *object;

	(void)state;
	RUN(&output, "--module", "p3448-0000", "--model", "yolov3-416", "--latency", "202.84ms",
	    "--json");
	object = parsed(&output);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_non_null(json_object_get(json_object_get(object, "roofline"), keys[i]));
	assert_int_equal(json_object_size(json_object_get(object, "roofline")), 5);
	assert_int_equal(json_object_size(member(object, "roofline.point")), 4);
	assert_string_equal(json_string_value(member(object, "roofline.precision")), "fp16");
	assert_near(json_number_value(member(object, "roofline.peak_flops")), 471.8592e9, 1e-9);
	assert_near(json_number_value(member(object, "roofline.point.share_of_roof")), 0.6885,
		    1e-3);
	assert_string_equal(json_string_value(member(object, "roofline.point.bound")),
			    "compute-bound");
	assert_int_equal(json_array_size(member(object, "ceilings")), 4);
	assert_string_equal(json_string_value(member(object, "workload.traffic")), "lower-bound");
	assert_true(json_is_null(member(object, "workload.batch")));
	json_decref(object);

	/* Thor below its largest mode: clocks unknown, so null and no verdict */
	RUN(&output, "--module", "thor", "--mode", "120W", "--gflop", "8", "--fps", "9", "--json");
	object = parsed(&output);
	assert_true(json_is_null(member(object, "roofline.peak_flops")));
	assert_true(json_is_null(member(object, "roofline.point.bound")));
	assert_true(json_is_null(member(object, "roofline.point.intensity")));
	json_decref(object);
}

static void test_command_unknown_board(void **state)
{
	struct output output;
	json_t *object;

	(void)state;
	RUN(&output, "--module", "Jetson X9000", "--peak-flops", "100T", "--peak-bw", "500G",
	    "--gflop", "16.1", "--bytes", "4.5G", "--fps", "90", "--json");
	object = parsed(&output);
	assert_true(json_is_null(member(object, "module")));
	assert_near(json_number_value(member(object, "roofline.ridge")), 200, 1e-9);
	assert_string_equal(json_string_value(member(object, "roofline.point.bound")),
			    "memory-bandwidth-bound");
	assert_int_equal(json_array_size(member(object, "ceilings")), 3);
	json_decref(object);
	RUN(&output, "--peak-flops", "100T");
	assert_int_equal(output.status, 0);
	check_shape(output.out);
}

static void check_usage(struct output *output, const char *message)
{
	assert_int_equal(output->status, 2);
	assert_string_equal(output->out, "");
	if (!strstr(output->err, message))
		fail_msg("'%s' is not in '%s'", message, output->err);
}

static void test_command_errors(void **state)
{
	struct output output;

	(void)state;
	RUN(&output, "--module", "orin banana", "--model", "resnet50", "--fps", "1");
	check_usage(&output, "AGX Xavier 32GB");
	RUN(&output, "--module", "nano", "--model", "yolov9", "--fps", "1");
	check_usage(&output, "YOLOv8n");
	RUN(&output, "--module", "nano", "--mode", "MAXN_SUPER", "--fps", "1");
	check_usage(&output, "it has MAXN, 5W");
	RUN(&output, "--module", "nano", "--precision", "int8");
	check_usage(&output, "it has fp32, fp16");
	RUN(&output, "--module", "nano", "--precision", "fp12");
	check_usage(&output, "unknown precision");
	RUN(&output, "--model", "resnet50", "--fps", "1");
	check_usage(&output, "no ceilings");
	RUN(&output, "--module", "nano", "--model", "resnet50", "--gflop", "8");
	check_usage(&output, "not both");
	RUN(&output, "--module", "nano", "--latency", "1", "--fps", "8");
	check_usage(&output, "not both");
	RUN(&output, "--module", "nano", "--latency", "0");
	check_usage(&output, "--latency");
	RUN(&output, "--module", "nano", "--batch", "1.5");
	check_usage(&output, "whole number");
	RUN(&output, "--module", "nano", "--gflop", "4.09GMAC");
	check_usage(&output, "1 GMAC is 2 GFLOP");
	RUN(&output, "--peak-flops", "16.7");
	check_usage(&output, "16.7T?");
	assert_ptr_equal(strchr(output.err, '\n') + 1, output.err + strlen(output.err));
	RUN(&output, "--peak-bw", "102");
	check_usage(&output, "--peak-bw 102 is without an SI prefix");
	RUN(&output, "--module", "nano", "resnet50");
	check_usage(&output, "unknown word");
}

static void check_row_by_command(const struct row *row)
{
	char peak[64], bandwidth[64], gflop[64], latency[64], bytes[64];
	struct output output;
	json_t *object;

	snprintf(peak, sizeof(peak), "%gG", row->roof_gflops);
	snprintf(bandwidth, sizeof(bandwidth), "%gGB/s", row->dram_gb_s);
	snprintf(gflop, sizeof(gflop), "%g", row->gflop);
	snprintf(latency, sizeof(latency), "%g", row->latency_ms);
	snprintf(bytes, sizeof(bytes), "%gM", row->traffic_mb);
	RUN(&output, "--peak-flops", peak, "--peak-bw", bandwidth, "--gflop", gflop, "--latency",
	    latency, "--bytes", bytes, "--json");
	object = parsed(&output);
	check_percent(row, "share",
		      100 * json_number_value(member(object, "roofline.point.share_of_roof")),
		      fmax(row->roof_pct, row->dram_pct));
	assert_string_equal(json_string_value(member(object, "roofline.point.bound")),
			    row->verdict);
	json_decref(object);
}

static void test_corpus_by_command(void **state)
{
	(void)state;
	assert_int_equal(each_row(check_row_by_command), 22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus_by_command),
		cmocka_unit_test(test_command_text),
		cmocka_unit_test(test_command_fits_the_screen),
		cmocka_unit_test(test_command_answers_the_blog),
		cmocka_unit_test(test_command_json),
		cmocka_unit_test(test_command_unknown_board),
		cmocka_unit_test(test_command_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
