/* SPDX-License-Identifier: GPL-2.0-only */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tegra/modules.h"

static void assert_close(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance * fabs(expected)))
		fail_msg("%.10g is not %.10g", value, expected);
}

static const struct module *module(const char *name)
{
	const struct module *found = module_by_name(name, NULL);

	if (!found)
		fail_msg("no module %s", name);
	return found;
}

static double gflops(const char *name, const char *mode_name, enum precision precision)
{
	const struct module *m = module(name);
	const struct module_mode *mode = module_mode_by_name(m, mode_name);

	assert_non_null(mode);
	return module_peak_flops(m, precision, mode->sm, mode->gpu_mhz) / 1e9;
}

static double gbs(const char *name, const char *mode_name)
{
	const struct module *m = module(name);
	const struct module_mode *mode = module_mode_by_name(m, mode_name);

	assert_non_null(mode);
	return module_bandwidth(m, mode->emc_mhz) / 1e9;
}

/* Data sheets and the blog figures that they correct. */
static void test_published_peaks(void **state)
{
	(void)state;
	assert_close(gflops("Nano 4GB", "MAXN", PREC_FP16), 471.9, 1e-3);
	assert_close(gflops("TX2", "MAXN", PREC_FP16), 1331.7, 1e-3);
	assert_close(gflops("AGX Xavier 32GB", "MAXN", PREC_FP16_TC), 11280.4, 1e-3);
	assert_close(gflops("AGX Xavier 32GB", "MAXN", PREC_INT8_TC), 22560.8, 1e-3);
	assert_close(gflops("AGX Orin 64GB", "MAXN", PREC_FP32), 5327, 1e-3);
	assert_close(gflops("AGX Orin 64GB", "MAXN", PREC_FP16), 10653.7, 1e-3);
	assert_close(gflops("AGX Orin 64GB", "MAXN", PREC_INT8_TC), 85229.6, 1e-3);
	assert_close(gflops("T5000", "MAXN", PREC_FP4_TC), 1032192, 1e-3);
	assert_close(gflops("T5000", "MAXN", PREC_FP8_TC), 516096, 1e-3);
	assert_close(gflops("T4000", "MAXN", PREC_FP4_TC), 601620, 1e-3);
}

static void test_orin_nano_super(void **state)
{
	(void)state;
	/* 8 SM x 128 x 2 x 1.02 GHz, 8 and 16 times that */
	assert_close(gflops("Orin Nano 8GB Super", "MAXN_SUPER", PREC_FP32), 2088.96, 1e-6);
	assert_close(gflops("Orin Nano 8GB Super", "MAXN_SUPER", PREC_TF32_TC), 8355.84, 1e-6);
	assert_close(gflops("Orin Nano 8GB Super", "MAXN_SUPER", PREC_FP16_TC), 16711.68, 1e-6);
	assert_close(gflops("Orin Nano 8GB Super", "MAXN_SUPER", PREC_INT8_TC), 33423.36, 1e-6);
	assert_close(gbs("Orin Nano 8GB Super", "MAXN_SUPER"), 102.4, 1e-3);
	assert_close(gbs("Orin Nano 8GB Super", "15W"), 68.3, 1e-3);
	assert_close(gflops("Orin Nano 8GB", "7W", PREC_FP32), 417.8, 1e-3);
	assert_close(gflops("Orin Nano 8GB", "15W", PREC_FP32), 1279.5, 1e-3);
}

/* The mode gates SMs besides lowering the clock. */
static void test_mode_lowers_the_roof(void **state)
{
	double maxn = gflops("AGX Orin 64GB", "MAXN", PREC_FP16_TC);
	double capped = gflops("AGX Orin 64GB", "MODE_30W", PREC_FP16_TC);

	(void)state;
	assert_close(capped, 10027, 1e-3);
	assert_close(maxn / capped, 4.25, 1e-3);
	assert_close(gflops("AGX Orin 64GB", "MODE_15W", PREC_FP16_TC), 5013.5, 1e-3);
	assert_close(gbs("AGX Orin 64GB", "MODE_15W"), 136.5, 1e-3);
	assert_close(gflops("Orin NX 16GB", "15W", PREC_FP16_TC), 5013.5, 1e-3);
	assert_close(gflops("Orin NX 16GB", "25W", PREC_FP16_TC), 6684.7, 1e-3);
}

