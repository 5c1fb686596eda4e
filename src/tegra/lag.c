/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/lag.h"

#include <math.h>

#define EMC_WINDOW_SAMPLES 64 /* 2^6, as in the device trees of T210 to T234 */

double lag_emc_tau_s(int32_t period_us)
{
	return period_us > 0 ? EMC_WINDOW_SAMPLES * (period_us / 1e6) : LAG_EMC_TAU_S;
}

/* Of tau y' = u - y, integrated over the phase. */
double lag_phase_mean(double mean_y, double y_start, double y_end, double tau_s, double T_s)
{
	if (!(T_s > 0) || !(tau_s >= 0))
		return NAN;
	return mean_y + tau_s * (y_end - y_start) / T_s;
}

double lag_sampled_mean(double mean_y, double y_before, double y_end, double tau_s, double dt_s,
			double n)
{
	double a;

	if (!(dt_s > 0) || !(tau_s >= 0) || !(n >= 1))
		return NAN;
	a = tau_s > 0 ? exp(-dt_s / tau_s) : 0;
	return mean_y + a / (1 - a) * (y_end - y_before) / n;
}

double lag_invert(double y_before, double y, double tau_s, double dt_s)
{
	double a;

	if (!(dt_s > 0) || !(tau_s >= 0))
		return NAN;
	a = tau_s > 0 ? exp(-dt_s / tau_s) : 0;
	return (y - a * y_before) / (1 - a);
}

/* Two independent errors, uniform over a step: variance step^2 / 12 each. */
double lag_invert_noise(double step, double tau_s, double dt_s)
{
	double a;

	if (!(dt_s > 0) || !(tau_s >= 0))
		return NAN;
	a = tau_s > 0 ? exp(-dt_s / tau_s) : 0;
	return step / sqrt(12) * sqrt(1 + a * a) / (1 - a);
}
