/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verdicts of sessions built by hand. Classes, numbers and key words are checked, not sentences;
 * the text of every verdict that any test asks for is checked for what must never be in it.
 */
#include "diagnose_session.h"

static bool contributes(enum verdict_class class)
{
	for (int i = 0; i < verdict.ncontributing; i++) {
		if (verdict.contributing[i] == class)
			return true;
	}
	return false;
}

static void expect_gain(double share, double gain)
{
	expect_near(verdict.share, share);
	expect_near(verdict.gain_bound, gain);
}

static void class_names_are_those_of_the_json(void **state)
{
	(void)state;
	assert_string_equal(verdict_class_name(VERDICT_INSUFFICIENT_DATA), "insufficient-data");
	assert_string_equal(verdict_class_name(VERDICT_COMPUTE_BOUND), "compute-bound");
	assert_string_equal(verdict_class_name(VERDICT_MEMORY_BANDWIDTH_BOUND),
			    "memory-bandwidth-bound");
	assert_string_equal(verdict_class_name(VERDICT_CPU_BOUND), "cpu-bound");
	assert_string_equal(verdict_class_name(VERDICT_CPU_STARVED), "cpu-starved");
	assert_string_equal(verdict_class_name(VERDICT_BALANCED), "balanced");
}

/* One thread, and the GPU unless its load is NAN. */
static enum verdict_class judge_one(int64_t oncpu_ns, int64_t runq_ns, double gpu)
{
	start_over();
	add_thread(11, "infer", oncpu_ns, runq_ns);
	if (!isnan(gpu))
		set_gpu(gpu, 50);
	return judge();
}

static void a_short_window_decides_nothing(void **state)
{
	(void)state;
	session.end_ns = START_NS + SECOND;
	add_thread(11, "infer", SECOND, 0);
	set_gpu(0.2, 50);
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
	session.end_ns--;
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
	assert_false(rule("window-long-enough")->fired);
	assert_true(says("window"));
	expect_gain(NAN, NAN);
}

static void an_idle_target_is_not_judged(void **state)
{
	(void)state;
	assert_int_equal(judge_one(SECOND / 2 - 1, 0, 0.02), VERDICT_INSUFFICIENT_DATA);
	assert_false(rule("target-active")->fired);
	assert_true(says("idle"));
	/* 5 % of 10 s; the run queue counts */
	assert_int_equal(judge_one(SECOND / 4, SECOND / 4, 0.02), VERDICT_INSUFFICIENT_DATA);
	assert_true(rule("target-active")->fired);
	expect_near(rule("target-active")->value, 0.05);
}

static void sleeping_threads_without_gpu_samples_are_not_judged(void **state)
{
	(void)state;
	assert_int_equal(judge_one(3 * SECOND, SECOND / 10, NAN), VERDICT_INSUFFICIENT_DATA);
	assert_true(rule("target-active")->fired);
	assert_false(rule("gpu-samples")->fired);
	assert_true(isnan(rule("gpu-saturated")->value));
	assert_false(rule("gpu-saturated")->fired);
	assert_true(says("tegrastats"));
	assert_int_equal(verdict.ncontributing, 0);
}

static void ten_gpu_samples_are_enough(void **state)
{
	(void)state;
	add_thread(11, "infer", 2 * SECOND, 0);
	set_gpu(0.97, 9);
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
	set_gpu(0.97, 10);
	assert_int_equal(judge(), VERDICT_COMPUTE_BOUND);
}

static void starved_at_a_fifth_of_the_window(void **state)
{
	(void)state;
	assert_int_equal(judge_one(3 * SECOND, 2 * SECOND, 0.3), VERDICT_CPU_STARVED);
	expect_near(rule("run-queue-delay")->value, 0.2);
	expect_gain(0.2, 1.25);
	assert_int_equal(verdict.nthreads, 1);
	assert_int_equal(verdict.threads[0], 11);
	assert_true(verdict.confidence >= 0.8);
	assert_int_equal(judge_one(3 * SECOND, 2 * SECOND - 1, 0.3), VERDICT_INSUFFICIENT_DATA);
}

static void starved_needs_no_gpu_samples_but_is_less_sure(void **state)
{
	(void)state;
	assert_int_equal(judge_one(3 * SECOND, 5 * SECOND, NAN), VERDICT_CPU_STARVED);
	assert_true(verdict.confidence > 0 && verdict.confidence <= 0.6);
	assert_true(verdict.raise[0]);
	expect_gain(0.5, 2);
	/* with a GPU that is the next limit */
	assert_int_equal(judge_one(3 * SECOND, 5 * SECOND, 0.8), VERDICT_CPU_STARVED);
	expect_gain(0.5, 1.25);
	assert_true(contributes(VERDICT_COMPUTE_BOUND));
	assert_false(contributes(VERDICT_CPU_BOUND)); /* on-CPU 30 % */
}

