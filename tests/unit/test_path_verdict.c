/* SPDX-License-Identifier: GPL-2.0-only */
/* Verdicts where a thread is known to feed the GPU: class, gain and names, from sessions built by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/verdict.h"
#include "pipeline_session.h"

#define SECOND INT64_C(1000000000)
#define WINDOW (10 * SECOND)

static struct verdict verdict;

static int start(void **state)
{
	(void)state;
	session_init(&session);
	session.start_ns = 7 * SECOND;
	session.end_ns = session.start_ns + WINDOW;
	session.host.cpus = 4;
	session.host.page_bytes = 4096;
	return 0;
}

static int end(void **state)
{
	(void)state;
	session_free(&session);
	return 0;
}

static void set_gpu(double busy)
{
	session.tegra.state = TEGRA_LIVE;
	session.tegra.gpu_busy =
		(struct sampled){.n = 100, .mean = busy, .min = busy, .max = busy, .last = busy};
}

static enum verdict_class judge(void)
{
	diagnose(&session, &verdict);
	return verdict.class;
}

static bool says(const char *part)
{
	if (strstr(verdict.headline, part))
		return true;
	for (int i = 0; i < verdict.nevidence; i++) {
		if (strstr(verdict.evidence[i].text, part))
			return true;
	}
	return false;
}

/* An inference thread that waits for the GPU and, for the rest, for what `loader` does. */
static void pipeline(int gpu, int loader_cpu, int loader_runq)
{
	add(1, "infer", 50, 0);
	add(2, "loader", loader_cpu, loader_runq);
	wait_for(1, WAIT_GPU, gpu, 0, "");
	wait_for(1, WAIT_THREAD, 950 - gpu, 2, "loader");
	set_gpu(gpu / 1000.0);
}

static void a_loader_that_computes(void **state)
{
	(void)state;
	pipeline(200, 1000, 0);
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
	assert_int_equal(verdict.threads[0], 2);
	assert_true(fabs(verdict.share - 0.8) < 1e-6);
	assert_true(fabs(verdict.gain_bound - 5) < 1e-6);
	assert_true(says("loader/2"));
}

static void a_loader_that_reads(void **state)
{
	(void)state;
	pipeline(200, 100, 0);
	strcpy(wait_for(2, WAIT_DISK, 900, 0, "")->site, "pread64 /data/train.bin");
	assert_int_equal(judge(), VERDICT_IO_BOUND);
	assert_true(says("/data/train.bin"));
	assert_int_equal(verdict.threads[0], 2);
	assert_true(verdict.nsteps > 0);
}

/* The same waits: what was read had been in memory before, or it had not. */
static void faults_are_pressure_only_when_pages_come_back(void **state)
{
	(void)state;
	pipeline(200, 100, 0);
	wait_for(2, WAIT_FAULT, 900, 0, "");
	session.pressure.measured = true;
	session.pressure.vm[VM_PAGED_IN_BYTES] = 1000 * 4096;
	session.pressure.vm[VM_REFAULTS_FILE] = 99;
	session.pressure.vm[VM_REFAULTS_ANON] = 0;
	assert_int_equal(judge(), VERDICT_IO_BOUND);
	session.pressure.vm[VM_REFAULTS_FILE] = 100;
	assert_int_equal(judge(), VERDICT_MEMORY_PRESSURE);
}

static void a_lock_names_its_holder(void **state)
{
	(void)state;
	pipeline(200, 100, 0);
	add(3, "logger", 300, 0);
	wait_for(2, WAIT_LOCK, 900, 3, "logger");
	assert_int_equal(judge(), VERDICT_LOCK_BOUND);
	assert_true(says("held by logger/3"));
}

static void a_camera_paces_the_rest(void **state)
{
	(void)state;
	pipeline(200, 100, 0);
	wait_for(2, WAIT_TIMER, 900, 0, "");
	assert_int_equal(judge(), VERDICT_INPUT_LIMITED);
	session.edges[2].class = WAIT_NET;
	session.threads[1].wait_ns[WAIT_NET] = session.threads[1].wait_ns[WAIT_TIMER];
	session.threads[1].wait_ns[WAIT_TIMER] = 0;
	assert_int_equal(judge(), VERDICT_INPUT_LIMITED);
}

