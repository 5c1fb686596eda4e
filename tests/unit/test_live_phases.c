/* SPDX-License-Identifier: GPL-2.0-only */
/* Live runs whose window is not all alike: their phases, and the doubt about one verdict for all. */
#include "diagnose_session.h"

#define LIVE(f) cmocka_unit_test_setup_teardown(f, clear_session, free_session)

/* A stretch of samples every 100 ms in which the GPU does the same. */
static void stretch(double seconds, float gpu_busy)
{
	int64_t t_ns = (int64_t)session.series.n * SECOND / 10;

	for (int i = 0; i < (int)(seconds * 10); i++, t_ns += SECOND / 10) {
		struct tegra_point point = {
			.t_ns = t_ns,
			.gpu_busy = gpu_busy,
			.gpu_mhz = 918,
			.emc_busy = 0.3F,
			.emc_mhz = NAN,
			.core_max = 0.1F,
			.cores_used = 0.1F,
			.ram_mb = NAN,
			.swap_mb = NAN,
			.hottest_c = 50,
			.power_mw = NAN,
		};

		assert_int_equal(series_add(&session.series, &point), 0);
	}
	session.end_ns = session.start_ns + t_ns;
}

/* One thread, on a CPU for that share, and the mean of what the stretches did. */
static enum verdict_class judge_stretches(double oncpu)
{
	double sum = 0;

	for (size_t i = 0; i < session.series.n; i++)
		sum += session.series.points[i].gpu_busy;
	set_gpu(sum / (double)session.series.n, (int64_t)session.series.n);
	set_emc(0.3);
	add_thread(11, "infer", (int64_t)(oncpu * (double)(session.end_ns - session.start_ns)), 0);
	return judge();
}

static void expect_phase(int i, const char *name, double from_s, double to_s)
{
	const struct phase_verdict *phase = &verdict.phases[i];

	assert_string_equal(phase->name, name);
	/* Levels are means over 5 points: a border is where it is within 2 of them. */
	assert_true(fabs((double)phase->start_ns / 1e9 - from_s) <= 0.2001);
	assert_true(fabs((double)phase->end_ns / 1e9 - to_s) <= 0.2001);
}

static void loading_before_the_work(void **state)
{
	(void)state;
	stretch(12, 0);
	stretch(18, 0.97F);
	judge_stretches(0.1);
	assert_int_equal(verdict.nphases, 2);
	expect_phase(0, "idle", 0, 12);
	expect_phase(1, "steady", 12, 30);
	assert_int_equal(verdict.phases[0].class, VERDICT_INSUFFICIENT_DATA);
	assert_int_equal(verdict.phases[1].class, VERDICT_COMPUTE_BOUND);
	assert_true(rule("window-not-steady")->fired);
	/* 97 % in the phase, 58.2 % in the window; less where the border is a point off */
	assert_true(fabs(rule("window-not-steady")->value - 0.388) < 0.02);
	assert_true(says("(--delay 13)"));
	assert_true(says("the window has 2 phases: 59 % of it is steady"));
}

static void what_to_do_about_it(void **state)
{
	(void)state;
	stretch(11.9, 0.15F);
	stretch(18.1, 0.97F);
	assert_int_equal(judge_stretches(0.9), VERDICT_CPU_BOUND);
	assert_true(says("(--delay 13)"));
	assert_true(verdict.confidence <= 0.4);
	start_over();
	stretch(18, 0.97F);
	stretch(12, 0.3F);
	assert_int_equal(judge_stretches(0.9), VERDICT_CPU_BOUND);
	assert_true(says("(-d 17)"));
}

static void one_phase(void **state)
{
	(void)state;
	stretch(30, 0.97F);
	assert_int_equal(judge_stretches(0.1), VERDICT_COMPUTE_BOUND);
	assert_int_equal(verdict.nphases, 0);
	assert_false(rule("window-not-steady")->fired);
	assert_true(verdict.confidence > 0.5);
}

static void a_short_start_changes_nothing(void **state)
{
	(void)state;
	stretch(1, 0);
	stretch(29, 0.97F);
	assert_int_equal(judge_stretches(0.1), VERDICT_COMPUTE_BOUND);
	assert_int_equal(verdict.nphases, 2);
	assert_int_equal(verdict.phases[1].class, VERDICT_COMPUTE_BOUND);
	assert_false(rule("window-not-steady")->fired);
	assert_true(verdict.confidence > 0.5);
}

static void too_few_samples_to_tell(void **state)
{
	(void)state;
	stretch(1.5, 0);
	stretch(2, 0.97F);
	judge_stretches(0.1);
	assert_int_equal(verdict.nphases, 0);
	assert_true(isnan(rule("window-not-steady")->value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIVE(loading_before_the_work),	     LIVE(what_to_do_about_it),	    LIVE(one_phase),
		LIVE(a_short_start_changes_nothing), LIVE(too_few_samples_to_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
