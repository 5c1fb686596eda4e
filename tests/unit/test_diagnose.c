/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verdicts of sessions built by hand. Classes, numbers and key words are checked, not sentences;
 * the text of every verdict that any test asks for is checked for what must never be in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/verdict.h"
#include "session/session.h"

#define SECOND	 INT64_C(1000000000)
#define START_NS (7 * SECOND)

static struct session session;
static struct verdict verdict;

static int clear_session(void **state)
{
	(void)state;
	session_init(&session);
	session.start_ns = START_NS;
	session.end_ns = START_NS + 10 * SECOND;
	session.host.cpus = 4;
	return 0;
}

static int free_session(void **state)
{
	(void)state;
	session_free(&session);
	return 0;
}

static void start_over(void)
{
	free_session(NULL);
	clear_session(NULL);
}

/* What it neither ran nor waited it slept. */
static struct thread_account *add_thread(pid_t tid, const char *comm, int64_t oncpu_ns,
					 int64_t runq_ns)
{
	int64_t window_ns = session.end_ns - session.start_ns;
	struct thread_account *thread = session_add_thread(&session);

	assert_non_null(thread);
	thread->pid = 100;
	thread->tid = tid;
	memcpy(thread->comm, comm, strnlen(comm, sizeof(thread->comm)));
	thread->wall_ns = window_ns;
	thread->oncpu_ns = oncpu_ns;
	thread->runq_wake_ns = runq_ns / 2;
	thread->runq_preempt_ns = runq_ns - runq_ns / 2;
	thread->offcpu_ns = window_ns - oncpu_ns - runq_ns;
	thread->wait_ns[WAIT_OTHER] = thread->offcpu_ns;
	return thread;
}

static void sample(struct sampled *s, double value, int64_t n)
{
	*s = (struct sampled){.n = n, .mean = value, .min = value, .max = value, .last = value};
}

static void set_gpu(double busy, int64_t n)
{
	session.tegra.state = TEGRA_LIVE;
	session.tegra.samples = n;
	sample(&session.tegra.gpu_busy, busy, n);
}

static void set_emc(double busy)
{
	sample(&session.tegra.emc_busy, busy, session.tegra.samples);
}

static void check_text(const char *text, size_t size)
{
	const char *const never[] = {"nan", "-nan", "inf", "-inf", "infx", "nanx", "(null)"};
	char clean[2048], word[64];
	size_t len = strnlen(text, size);

	assert_true(len < size);
	text_sanitize(clean, sizeof(clean), text, len);
	assert_string_equal(clean, text);
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, " ,:;()%");

		if (n < sizeof(word)) {
			memcpy(word, p, n);
			word[n] = '\0';
			for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
				assert_string_not_equal(word, never[i]);
		}
		p += n + (p[n] != '\0');
	}
}

static void check_counts(const struct verdict *v)
{
	assert_in_range(v->class, 0, VERDICT_CLASSES - 1);
	assert_in_range(v->nevidence, 0, VERDICT_EVIDENCE);
	assert_in_range(v->nsteps, 1, VERDICT_STEPS);
	assert_in_range(v->ncontributing, 0, VERDICT_CLASSES);
	assert_in_range(v->nthreads, 0, VERDICT_THREADS);
	assert_in_range(v->nrules, 1, VERDICT_RULES);
	assert_true(v->confidence >= 0 && v->confidence <= 1);
	assert_true((v->class == VERDICT_INSUFFICIENT_DATA) == (v->confidence == 0));
	assert_true(isnan(v->share) || (v->share >= 0 && v->share <= 1.01));
	assert_true(isnan(v->gain_bound) || v->gain_bound >= 0.99);
	for (int i = 0; i < v->ncontributing; i++) {
		assert_int_not_equal(v->contributing[i], v->class);
		assert_int_not_equal(v->contributing[i], VERDICT_INSUFFICIENT_DATA);
	}
}

static enum verdict_class judge(void)
{
	memset(&verdict, 0xa5, sizeof(verdict));
	diagnose(&session, &verdict);
	check_counts(&verdict);
	check_text(verdict.headline, sizeof(verdict.headline));
	check_text(verdict.raise, sizeof(verdict.raise));
	check_text(verdict.gain_limit, sizeof(verdict.gain_limit));
	assert_true(isnan(verdict.gain_bound) == !verdict.gain_limit[0]);
	assert_true(verdict.headline[0]);
	for (int i = 0; i < verdict.nevidence; i++) {
		check_text(verdict.evidence[i].text, sizeof(verdict.evidence[i].text));
		check_text(verdict.evidence[i].source, sizeof(verdict.evidence[i].source));
		assert_true(verdict.evidence[i].text[0] && verdict.evidence[i].source[0]);
	}
	for (int i = 0; i < verdict.nsteps; i++) {
		check_text(verdict.next_steps[i], sizeof(verdict.next_steps[i]));
		assert_true(verdict.next_steps[i][0]);
	}
	return verdict.class;
}

static const struct rule_outcome *rule(const char *name)
{
	for (int i = 0; i < verdict.nrules; i++) {
		if (!strcmp(verdict.rules[i].name, name))
			return &verdict.rules[i];
	}
	fail_msg("no rule %s", name);
	return NULL;
}

static bool contributes(enum verdict_class class)
{
	for (int i = 0; i < verdict.ncontributing; i++) {
		if (verdict.contributing[i] == class)
			return true;
	}
	return false;
}