static void a_loader_without_a_cpu(void **state)
{
	struct cpu_holder *holders = calloc(2, sizeof(*holders));

	(void)state;
	pipeline(200, 200, 800);
	for (int i = 0; i < 2; i++) {
		holders[i] = (struct cpu_holder){
			.pid = 100, .tid = 2, .kind = HOLDER_PROCESS, .share = 0.31};
		strcpy(holders[i].name, "stress");
	}
	session.cpu_holders = holders;
	session.ncpu_holders = 2;
	assert_int_equal(judge(), VERDICT_CPU_STARVED);
	assert_true(says("held by stress 62 % (2)"));
}

/* Others may keep the CPUs busy at the same time: it is still the quota that stops it. */
static void a_used_up_quota_is_named(void **state)
{
	struct cpu_quota *quota = &session.pressure.quotas[0];

	(void)state;
	pipeline(200, 200, 800);
	session.pressure.nquotas = 1;
	*quota = (struct cpu_quota){.cpus = 0.2, .periods = 101, .throttled_periods = 97};
	strcpy(quota->cgroup, "/docker/abc");
	assert_int_equal(judge(), VERDICT_CPU_STARVED);
	assert_true(says("/docker/abc allows 0.20 CPUs and ran out in 96 %"));
	assert_non_null(strstr(verdict.next_steps[0], "cpu.max"));
	quota->throttled_periods = 10;
	judge();
	assert_false(says("/docker/abc"));
}

static void launching_is_told_from_other_computing(void **state)
{
	struct thread_account *infer;

	(void)state;
	infer = add(1, "infer", 900, 0);
	wait_for(1, WAIT_GPU, 100, 0, "");
	set_gpu(0.1);
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
	infer->cuda.launches = 10007;
	infer->cuda.launch_ns = part_ns(449); /* of 900 on a CPU */
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
	infer->cuda.launch_ns = part_ns(450);
	assert_int_equal(judge(), VERDICT_LAUNCH_BOUND);
	assert_int_equal(verdict.threads[0], 1);
}

/* Samples in the driver's library: the known spinning there is no launching. */
static void spinning_in_the_library_is_no_launching(void **state)
{
	struct thread_account *infer;

	(void)state;
	infer = add(1, "infer", 1000, 0);
	infer->gpu_spin_ns = part_ns(500);
	set_gpu(0.5);
	session.oncpu = calloc(1, sizeof(*session.oncpu));
	session.noncpu = 1;
	session.oncpu[0] = (struct oncpu_site){.pid = 100, .tid = 1, .samples = 100};
	strcpy(session.oncpu[0].library, "libcuda.so.1");
	judge();
	for (int i = 0; i < verdict.nrules; i++) {
		if (!strcmp(verdict.rules[i].name, "launching-dominates"))
			assert_true(fabs(verdict.rules[i].value - 1) < 1e-6);
	}
	session.oncpu[0].samples = 50;
	session.oncpu = reallocarray(session.oncpu, 2, sizeof(*session.oncpu));
	session.oncpu[1] = (struct oncpu_site){.pid = 100, .tid = 1, .samples = 50};
	strcpy(session.oncpu[1].library, "infer");
	session.noncpu = 2;
	judge();
	for (int i = 0; i < verdict.nrules; i++) {
		if (!strcmp(verdict.rules[i].name, "launching-dominates"))
			assert_true(fabs(verdict.rules[i].value) < 1e-6);
	}
}

static void a_spinner_beside_a_working_gpu_is_no_cpu_limit(void **state)
{
	(void)state;
	add(1, "infer", 1000, 0)->gpu_spin_ns = part_ns(850);
	set_gpu(0.85);
	assert_int_equal(judge(), VERDICT_BALANCED);
	/* It computes 15 %: beside the GPU, that leaves 1 / 0.85. */
	assert_non_null(strstr(verdict.next_steps[0], "up to 1.2x"));
	set_gpu(0.95);
	assert_int_equal(judge(), VERDICT_COMPUTE_BOUND);
}

/* It hardly computes, but it is no idle target: a disk or the GPU is what it waits for. */
static void waiting_is_not_idle(void **state)
{
	(void)state;
	add(1, "infer", 40, 0);
	wait_for(1, WAIT_DISK, 930, 0, "");
	wait_for(1, WAIT_GPU, 30, 0, "");
	set_gpu(0.03);
	assert_int_equal(judge(), VERDICT_IO_BOUND);
	assert_false(says("idle"));
}