static void others_on_the_cpus_are_named(void **state)
{
	(void)state;
	session.cpus = calloc(4, sizeof(*session.cpus));
	assert_non_null(session.cpus);
	session.ncpus = 4;
	for (int i = 0; i < 4; i++)
		session.cpus[i] = (struct cpu_account){.id = i, .busy = 0.875, .online = true};
	add_thread(11, "infer", 5 * SECOND, 4 * SECOND); /* 12.5 % of four CPUs */
	set_gpu(0.3, 50);
	assert_int_equal(judge(), VERDICT_CPU_STARVED);
	assert_true(says("other processes"));
	assert_true(says("75 %"));
	for (size_t i = 0; i < 4; i++)
		session.cpus[i].busy = 0.3;
	assert_int_equal(judge(), VERDICT_CPU_STARVED);
	assert_false(says("other processes"));
}

static void a_thread_that_fills_a_cpu(void **state)
{
	(void)state;
	add_thread(11, "infer", 85 * SECOND / 10, SECOND / 10);
	add_thread(12, "preproc", 3 * SECOND, 0);
	set_gpu(0.2, 50);
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
	expect_near(rule("thread-fills-a-cpu")->value, 0.85);
	expect_gain(0.85, 1 / 0.3);
	assert_non_null(strstr(verdict.gain_limit, "second"));
	assert_int_equal(verdict.threads[0], 11);
	assert_true(says("infer/11"));
	assert_true(verdict.confidence >= 0.8);
	set_gpu(0.4, 50);
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
	expect_gain(0.85, 2.5);
	assert_non_null(strstr(verdict.gain_limit, "GPU"));
	assert_int_equal(judge_one(85 * SECOND / 10, 0, NAN), VERDICT_CPU_BOUND);
	assert_int_equal(judge_one(85 * SECOND / 10 - 1, 0, NAN), VERDICT_INSUFFICIENT_DATA);
	/* waiting for a CPU adds to it from 10 % on */
	assert_int_equal(judge_one(85 * SECOND / 10, SECOND, NAN), VERDICT_CPU_BOUND);
	assert_true(contributes(VERDICT_CPU_STARVED));
	assert_int_equal(judge_one(85 * SECOND / 10, SECOND - 1, NAN), VERDICT_CPU_BOUND);
	assert_false(contributes(VERDICT_CPU_STARVED));
}

static void cpu_bound_without_gpu_samples_is_a_guess(void **state)
{
	(void)state;
	add_thread(11, "infer", 10 * SECOND, 0);
	add_thread(12, "preproc", 5 * SECOND, 0);
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
	assert_true(verdict.confidence > 0 && verdict.confidence <= 0.4);
	assert_true(strstr(verdict.raise, "GPU"));
	expect_gain(1, 2);
}

static void nothing_else_in_the_way_has_no_bound(void **state)
{
	(void)state;
	assert_int_equal(judge_one(10 * SECOND, 0, NAN), VERDICT_CPU_BOUND);
	expect_gain(1, NAN);
}

static void computing_beside_an_unused_gpu(void **state)
{
	(void)state;
	assert_int_equal(judge_one(5 * SECOND, 0, 0.02), VERDICT_NO_GPU_USE);
	assert_true(rule("gpu-unused")->fired);
	assert_true(says("no thread waits for it"));
	assert_int_equal(judge_one(10 * SECOND, 0, 0.03), VERDICT_CPU_BOUND);
	/* it only waits: nothing says that it should use the GPU now */
	assert_int_equal(judge_one(3 * SECOND, 0, 0.01), VERDICT_INSUFFICIENT_DATA);
}

static void threads_that_fill_all_cpus(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) /* 34 s of 4 x 10 s */
		add_thread(11 + i, "worker", 68 * SECOND / 10, 0);
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
	expect_near(rule("target-fills-all-cpus")->value, 0.85);
	assert_false(rule("thread-fills-a-cpu")->fired);
	expect_gain(0.85, 1 / 0.15);
	set_gpu(0.5, 50);
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
	expect_gain(0.85, 2);
	sample(&session.tegra.gpu_busy, NAN, 0);
	session.threads[2].oncpu_ns--;
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
}