static void test_no_such_unit_is_unknown(void **state)
{
	struct board_ceilings c;

	(void)state;
	assert_true(isnan(gflops("Nano 4GB", "MAXN", PREC_FP16_TC)));
	assert_true(isnan(gflops("Xavier NX", "MODE_15W_6CORE", PREC_TF32_TC)));
	assert_true(isnan(gflops("AGX Orin", "MAXN", PREC_FP8_TC)));
	assert_true(isnan(gflops("T5000", "120W", PREC_FP32)));
	assert_true(isnan(gbs("T5000", "120W")));
	assert_true(isnan(soc_peak_flops(SOC_UNKNOWN, PREC_FP32, 8, 1000)));
	assert_true(isnan(soc_peak_flops(SOC_T234, PREC_FP32, -1, 1000)));
	assert_true(isnan(soc_peak_flops(SOC_T234, PREC_FP32, 8, NAN)));
	assert_true(isnan(soc_peak_flops(SOC_T234, PRECISIONS, 8, 1000)));
	assert_true(isnan(dram_peak_bandwidth(-1, 3199)));
	ceilings_at(&c, SOC_T234, 8, 1020, -1, 3199);
	assert_close(c.flops[PREC_FP32], 2088.96e9, 1e-9);
	assert_true(isnan(c.dram) && isnan(c.dram_practical));
	ceilings_at(&c, SOC_T234, 8, 1020, 128, 3199);
	assert_close(c.dram_practical, 0.8 * 102.368e9, 1e-9);
}

