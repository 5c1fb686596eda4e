/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * EMC load and rail power follow the truth u as a first-order low pass y with time constant tau,
 * so that a sample shows what was before it. GPU load does not lag.
 */
#ifndef TEGRATRACE_TEGRA_LAG_H
#define TEGRATRACE_TEGRA_LAG_H

#include <stdint.h>

/*
 * Seconds. EMC: 64 samples of 20 ms in the activity monitor (device tree: sampling-period, window
 * 2^6); load steps in public Orin Nano logs gave 1.20-1.40 s. VDD_IN: averaging of the INA3221,
 * 0.40-0.44 s in public logs.
 */
#define LAG_EMC_TAU_S	 1.28
#define LAG_VDD_IN_TAU_S 0.42

/* Inverted samples of 0.1 s are useful only as a mean of this many. */
#define LAG_SHORT_SAMPLES_MIN 8

/* tau of the EMC from the monitor's period; LAG_EMC_TAU_S when that is not a positive number. */
double lag_emc_tau_s(int32_t period_us);

/*
 * The mean of u over a phase of T_s from the mean of y over it and y at its borders. Exact, noise
 * inside of the phase is not amplified; may leave the range of y by the noise at the borders. NAN
 * when an input is NAN or T_s is not positive.
 */
double lag_phase_mean(double mean_y, double y_start, double y_end, double tau_s, double T_s);

/*
 * The same from n samples of y, dt_s apart, the first of them dt_s after y_before: the mean of
 * lag_invert() over them, which also holds where dt_s is not small against tau_s.
 */
double lag_sampled_mean(double mean_y, double y_before, double y_end, double tau_s, double dt_s,
			double n);

/* u between two samples of y that lie dt_s apart, taken as constant between them; NAN likewise. */
double lag_invert(double y_before, double y, double tau_s, double dt_s);

/*
 * The rms error of lag_invert() when y is rounded to whole steps, in the same unit: 4.8 points of
 * EMC % at 0.11 s, 0.6 at 1 s.
 */
double lag_invert_noise(double step, double tau_s, double dt_s);

#endif