/* A server without requests: what it waits for is outside the machine. */
static void waiting_for_requests_is_idle(void **state)
{
	(void)state;
	add(1, "infer", 10, 0);
	wait_for(1, WAIT_NET, 960, 0, "");
	wait_for(1, WAIT_GPU, 30, 0, "");
	set_gpu(0.03);
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
	assert_true(says("idle"));
}

/* A board that does not tell the GPU's load: waiting and spinning for it are the same limit. */
static void waiting_for_a_gpu_of_unknown_load(void **state)
{
	(void)state;
	add(1, "infer", 100, 0);
	wait_for(1, WAIT_GPU, 900, 0, "");
	assert_int_equal(judge(), VERDICT_COMPUTE_BOUND);
	assert_true(verdict.confidence > 0 && verdict.confidence <= 0.5);
	assert_true(fabs(verdict.share - 0.9) < 1e-6);
	assert_true(fabs(verdict.gain_bound - 10) < 1e-6);
	assert_true(says("infer/1 waits or spins for the GPU 90 %"));
	assert_true(says("not known"));
	session.edges[0].ns -= part_ns(1);
	session.threads[0].oncpu_ns += part_ns(1);
	assert_int_equal(judge(), VERDICT_BALANCED);
}

static void spinning_for_a_gpu_of_unknown_load(void **state)
{
	(void)state;
	add(1, "infer", 1000, 0)->gpu_spin_ns = part_ns(960);
	assert_int_equal(judge(), VERDICT_COMPUTE_BOUND);
	assert_true(fabs(verdict.share - 0.96) < 1e-6);
	/* The load, where there is one, tells better. */
	set_gpu(0.6);
	assert_int_equal(judge(), VERDICT_BALANCED);
	assert_null(strstr(verdict.next_steps[0], "1.0x"));
}

/* Both filled: no turns that could overlap, and no bound that is none. */
static void no_bound_of_nothing(void **state)
{
	(void)state;
	add(1, "infer", 990, 0)->gpu_spin_ns = part_ns(30);
	wait_for(1, WAIT_GPU, 10, 0, "");
	set_gpu(0.89);
	judge();
	for (int i = 0; i < verdict.nsteps; i++)
		assert_null(strstr(verdict.next_steps[i], "1.0x"));
}

static void mostly_unknown_is_not_judged(void **state)
{
	(void)state;
	add(1, "infer", 100, 0);
	wait_for(1, WAIT_GPU, 200, 0, "");
	wait_for(1, WAIT_EVENT, 700, 0, "");
	set_gpu(0.2);
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
}

static void less_than_a_fifth_is_no_limit(void **state)
{
	(void)state;
	add(1, "infer", 10, 0);
	wait_for(1, WAIT_GPU, 791, 0, "");
	wait_for(1, WAIT_DISK, 199, 0, "");
	set_gpu(0.79);
	assert_int_equal(judge(), VERDICT_BALANCED);
	session.edges[1].ns += part_ns(1);
	session.edges[0].ns -= part_ns(1);
	assert_int_equal(judge(), VERDICT_IO_BOUND);
}

static void other_limits_are_named_beside_it(void **state)
{
	bool starved = false;

	(void)state;
	pipeline(100, 100, 300);
	wait_for(2, WAIT_DISK, 600, 0, "");
	assert_int_equal(judge(), VERDICT_IO_BOUND);
	for (int i = 0; i < verdict.ncontributing; i++)
		starved |= verdict.contributing[i] == VERDICT_CPU_STARVED;
	assert_true(starved);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(a_loader_that_computes),
		TEST(a_loader_that_reads),
		TEST(faults_are_pressure_only_when_pages_come_back),
		TEST(a_lock_names_its_holder),
		TEST(a_camera_paces_the_rest),
		TEST(a_loader_without_a_cpu),
		TEST(a_used_up_quota_is_named),
		TEST(launching_is_told_from_other_computing),
		TEST(spinning_in_the_library_is_no_launching),
		TEST(a_spinner_beside_a_working_gpu_is_no_cpu_limit),
		TEST(waiting_is_not_idle),
		TEST(waiting_for_requests_is_idle),
		TEST(waiting_for_a_gpu_of_unknown_load),
		TEST(spinning_for_a_gpu_of_unknown_load),
		TEST(no_bound_of_nothing),
		TEST(mostly_unknown_is_not_judged),
		TEST(less_than_a_fifth_is_no_limit),
		TEST(other_limits_are_named_beside_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
