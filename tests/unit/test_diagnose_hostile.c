/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions that are empty, hostile or random still give a whole verdict. */
#include "diagnose_session.h"

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
		TEST(hostile_names_are_made_harmless),	 TEST(sessions_with_nothing_in_them),
		TEST(an_empty_window_has_no_shares),	 TEST(fresh_accounts_know_nothing),
		TEST(no_session_gives_a_broken_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