static bool says(const char *word)
{
	bool found = strstr(verdict.headline, word) || strstr(verdict.raise, word);

	for (int i = 0; i < verdict.nevidence; i++)
		found |= strstr(verdict.evidence[i].text, word) != NULL;
	for (int i = 0; i < verdict.nsteps; i++)
		found |= strstr(verdict.next_steps[i], word) != NULL;
	return found;
}

static void expect_near(double got, double want)
{
	if (isnan(want) ? !isnan(got) : !(fabs(got - want) < 1e-6))
		fail_msg("%.9f is not %.9f", got, want);
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

static void hostile_names_are_made_harmless(void **state)
{
	static const char names[][17] = {
		"\033]0;owned\007\033[31m",
		"\xff\xfe\x80\xc3(\xe2\x82",
		"a\nb\rc\td\x7f",
		"\xc2\x9b\x33\x31m\xe2\x80\xae\xe2\x80\xa8",
		"%s%n%n%s%d%n",
		("\x01\x02\x03\x04\x05\x06\x07\x08\x0b"
		 "abc\xe2\x82\xac"), /* a euro sign where a label of 40 bytes ends */
		"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01",
		"\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac",
		"full sixteen by!",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		start_over();
		add_thread(4194304, names[i], 9 * SECOND, SECOND / 2);
		assert_int_equal(judge(), VERDICT_CPU_BOUND);
		start_over();
		add_thread(4194304, names[i], 4 * SECOND, 5 * SECOND);
		assert_int_equal(judge(), VERDICT_CPU_STARVED);
	}
	start_over();
	add_thread(11, "full sixteen by!", 9 * SECOND, 0);
	judge();
	assert_true(says("full sixteen by!/11"));
}

static void sessions_with_nothing_in_them(void **state)
{
	(void)state;
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA); /* no thread, no GPU */
	assert_int_equal(verdict.nthreads, 0);
	set_gpu(0.99, 50);
	judge();
	expect_near(verdict.gain_bound, NAN);
	set_gpu(0.5, 50);
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA); /* busy for whom is not known */
	set_gpu(NAN, 50);
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
	set_gpu(INFINITY, 0);
	set_emc(NAN);
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);

	free_session(NULL);
	session_init(&session); /* no window, no CPUs */
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
	set_gpu(0.99, 50);
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
	session.start_ns = 2 * SECOND; /* a window that ends before it begins */
	session.end_ns = SECOND;
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
}

static void an_empty_window_has_no_shares(void **state)
{
	struct thread_account *thread;

	(void)state;
	session.end_ns = session.start_ns;
	thread = session_add_thread(&session);
	assert_non_null(thread);
	thread->tid = 11;
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
	thread->oncpu_ns = thread->wall_ns = 5;
	assert_int_equal(judge(), VERDICT_INSUFFICIENT_DATA);
}

static void fresh_accounts_know_nothing(void **state)
{
	struct thread_account *thread;

	(void)state;
	for (int i = 0; i < 3; i++) {
		thread = session_add_thread(&session);
		assert_non_null(thread);
		thread->tid = 11 + i;
		thread->wall_ns = thread->oncpu_ns = 9 * SECOND;
	}
	assert_int_equal(judge(), VERDICT_CPU_BOUND);
}

static double random_share(void)
{
	return (rand() % 101) / 100.0;
}

static void random_thread(int tid)
{
	int64_t oncpu_ns = (int64_t)(random_share() * 10 * (double)SECOND);
	int64_t runq_ns = (int64_t)(random_share() * (double)(10 * SECOND - oncpu_ns));
	struct thread_account *thread;
	char comm[17] = "";

	for (int i = 0; i < 16; i++)
		comm[i] = (char)rand();
	thread = add_thread(tid, comm, oncpu_ns, runq_ns);
	thread->unknown_ns = rand() % SECOND;
	if (rand() % 4)
		return;
	thread->runq.count = thread->runq.hist[rand() % SESSION_HIST_BUCKETS] = 1 + rand() % 100;
	thread->runq.max_ns = rand();
}

static void no_session_gives_a_broken_verdict(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		bool full;

		start_over();
		session.host.cpus = 8;
		for (int n = 1 + rand() % 6; n > 0; n--)
			random_thread(1 + rand() % 4194304);
		if (rand() % 4)
			set_gpu(random_share(), rand() % 40);
		full = session.tegra.gpu_busy.n >= 10 && session.tegra.gpu_busy.mean >= 0.9;
		if (rand() % 2)
			set_emc(random_share());
		session.tegra.state = (enum tegra_state)(rand() % 6);
		full &= session.tegra.state != TEGRA_NONE && session.tegra.state != TEGRA_GARBAGE &&
			session.tegra.state != TEGRA_RECORDED;
		judge();
		if (full)
			assert_true(verdict.class == VERDICT_COMPUTE_BOUND ||
				    verdict.class == VERDICT_MEMORY_BANDWIDTH_BOUND);
		else
			assert_true(verdict.class != VERDICT_COMPUTE_BOUND &&
				    verdict.class != VERDICT_MEMORY_BANDWIDTH_BOUND);
	}
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
		TEST(hostile_names_are_made_harmless),
		TEST(sessions_with_nothing_in_them),
		TEST(an_empty_window_has_no_shares),
		TEST(fresh_accounts_know_nothing),
		TEST(no_session_gives_a_broken_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