static void test_masks(void **state)
{
	static const struct {
		enum tegra_soc soc;
		long long mask;
		int sm;
	} rows[] = {
		{SOC_T234, 0, 16},  {SOC_T234, 128, 14}, {SOC_T234, 240, 8},  {SOC_T234, 248, 6},
		{SOC_T234, 252, 4}, {SOC_T194, 0, 8},	 {SOC_T194, 5, 4},    {SOC_T194, 1, 6},
		{SOC_T234, -1, -1}, {SOC_T234, 255, -1}, {SOC_T234, 256, -1}, {SOC_T194, 15, -1},
		{SOC_T194, 31, -1}, {SOC_T210, 0, -1},	 {SOC_T264, 0, -1},   {SOC_UNKNOWN, 0, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(soc_active_sm(rows[i].soc, rows[i].mask), rows[i].sm);
}

static void test_names(void **state)
{
	static const struct {
		const char *typed, *name;
		bool assumed;
	} rows[] = {
		{"Jetson Orin Nano 8GB Super", "Jetson Orin Nano 8GB Super", false},
		{"orin-nano-8gb-super", "Jetson Orin Nano 8GB Super", false},
		{"ORIN_NANO_SUPER_8GB", "Jetson Orin Nano 8GB Super", false},
		{"NVIDIA Jetson Orin Nano Super Developer Kit", "Jetson Orin Nano 8GB Super", true},
		{"orin nano 8 GB", "Jetson Orin Nano 8GB", false},
		{"Orin Nano", "Jetson Orin Nano 8GB", true},
		{"Orin Nano 4GB", "Jetson Orin Nano 4GB", false},
		{"Nano", "Jetson Nano 4GB", true},
		{"nano2gb", "Jetson Nano 2GB", false},
		{"TX2", "Jetson TX2 8GB", true},
		{"TX2 NX", "Jetson TX2 NX", false},
		{"Xavier NX", "Jetson Xavier NX 8GB", true},
		{"AGX Xavier", "Jetson AGX Xavier 32GB", true},
		{"xavier 16gb", "Jetson AGX Xavier 16GB", false},
		{"AGX Orin 64GB (and devkit)", "Jetson AGX Orin 64GB", false},
		{"orin-agx-32gb", "Jetson AGX Orin 32GB", false},
		{"AGX Orin Industrial", "Jetson AGX Orin Industrial 64GB", false},
		{"AGX Thor", "Jetson T5000", false},
		{"thor", "Jetson T5000", false},
		{"p3767-0005", "Jetson Orin Nano 8GB", false},
		{"P3767-0005-super", "Jetson Orin Nano 8GB Super", false},
		{"nvidia,p3701-0000", "Jetson AGX Orin 64GB", false},
	};
	bool assumed;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct module *m = module_by_name(rows[i].typed, &assumed);

		if (!m)
			fail_msg("%s not found", rows[i].typed);
		assert_string_equal(m->name, rows[i].name);
		assert_int_equal(assumed, rows[i].assumed);
	}
}

static void test_unknown_names(void **state)
{
	static const char *const rows[] = {
		"",
		"jetson",
		"super",
		"8GB",
		"Orin Nano 6GB",
		"GB10",
		"Nano Super",
		"AGX Super",
		"(x)",
		"p9999-0000",
		"p3767-0005x",
		"p3767-0005-foo",
		"p",
		"gb",
		"99999999999999999999gb",
		"a very long name that no module has and that fits no buffer of sixty four bytes",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (module_by_name(rows[i], NULL))
			fail_msg("%s found", rows[i]);
	}
}

static void test_pnumbers(void **state)
{
	(void)state;
	assert_string_equal(module_by_pnumber("p3767-0003", true)->name,
			    "Jetson Orin Nano 8GB Super");
	assert_string_equal(module_by_pnumber("p3767-0003", false)->name, "Jetson Orin Nano 8GB");
	assert_string_equal(module_by_pnumber("p3701-0005", true)->name, "Jetson AGX Orin 64GB");
	assert_string_equal(module_by_pnumber("p3834-0005", false)->name, "Jetson T4000");
	assert_null(module_by_pnumber("p3767-0009", true));
	assert_null(module_by_pnumber("", false));
}

/* Ids differ: MAXN_SUPER is 2 on Orin Nano and 0 on Orin NX. */
static void test_modes_by_name(void **state)
{
	const struct module *nano = module("Orin Nano 8GB Super"), *agx = module("AGX Orin 64GB");
	const struct module *nx = module("Xavier NX 8GB");

	(void)state;
	assert_ptr_equal(module_mode_by_name(nano, "maxn super"), module_mode_max(nano));
	assert_string_equal(module_mode_by_name(agx, "30W")->name, "MODE_30W");
	assert_string_equal(module_mode_by_name(agx, "mode 30w")->name, "MODE_30W");
	assert_string_equal(module_mode_by_name(nano, "MODE_15W")->name, "15W");
	assert_string_equal(module_mode_by_name(nx, "15W_6CORE")->name, "MODE_15W_6CORE");
	assert_string_equal(module_mode_by_name(module("Orin NX 16GB"), "MAXN (918)")->name,
			    "MAXN");
	assert_string_equal(module_mode_default(agx)->name, "MODE_30W");
	assert_string_equal(module_mode_default(nano)->name, "25W");
	assert_null(module_mode_by_name(nano, "MAXN"));
	assert_null(module_mode_by_name(nano, ""));
	assert_null(module_mode_by_name(nano, "mode"));
	assert_null(module_mode_by_name(nano, "2"));
	assert_null(module_mode_by_name(nano, "1"));
}

static void test_precisions(void **state)
{
	(void)state;
	for (int i = 0; i < PRECISIONS; i++)
		assert_int_equal(precision_parse(precision_name(i)), i);
	assert_int_equal(precision_parse("FP16"), PREC_FP16);
	assert_int_equal(precision_parse("fp16_tc"), PREC_FP16_TC);
	assert_int_equal(precision_parse("INT8"), PREC_INT8_TC);
	assert_int_equal(precision_parse("fp64"), -1);
	assert_int_equal(precision_parse(""), -1);
}

static void test_socs(void **state)
{
	(void)state;
	assert_int_equal(soc_by_name("nvidia,tegra234"), SOC_T234);
	assert_int_equal(soc_by_name("tegra210"), SOC_T210);
	assert_int_equal(soc_by_name("tegra999"), SOC_UNKNOWN);
	assert_null(gpu_rates(SOC_UNKNOWN));
	assert_null(gpu_rates(SOCS));
	assert_true(gpu_rates(SOC_T234)->unverified & 1U << PREC_TF32_TC);
	assert_false(gpu_rates(SOC_T234)->unverified & 1U << PREC_FP16_TC);
}

/* One largest mode each, masks and SMs that agree, nothing left at 0 by mistake. */
static void test_table_is_sound(void **state)
{
	const struct module *modules;
	size_t n;

	(void)state;
	modules = modules_all(&n);
	for (size_t i = 0; i < n; i++) {
		const struct module *m = &modules[i];
		int largest = 0, defaults = 0;

		assert_ptr_equal(module_by_name(m->name, NULL), m);
		assert_ptr_equal(module_by_pnumber(m->pnumbers[0], m->super), m);
		assert_true(m->ram_gb > 0 && m->bus_bits > 0 && m->cpus > 0 && m->nmodes > 0);
		assert_int_equal(module_mode_max(m)->sm, m->sm);
		assert_int_equal(module_mode_max(m)->cpus, m->cpus);
		for (size_t j = 0; j < m->nmodes; j++) {
			const struct module_mode *mode = &m->modes[j];

			largest += mode->is_max;
			defaults += mode->is_default;
			assert_true(mode->cpus && mode->sm && mode->emc_mhz != 0);
			assert_ptr_equal(module_mode_by_name(m, mode->name), mode);
			if (mode->tpc_pg_mask >= 0)
				assert_int_equal(soc_active_sm(m->soc, mode->tpc_pg_mask),
						 mode->sm);
		}
		assert_int_equal(largest, 1);
		assert_true(defaults <= 1);
	}
}

#define COLUMNS_MAX 48

/* The facts that the table was written from; not shipped with the sources. */
struct facts {
	FILE *file;
	char header[4096], line[4096];
	char *names[COLUMNS_MAX], *values[COLUMNS_MAX];
	int n;
};

static int split_tabs(char *line, char **fields)
{
	int n = 0;

	line[strcspn(line, "\n")] = '\0';
	while (line && n < COLUMNS_MAX)
		fields[n++] = strsep(&line, "\t");
	return n;
}

static bool next_row(struct facts *facts)
{
	while (fgets(facts->line, sizeof(facts->line), facts->file)) {
		if (*facts->line == '#')
			continue;
		if (facts->n)
			return split_tabs(facts->line, facts->values) == facts->n;
		memcpy(facts->header, facts->line, sizeof(facts->header));
		facts->n = split_tabs(facts->header, facts->names);
	}
	return false;
}

static const char *field(const struct facts *facts, const char *name)
{
	for (int i = 0; i < facts->n; i++) {
		if (!strcmp(facts->names[i], name))
			return facts->values[i];
	}
	fail_msg("no column %s", name);
	return "";
}

static double number(const struct facts *facts, const char *name)
{
	const char *text = field(facts, name);
	char *end;
	double value = strtod(text, &end);

	return end == text || *end ? NAN : value;
}

/* NAN and -1 are what the table has for a field that is no number. */
static void check_number(const struct facts *facts, const char *name, double have)
{
	double value = number(facts, name);

	if (isnan(value) ? !isnan(have) && have != -1 : fabs(value - have) > 1e-9)
		fail_msg("%s %s: %s is %s, the table has %g", field(facts, "module"),
			 field(facts, "mode"), name, field(facts, name), have);
}

/* The smallest number of "90/92.5 (aux 89)" in it; NAN without one. */
static double smallest(const char *text)
{
	double least = NAN;

	while (*text) {
		char *end;
		double value = strtod(text, &end);

		if (end == text || !isdigit((unsigned char)*text)) {
			text++;
			continue;
		}
		least = fmin(least, value);
		text = end;
	}
	return least;
}

static void check_trips(const struct facts *facts, const struct board_trips *trips)
{
	double cpu = NAN, gpu = NAN, hw = smallest(field(facts, "hw_throttle_c"));
	double shutdown = smallest(field(facts, "sw_shutdown_c"));

	if (sscanf(field(facts, "sw_throttle_c_cpu_gpu"), "%lf/%lf", &cpu, &gpu) != 2)
		cpu = gpu = NAN;
	assert_true(cpu == trips->sw_cpu_c || (isnan(cpu) && isnan(trips->sw_cpu_c)));
	assert_true(gpu == trips->sw_gpu_c || (isnan(gpu) && isnan(trips->sw_gpu_c)));
	assert_true(hw == trips->hw_c || (isnan(hw) && isnan(trips->hw_c)));
	assert_true(shutdown == trips->shutdown_c || (isnan(shutdown) && isnan(trips->shutdown_c)));
}

static void check_peaks(const struct facts *facts, const struct module *m,
			const struct module_mode *mode)
{
	static const struct {
		const char *fma, *peak;
		enum precision precision;
	} paths[] = {
		{"fma_clk_sm_fp32", "peak_fp32_gflops", PREC_FP32},
		{"fma_clk_sm_fp16", "peak_fp16_gflops", PREC_FP16},
		{"fma_clk_sm_tf32tc", "peak_tf32tc_gflops", PREC_TF32_TC},
		{"fma_clk_sm_fp16tc", "peak_fp16tc_dense_gflops", PREC_FP16_TC},
		{"fma_clk_sm_int8tc", "peak_int8tc_dense_gops", PREC_INT8_TC},
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		double peak = number(facts, paths[i].peak);
		double have = module_peak_flops(m, paths[i].precision, mode->sm, mode->gpu_mhz);

		check_number(facts, paths[i].fma, gpu_rates(m->soc)->fma[paths[i].precision]);
		if (isnan(peak))
			assert_true(isnan(have));
		else
			assert_close(have / 1e9, peak, 1e-3);
	}
	if (!isnan(number(facts, "bw_peak_gbs_derived")))
		assert_close(module_bandwidth(m, mode->emc_mhz) / 1e9,
			     number(facts, "bw_peak_gbs_derived"), 2e-3);
}

static void check_row(const struct facts *facts)
{
	const char *pnumber = field(facts, "p_number");
	bool super = strstr(pnumber, "-super") != NULL;
	char id[11];
	const struct module *m;
	const struct module_mode *mode;

	snprintf(id, sizeof(id), "%.10s", pnumber);
	m = module_by_pnumber(id, super);
	if (!m || m->super != super || module_by_name(field(facts, "module"), NULL) != m)
		fail_msg("%s is not in the table", field(facts, "module"));
	mode = *field(facts, "mode") == '(' ? m->modes
					    : module_mode_by_name(m, field(facts, "mode"));
	if (!mode)
		fail_msg("%s has no mode %s", m->name, field(facts, "mode"));
	assert_string_equal(gpu_rates(m->soc)->soc, field(facts, "soc"));
	assert_int_equal(strncmp(gpu_rates(m->soc)->compute, field(facts, "compute_cap"), 3), 0);
	check_number(facts, "cpu_online", mode->cpus);
	check_number(facts, "cpu_total", m->cpus);
	check_number(facts, "cpu_max_mhz", mode->cpu_mhz);
	check_number(facts, "gpu_max_mhz", mode->gpu_mhz);
	check_number(facts, "sm_active", mode->sm);
	check_number(facts, "sm_module", m->sm);
	check_number(facts, "tpc_mask", mode->tpc_pg_mask);
	check_number(facts, "emc_max_mhz", mode->emc_mhz);
	check_number(facts, "bus_bits", m->bus_bits);
	check_number(facts, "mode_id", mode->id);
	if (*field(facts, "mode") != '(' && *field(facts, "mode_id") != '-')
		check_number(facts, "is_default", mode->is_default);
	check_trips(facts, &m->trips);
	check_peaks(facts, m, mode);
}

static void test_facts_agree(void **state)
{
	static struct facts facts;
	const struct module *modules;
	size_t n, expected = 0, rows = 0;

	(void)state;
	facts.file = fopen("../shared/facts/modules.tsv", "re");
	if (!facts.file) {
		print_message("no ../shared/facts/modules.tsv: the table is not compared\n");
		skip();
	}
	while (next_row(&facts)) {
		check_row(&facts);
		rows++;
	}
	fclose(facts.file);
	modules = modules_all(&n);
	for (size_t i = 0; i < n; i++)
		expected += modules[i].nmodes;
	assert_int_equal(rows, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_peaks),
		cmocka_unit_test(test_orin_nano_super),
		cmocka_unit_test(test_mode_lowers_the_roof),
		cmocka_unit_test(test_no_such_unit_is_unknown),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_unknown_names),
		cmocka_unit_test(test_pnumbers),
		cmocka_unit_test(test_modes_by_name),
		cmocka_unit_test(test_precisions),
		cmocka_unit_test(test_socs),
		cmocka_unit_test(test_table_is_sound),
		cmocka_unit_test(test_facts_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