static void exited_threads_folded_into_a_row_are_no_thread(void **state)
{
	struct thread_account *row;

	(void)state;
	row = add_thread(0, "worker", 12 * SECOND, 9 * SECOND);
	row->folded = 40;
	row->exited = true;
	row->wall_ns = 30 * SECOND;
	add_thread(11, "infer", 2 * SECOND, 0);
	set_gpu(0.3, 50);
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
	expect_near(rule("thread-fills-a-cpu")->value, 0.2);
	expect_near(rule("run-queue-delay")->value, 0);
	expect_near(rule("target-fills-all-cpus")->value, 0.35); /* but it used the CPUs */
}

static void taking_turns(void **state)
{
	(void)state;
	/* 60 % + 25 % fill the window, and the CPU part is more than 1.5 times the GPU's */
	assert_int_equal(judge_one(6 * SECOND, 0, 0.25), VERDICT_CPU_BOUND);
	assert_true(rule("cpu-and-gpu-take-turns")->fired);
	expect_gain(0.6, 2.5);
	assert_int_equal(judge_one(6 * SECOND - 1, 0, 0.25), VERDICT_BALANCED); /* no turns */

	assert_int_equal(judge_one(75 * SECOND / 10, 0, 0.5), VERDICT_CPU_BOUND);
	expect_near(rule("cpu-part-dominates")->value, 1.5);
	assert_true(verdict.confidence <= 0.5); /* a GPU that busy may be what it spins for */

	assert_int_equal(judge_one(75 * SECOND / 10 - 1, 0, 0.5), VERDICT_BALANCED);
	assert_true(says("overlap"));
	assert_true(contributes(VERDICT_CPU_BOUND));
	expect_gain(NAN, NAN);
	assert_true(verdict.confidence > 0 && verdict.confidence <= 0.5);
}

static void nothing_stands_out_or_everything_sleeps(void **state)
{
	const double below = nextafter(0.4, 0);

	(void)state;
	assert_int_equal(judge_one(3 * SECOND, 0, 0.4), VERDICT_BALANCED);
	assert_int_equal(judge_one(3 * SECOND, 0, below), VERDICT_INSUFFICIENT_DATA);
	assert_int_equal(judge_one(4 * SECOND, 0, 0.1), VERDICT_BALANCED);
	assert_int_equal(judge_one(4 * SECOND - 1, 0, 0.1), VERDICT_INSUFFICIENT_DATA);
}

static void a_saturated_gpu(void **state)
{
	(void)state;
	add_thread(11, "infer", 5 * SECOND, 0);
	set_gpu(0.96, 50);
	set_emc(0.5);
	assert_int_equal(judge(), VERDICT_COMPUTE_BOUND);
	expect_gain(0.96, 2);
	assert_non_null(strstr(verdict.gain_limit, "thread"));
	assert_true(verdict.confidence >= 0.8);
	assert_int_equal(verdict.nthreads, 0);
	set_gpu(0.90, 50);
	assert_int_equal(judge(), VERDICT_COMPUTE_BOUND);
	assert_true(verdict.confidence <= 0.6); /* at the threshold itself */
	set_gpu(nextafter(0.90, 0), 50);
	assert_int_equal(judge(), VERDICT_BALANCED);
	assert_true(contributes(VERDICT_COMPUTE_BOUND));
}

static void a_saturated_gpu_without_emc_load(void **state)
{
	(void)state;
	add_thread(11, "infer", 2 * SECOND, 0);
	set_gpu(0.99, 50);
	assert_int_equal(judge(), VERDICT_COMPUTE_BOUND);
	assert_true(verdict.confidence > 0 && verdict.confidence <= 0.5);
	assert_true(strstr(verdict.headline, "EMC") || strstr(verdict.headline, "DRAM"));
	assert_true(strstr(verdict.headline, "known"));
	assert_true(strstr(verdict.raise, "EMC"));
	expect_gain(0.99, 5);
}

static void memory_bandwidth_at_its_practical_end(void **state)
{
	(void)state;
	add_thread(11, "infer", 2 * SECOND, 0);
	set_gpu(0.99, 50);
	set_emc(0.75);
	assert_int_equal(judge(), VERDICT_MEMORY_BANDWIDTH_BOUND);
	expect_gain(0.99, 5);
	set_emc(nextafter(0.75, 0));
	assert_int_equal(judge(), VERDICT_COMPUTE_BOUND);
	set_gpu(0.5, 50); /* DRAM alone, the GPU waiting for something else */
	set_emc(0.9);
	assert_int_not_equal(judge(), VERDICT_MEMORY_BANDWIDTH_BOUND);
}

