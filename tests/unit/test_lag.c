/* SPDX-License-Identifier: GPL-2.0-only */
/* Values by hand, and a first-order low pass simulated in steps of 0.1 ms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "tegra/lag.h"

#define STEP_S 1e-4

static void assert_near(double value, double expected, double within)
{
	if (!(fabs(value - expected) <= within))
		fail_msg("%.6f is not %.6f within %g", value, expected, within);
}

/* y one step later when u is constant, exactly. */
static double follow(double y, double u, double tau_s)
{
	return u + (y - u) * exp(-STEP_S / tau_s);
}

static void test_phase_mean_by_hand(void **state)
{
	(void)state;
	/* 40 + 1.28 * (60 - 20) / 4 = 40 + 12.8 */
	assert_near(lag_phase_mean(40, 20, 60, 1.28, 4), 52.8, 1e-12);
	/* 5000 + 0.42 * (4000 - 7000) / 2 = 5000 - 630 */
	assert_near(lag_phase_mean(5000, 7000, 4000, 0.42, 2), 4370, 1e-9);
	assert_near(lag_phase_mean(33, 10, 10, 1.28, 0.5), 33, 1e-12);
	assert_near(lag_phase_mean(33, 10, 90, 0, 0.5), 33, 1e-12);
}

static void test_phase_mean_of_burst(void **state)
{
	const double u = 83, T_s = 0.5;
	double y = 0, sum = 0;
	int n = (int)(T_s / STEP_S);

	(void)state;
	for (int i = 0; i < n; i++) {
		double next = follow(y, u, LAG_EMC_TAU_S);

		sum += (y + next) / 2;
		y = next;
	}
	/* 83 (1 - exp(-0.5 / 1.28)) = 83 * 0.3234 = 26.8: what tegrastats shows of such a burst */
	assert_near(y, 26.84, 0.01);
	assert_near(lag_phase_mean(sum / n, 0, y, LAG_EMC_TAU_S, T_s), u, 1e-3);
}

/* Idle before and after: the tail of the burst must not count for the phase behind it. */
static void test_phase_mean_of_tail(void **state)
{
	double y = 80, sum = 0;
	int n = 20000;

	(void)state;
	for (int i = 0; i < n; i++) {
		double next = follow(y, 0, LAG_EMC_TAU_S);

		sum += (y + next) / 2;
		y = next;
	}
	/* 80 * 1.28 / 2 * (1 - exp(-2 / 1.28)) = 51.2 * 0.7904 = 40.47: half of 80, all of it old */
	assert_near(sum / n, 40.47, 0.01);
	assert_near(lag_phase_mean(sum / n, 80, y, LAG_EMC_TAU_S, 2), 0, 1e-3);
}

/* A phase of several loads, sampled each 110 ms as tegrastats does: the mean is trapezoidal. */
static void test_phase_mean_of_samples(void **state)
{
	const double loads[] = {10, 70, 30, 90, 50};
	double y = 20, start = 20, sum = 0, before = 20;
	int samples = 0;

	(void)state;
	for (int i = 0; i < 5 * 11000; i++) {
		y = follow(y, loads[i / 11000], LAG_EMC_TAU_S);
		if ((i + 1) % 1100)
			continue;
		sum += (before + y) / 2;
		before = y;
		samples++;
	}
	assert_int_equal(samples, 50);
	/* Trapezoids err by about dt^2 / 12 of the slope's changes: below 0.1 here. */
	assert_near(lag_phase_mean(sum / samples, start, y, LAG_EMC_TAU_S, 5.5), 50, 0.1);
}

static void test_sampled_mean_by_hand(void **state)
{
	(void)state;
	/* a = exp(-1 / 0.42) = 0.092459, a / (1 - a) = 0.101878: 8000 + 0.101878 * 3000 / 10 */
	assert_near(lag_sampled_mean(8000, 5000, 8000, 0.42, 1, 10), 8030.56, 0.01);
	/* a = exp(-0.1 / 0.42) = 0.788118, a / (1 - a) = 3.719604 */
	assert_near(lag_sampled_mean(8000, 5000, 8000, 0.42, 0.1, 100), 8111.59, 0.01);
	assert_near(lag_sampled_mean(33, 10, 10, 1.28, 0.5, 4), 33, 1e-12);
	assert_near(lag_sampled_mean(33, 10, 90, 0, 0.5, 4), 33, 1e-12);
	assert_true(isnan(lag_sampled_mean(33, 10, 90, 0.42, 0, 4)));
	assert_true(isnan(lag_sampled_mean(33, NAN, 90, 0.42, 1, 4)));
	assert_true(isnan(lag_sampled_mean(33, 10, 90, NAN, 1, 4)));
	assert_true(isnan(lag_sampled_mean(33, 10, 90, 0.42, 1, 0)));
}

