/* SPDX-License-Identifier: GPL-2.0-only */
/* What a log shows of module and power mode; the modes are those of the fact sheet on hardware. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "tegra/guess.h"

static int sm(const char *name, double gpu_mhz, int cpus, double emc_mhz)
{
	const struct module *module = module_by_name(name, NULL);

	assert_non_null(module);
	return tegra_guess_sm(module, gpu_mhz, cpus, emc_mhz);
}

static void sms_of_the_mode_that_fits(void **state)
{
	(void)state;
	assert_int_equal(sm("Orin Nano 8GB Super", 407, 4, 2133), 4);
	assert_int_equal(sm("Orin Nano 8GB Super", 1007, 6, NAN), 8);
	assert_int_equal(sm("AGX Orin 64GB", 612, 8, 3199), 8);
	assert_int_equal(sm("AGX Orin 64GB", 1300, 12, 3199), 16);
	assert_int_equal(sm("Orin NX 16GB", 410, 8, 3199), 8);
	/* 10W and 15W have the same clock, cores and SMs. */
	assert_int_equal(sm("Orin NX 16GB", 612, 4, NAN), 4);
}

static void sms_that_cannot_be_told(void **state)
{
	(void)state;
	/* 510 MHz: a governor below its cap; with all cores on that is no mode of fewer SMs. */
	assert_int_equal(sm("Orin Nano 8GB Super", 510, 6, 2133), 8);
	assert_int_equal(sm("Orin Nano 8GB Super", 510, 4, 2133), -1);
	assert_int_equal(sm("Orin Nano 8GB Super", NAN, 6, 2133), -1);
	assert_int_equal(sm("Orin Nano 8GB Super", 1007, 5, 2133), -1);
	/* Of 7W's clock and cores, with an EMC clock above its cap. */
	assert_int_equal(sm("Orin Nano 8GB Super", 407, 4, 3199), -1);
	/* Without the cores, 408 MHz may be that of 7W, or a governor's. */
	assert_int_equal(sm("Orin Nano 8GB Super", 407, -1, NAN), -1);
	/* Where no mode turns SMs off, nothing has to fit. */
	assert_int_equal(sm("Xavier NX 8GB", NAN, 3, NAN), 6);
}

static void a_module_by_its_memory(void **state)
{
	struct tegra_traits traits = {.cv_rail = true, .ram_mb = 6834};

	(void)state;
	assert_string_equal(tegra_guess_module(&traits)->name, "Jetson Xavier NX 8GB");
	traits.ram_mb = 0.79 * 8192;
	assert_null(tegra_guess_module(&traits));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sms_of_the_mode_that_fits),
		cmocka_unit_test(sms_that_cannot_be_told),
		cmocka_unit_test(a_module_by_its_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