static void a_spinning_thread_beside_a_full_gpu_is_not_cpu_bound(void **state)
{
	(void)state;
	add_thread(11, "infer", 10 * SECOND, 0);
	set_gpu(0.99, 50);
	assert_int_equal(judge(), VERDICT_COMPUTE_BOUND);
	assert_false(contributes(VERDICT_CPU_BOUND));
	expect_gain(0.99, NAN); /* whether it computes is not known */
	for (int i = 0; i < 8; i++)
		add_thread(20 + i, "worker", 5 * SECOND, 4 * SECOND);
	assert_int_equal(judge(), VERDICT_COMPUTE_BOUND);
	set_emc(0.8);
	assert_int_equal(judge(), VERDICT_MEMORY_BANDWIDTH_BOUND);
	session.tegra.state = TEGRA_DIED; /* the samples before that still count */
	assert_int_equal(judge(), VERDICT_MEMORY_BANDWIDTH_BOUND);
}

static void a_recorded_log_drives_no_verdict(void **state)
{
	(void)state;
	add_thread(11, "infer", 2 * SECOND, 0);
	set_gpu(0.99, 5000);
	set_emc(0.9);
	session.tegra.state = TEGRA_RECORDED;
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
	expect_near(rule("gpu-samples")->value, 0);
	assert_true(isnan(rule("gpu-saturated")->value));
	assert_true(isnan(rule("emc-saturated")->value));
	assert_false(says("99 %"));

	session.threads[0].oncpu_ns = 10 * SECOND;
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
	assert_true(verdict.confidence <= 0.4);
	expect_gain(1, NAN);
}

/* "fewer than 10 say nothing about a mean": then they bound and blame nothing either. */
static void a_single_gpu_sample_says_nothing(void **state)
{
	(void)state;
	add_thread(11, "infer", 9 * SECOND, 0);
	set_gpu(0.8, 1);
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
	assert_true(verdict.confidence <= 0.4);
	assert_false(contributes(VERDICT_COMPUTE_BOUND));
	expect_gain(0.9, 10);
}

static void what_lowers_the_confidence(void **state)
{
	struct thread_account *thread;

	(void)state;
	thread = add_thread(11, "infer", 3 * SECOND, 5 * SECOND);
	set_gpu(0.3, 50);
	thread->unknown_ns = SECOND / 5; /* 2 % */
	judge();
	assert_true(verdict.confidence >= 0.8);
	thread->unknown_ns++;
	judge();
	assert_true(verdict.confidence > 0 && verdict.confidence <= 0.6);
	assert_true(verdict.raise[0]);

	start_over();
	session.end_ns = START_NS + 5 * SECOND - 1;
	add_thread(11, "infer", SECOND, 3 * SECOND);
	set_gpu(0.3, 50);
	assert_int_equal(judge(), VERDICT_CPU_STARVED);
	assert_true(verdict.confidence > 0 && verdict.confidence <= 0.7);
	session.end_ns = START_NS + 5 * SECOND;
	assert_int_equal(judge(), VERDICT_CPU_STARVED);
	assert_true(verdict.confidence >= 0.8);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, clear_session, free_session)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(class_names_are_those_of_the_json),
		TEST(a_short_window_decides_nothing),
		TEST(an_idle_target_is_not_judged),
		TEST(sleeping_threads_without_gpu_samples_are_not_judged),
		TEST(ten_gpu_samples_are_enough),
		TEST(starved_at_a_fifth_of_the_window),
		TEST(starved_needs_no_gpu_samples_but_is_less_sure),
		TEST(others_on_the_cpus_are_named),
		TEST(a_thread_that_fills_a_cpu),
		TEST(cpu_bound_without_gpu_samples_is_a_guess),
		TEST(nothing_else_in_the_way_has_no_bound),
		TEST(computing_beside_an_unused_gpu),
		TEST(threads_that_fill_all_cpus),
		TEST(exited_threads_folded_into_a_row_are_no_thread),
		TEST(taking_turns),
		TEST(nothing_stands_out_or_everything_sleeps),
		TEST(a_saturated_gpu),
		TEST(a_saturated_gpu_without_emc_load),
		TEST(memory_bandwidth_at_its_practical_end),
		TEST(a_spinning_thread_beside_a_full_gpu_is_not_cpu_bound),
		TEST(a_recorded_log_drives_no_verdict),
		TEST(a_single_gpu_sample_says_nothing),
		TEST(what_lowers_the_confidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