/* A phase of 10 s at 9 W behind one at 4 W, at every usual interval. */
static void test_sampled_mean_of_step(void **state)
{
	static const int steps[] = {130, 1100, 5000, 10000};

	(void)state;
	for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
		double y = 4000, sum = 0;
		int n = 100000 / steps[k];

		for (int i = 0; i < n * steps[k]; i++) {
			y = follow(y, 9000, LAG_VDD_IN_TAU_S);
			if (!((i + 1) % steps[k]))
				sum += y;
		}
		assert_near(
			lag_sampled_mean(sum / n, 4000, y, LAG_VDD_IN_TAU_S, steps[k] * STEP_S, n),
			9000, 0.01);
		/* With short steps it is the continuous form, of the trapezoidal mean. */
		if (steps[k] == 130)
			assert_near(lag_phase_mean(sum / n - (y - 4000) / (2 * n), 4000, y,
						   LAG_VDD_IN_TAU_S, n * 0.013),
				    9000, 0.5);
	}
}

static void test_invert(void **state)
{
	double before = 0, y = 0;

	(void)state;
	/* a = exp(-1.28 / 1.28) = 0.367879; (50 - a 20) / (1 - a) = 42.64241 / 0.632121 */
	assert_near(lag_invert(20, 50, 1.28, 1.28), 67.4593, 1e-3);
	assert_near(lag_invert(42, 42, 0.42, 0.1), 42, 1e-9);
	assert_near(lag_invert(42, 17, 0, 0.1), 17, 1e-12);
	for (int i = 0; i < 4200; i++) {
		y = follow(y, i < 2100 ? 9000 : 3000, LAG_VDD_IN_TAU_S);
		if ((i + 1) % 1050)
			continue;
		assert_near(lag_invert(before, y, LAG_VDD_IN_TAU_S, 0.105), i < 2100 ? 9000 : 3000,
			    1e-6);
		before = y;
	}
}

static void test_invert_noise(void **state)
{
	(void)state;
	/* a = 0.91766: sqrt(1 + a^2) / (1 - a) / sqrt(12) = 1.35721 / 0.08234 * 0.288675 */
	assert_near(lag_invert_noise(1, LAG_EMC_TAU_S, 0.11), 4.758, 0.005);
	/* a = 0.45783: 1.09982 / 0.54217 * 0.288675 */
	assert_near(lag_invert_noise(1, LAG_EMC_TAU_S, 1), 0.5856, 0.0005);
	assert_near(lag_invert_noise(40, 0, 1), 40 / sqrt(12), 1e-9);
}

/* The noise as stated is the noise as measured: whole percents of a slow wave. */
static void test_invert_noise_measured(void **state)
{
	const double dt = 0.11, a = exp(-dt / LAG_EMC_TAU_S);
	double y = 50, before = 50, squares = 0;
	const int n = 20000;

	(void)state;
	for (int i = 0; i < n; i++) {
		double u = 50 + 40 * sin(i * 0.37) * sin(i * 0.011), error;

		y = u + (y - u) * a;
		error = lag_invert(before, round(y), LAG_EMC_TAU_S, dt) - u;
		squares += error * error;
		before = round(y);
	}
	assert_near(sqrt(squares / n), lag_invert_noise(1, LAG_EMC_TAU_S, dt), 0.3);
}

static void test_unknown(void **state)
{
	(void)state;
	assert_true(isnan(lag_phase_mean(NAN, 1, 2, 1.28, 1)));
	assert_true(isnan(lag_phase_mean(1, NAN, 2, 1.28, 1)));
	assert_true(isnan(lag_phase_mean(1, 1, 2, 1.28, 0)));
	assert_true(isnan(lag_phase_mean(1, 1, 2, 1.28, -1)));
	assert_true(isnan(lag_phase_mean(1, 1, 2, NAN, 1)));
	assert_true(isnan(lag_invert(1, NAN, 1.28, 1)));
	assert_true(isnan(lag_invert(1, 2, 1.28, 0)));
	assert_true(isnan(lag_invert(1, 2, -1, 1)));
	assert_true(isnan(lag_invert_noise(1, 1.28, NAN)));
}

static void test_emc_tau(void **state)
{
	(void)state;
	assert_near(lag_emc_tau_s(20000), 1.28, 1e-12);
	assert_near(lag_emc_tau_s(10000), 0.64, 1e-12);
	assert_near(lag_emc_tau_s(INT32_MIN), LAG_EMC_TAU_S, 1e-12);
	assert_near(lag_emc_tau_s(0), LAG_EMC_TAU_S, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phase_mean_by_hand),
		cmocka_unit_test(test_phase_mean_of_burst),
		cmocka_unit_test(test_phase_mean_of_tail),
		cmocka_unit_test(test_phase_mean_of_samples),
		cmocka_unit_test(test_sampled_mean_by_hand),
		cmocka_unit_test(test_sampled_mean_of_step),
		cmocka_unit_test(test_invert),
		cmocka_unit_test(test_invert_noise),
		cmocka_unit_test(test_invert_noise_measured),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_emc_tau),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
