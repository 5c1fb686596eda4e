/* SPDX-License-Identifier: GPL-2.0-only */
/* The data model: quantiles, merging, groups and sampled means against numbers worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/session.h"

static void quantile_of_nothing_is_unknown(void **state)
{
	struct runq_delay runq = {.count = 3};

	(void)state;
	assert_int_equal(runq_quantile_ns(&runq, 0.5), UNKNOWN_NS);
	runq.hist[3] = 1;
	assert_int_equal(runq_quantile_ns(&runq, NAN), UNKNOWN_NS);
}

static void quantile_interpolates_in_a_bucket(void **state)
{
	/* 4 delays below 512 ns and 6 in [1024, 2048) */
	struct runq_delay runq = {.count = 10, .max_ns = 2000, .hist = {[0] = 4, [2] = 6}};

	(void)state;
	assert_int_equal(runq_quantile_ns(&runq, 0.2), 256);
	assert_int_equal(runq_quantile_ns(&runq, 0.4), 512);
	assert_int_equal(runq_quantile_ns(&runq, 0.7), 1536);
	assert_int_equal(runq_quantile_ns(&runq, 0.85), 1792);
	assert_int_equal(runq_quantile_ns(&runq, 0), 0);
}

static void quantile_is_capped_by_max(void **state)
{
	struct runq_delay runq = {.count = 1, .max_ns = 1100, .hist = {[2] = 1}};

	(void)state;
	assert_int_equal(runq_quantile_ns(&runq, 0.99), 1100);
	assert_int_equal(runq_quantile_ns(&runq, 7), 1100);
	assert_int_equal(runq_quantile_ns(&runq, -7), 1024);
}

static void last_bucket_reaches_to_max(void **state)
{
	const int last = SESSION_HIST_BUCKETS - 1;
	struct runq_delay runq = {.count = 2, .max_ns = INT64_C(234359738368)};

	(void)state;
	runq.hist[last] = 2;
	/* half-way between 256 << 27 and the maximum */
	assert_int_equal(runq_quantile_ns(&runq, 0.5), INT64_C(134359738368));
	assert_int_equal(runq_quantile_ns(&runq, 1), runq.max_ns);
	runq.max_ns = INT64_MAX;
	runq.hist[last] = UINT32_MAX;
	assert_int_equal(runq_quantile_ns(&runq, 1), INT64_MAX);
}

static void new_session_knows_nothing(void **state)
{
	struct session session;

	(void)state;
	session_init(&session);
	assert_int_equal(session_duration_ns(&session), UNKNOWN_NS);
	assert_int_equal(session.command_status, -1);
	assert_int_equal(session.tegra.cpus_off, -1);
	assert_true(isnan(session.tegra.interval_ms));
	assert_true(isnan(session.tegra.gpu_busy.mean));
	assert_int_equal(session.tegra.gpu_busy.n, 0);
	assert_int_equal(session.overhead.rss_bytes, UNKNOWN_COUNT);
	assert_int_equal(session.losses.block_unmatched, UNKNOWN_COUNT);
	assert_false(session.block_known);
	assert_true(isnan(session.overhead.cpu_share));
	session_free(&session);
	session_free(&session);
}

static void duration_needs_both_ends(void **state)
{
	struct session session;

	(void)state;
	session_init(&session);
	session.start_ns = 1000;
	session.end_ns = 3500;
	assert_int_equal(session_duration_ns(&session), 2500);
	session.end_ns = 500;
	assert_int_equal(session_duration_ns(&session), UNKNOWN_NS);
	session.end_ns = UNKNOWN_NS;
	assert_int_equal(session_duration_ns(&session), UNKNOWN_NS);
	session.start_ns = INT64_MIN + 1;
	session.end_ns = INT64_MAX;
	assert_int_equal(session_duration_ns(&session), UNKNOWN_NS);
}

static void added_threads_are_clear(void **state)
{
	struct session session;

	(void)state;
	session_init(&session);
	for (int i = 0; i < 1000; i++) {
		struct thread_account *thread = session_add_thread(&session);

		assert_non_null(thread);
		assert_int_equal(thread->folded, 1);
		assert_int_equal(thread->oncpu_ns, 0);
		assert_int_equal(thread->wait_ns[WAIT_DISK], UNKNOWN_NS);
		assert_int_equal(thread->wait_ns[WAIT_OTHER], UNKNOWN_NS);
		assert_int_equal(thread->gpu_spin_ns, UNKNOWN_NS);
		assert_int_equal(thread->minor_faults, UNKNOWN_COUNT);
		assert_int_equal(thread->schedstat_runq_ns, UNKNOWN_NS);
		assert_int_equal(thread->io_reads, UNKNOWN_COUNT);
		assert_int_equal(thread->io_device_ns, UNKNOWN_NS);
		assert_int_equal(thread->runq.count, 0);
		thread->tid = i + 1;
	}
	assert_int_equal(session.nthreads, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(session.threads[i].tid, i + 1);
	session_free(&session);
	assert_null(session.threads);
}

static void identity_error_is_exact(void **state)
{
	struct thread_account thread = {
		.wall_ns = 1000,
		.oncpu_ns = 500,
		.runq_wake_ns = 200,
		.runq_preempt_ns = 100,
		.offcpu_ns = 150,
		.stopped_ns = 30,
		.unknown_ns = 20,
	};

	(void)state;
	assert_int_equal(thread_identity_error_ns(&thread), 0);
	thread.stopped_ns++;
	assert_int_equal(thread_identity_error_ns(&thread), 1);
	thread.wall_ns += 3;
	assert_int_equal(thread_identity_error_ns(&thread), -2);
	thread.oncpu_ns = INT64_MAX;
	thread.offcpu_ns = INT64_MAX;
	assert_int_equal(thread_identity_error_ns(&thread), INT64_MAX);
	thread.oncpu_ns = UNKNOWN_NS;
	thread.offcpu_ns = UNKNOWN_NS;
	assert_int_equal(thread_identity_error_ns(&thread), INT64_MIN + 1);
}

static void merge_adds(void **state)
{
	struct thread_account a = {
		.tid = 7,
		.folded = 1,
		.exited = true,
		.wall_ns = 100,
		.oncpu_ns = 60,
		.offcpu_ns = 40,
		.wait_ns = {[WAIT_DISK] = 10, [WAIT_OTHER] = 30},
		.switches_voluntary = 3,
		.runq = {.count = 2, .max_ns = 900, .hist = {[1] = 2}},
		.minor_faults = 5,
		.io_reads = 7,
		.io_write_bytes = 4096,
		.io_device_ns = 11,
		.gaps = 1,
	};
	struct thread_account b = a;

	(void)state;
	b.folded = 4;
	b.runq.max_ns = 600;
	b.runq.hist[0] = 9;
	b.minor_faults = UNKNOWN_COUNT;
	b.io_device_ns = UNKNOWN_NS;
	thread_account_merge(&a, &b);
	assert_int_equal(a.folded, 5);
	assert_int_equal(a.tid, 0);
	assert_true(a.exited);
	assert_int_equal(a.wall_ns, 200);
	assert_int_equal(a.oncpu_ns, 120);
	assert_int_equal(a.wait_ns[WAIT_DISK], 20);
	assert_int_equal(a.wait_ns[WAIT_OTHER], 60);
	assert_int_equal(a.switches_voluntary, 6);
	assert_int_equal(a.runq.count, 4);
	assert_int_equal(a.runq.max_ns, 900);
	assert_int_equal(a.runq.hist[0], 9);
	assert_int_equal(a.runq.hist[1], 4);
	assert_int_equal(a.minor_faults, UNKNOWN_COUNT);
	assert_int_equal(a.io_reads, 14);
	assert_int_equal(a.io_writes, 0);
	assert_int_equal(a.io_write_bytes, 8192);
	assert_int_equal(a.io_device_ns, UNKNOWN_NS);
	assert_int_equal(a.gaps, 2);

	b.exited = false;
	thread_account_merge(&a, &b);
	assert_false(a.exited);
}

static void merge_saturates(void **state)
{
	struct thread_account a = {.folded = UINT32_MAX, .oncpu_ns = INT64_MAX};
	struct thread_account b = {.folded = 2, .oncpu_ns = 5, .stopped_ns = INT64_MIN + 2};

	(void)state;
	a.runq.hist[5] = UINT32_MAX - 1;
	b.runq.hist[5] = 3;
	a.stopped_ns = -2;
	thread_account_merge(&a, &b);
	assert_int_equal(a.folded, UINT32_MAX);
	assert_int_equal(a.oncpu_ns, INT64_MAX);
	assert_int_equal(a.runq.hist[5], UINT32_MAX);
	/* a known time must not turn into the mark of an unknown one */
	assert_int_equal(a.stopped_ns, INT64_MIN + 1);
}

static void add(struct session *session, pid_t pid, pid_t tid, const char *group, int64_t oncpu)
{
	struct thread_account *thread = session_add_thread(session);

	assert_non_null(thread);
	thread->pid = pid;
	thread->tid = tid;
	thread->wall_ns = 1000;
	thread->oncpu_ns = oncpu;
	snprintf(thread->group, sizeof(thread->group), "%s", group);
}

static void groups_are_sorted_and_summed(void **state)
{
	struct thread_group *groups;
	struct session session;
	size_t n;

	(void)state;
	session_init(&session);
	add(&session, 10, 10, "main", 50);
	add(&session, 10, 11, "worker-N", 300);
	add(&session, 20, 21, "worker-N", 100);
	add(&session, 10, 12, "worker-N", 400);
	add(&session, 10, 0, "worker-N", 600);
	session.threads[4].folded = 5;
	/* run-queue time counts for the order: 100 + 1250 is above 300 + 400 + 600 */
	session.threads[2].runq_preempt_ns = 1250;

	groups = session_groups(&session, &n);
	assert_non_null(groups);
	assert_int_equal(n, 3);
	assert_int_equal(groups[0].pid, 20);
	assert_int_equal(groups[0].threads, 1);
	assert_int_equal(groups[0].busiest_ns, 100);
	assert_int_equal(groups[0].busiest_tid, 21);

	assert_int_equal(groups[1].pid, 10);
	assert_string_equal(groups[1].name, "worker-N");
	assert_int_equal(groups[1].threads, 7);
	assert_int_equal(groups[1].sum.folded, 7);
	assert_int_equal(groups[1].sum.oncpu_ns, 1300);
	assert_int_equal(groups[1].sum.wall_ns, 3000);
	/* not the folded row: its 600 are five threads' */
	assert_int_equal(groups[1].busiest_ns, 400);
	assert_int_equal(groups[1].busiest_tid, 12);

	assert_string_equal(groups[2].name, "main");
	free(groups);
	session_free(&session);
}

static void groups_of_folded_rows_and_unknowns(void **state)
{
	struct thread_group *groups;
	struct session session;
	size_t n = 99;

	(void)state;
	session_init(&session);
	assert_null(session_groups(&session, &n));
	assert_int_equal(n, 0);

	add(&session, 1, 0, "a", 10);
	session.threads[0].folded = 2;
	add(&session, 1, 5, "b", UNKNOWN_NS);
	memset(session.threads[1].group, 'x', sizeof(session.threads[1].group));
	groups = session_groups(&session, &n);
	assert_non_null(groups);
	assert_int_equal(n, 2);
	assert_int_equal(groups[0].busiest_tid, 0);
	assert_int_equal(groups[0].busiest_ns, UNKNOWN_NS);
	assert_int_equal(strlen(groups[1].name), sizeof(groups[1].name) - 1);
	assert_int_equal(groups[1].sum.oncpu_ns, UNKNOWN_NS);
	assert_int_equal(groups[1].busiest_ns, UNKNOWN_NS);
	assert_int_equal(groups[1].busiest_tid, 0);
	free(groups);
	session_free(&session);
}

static void sampled_mean_is_that_of_the_sum(void **state)
{
	struct sampled s;
	double sum = 0;

	(void)state;
	sampled_init(&s);
	assert_int_equal(s.n, 0);
	assert_true(isnan(s.mean) && isnan(s.min) && isnan(s.max) && isnan(s.last));

	for (int i = 0; i < 36000; i++) {
		sampled_add(&s, i * 7919 % 1000);
		sum += i * 7919 % 1000;
	}
	assert_int_equal(s.n, 36000);
	assert_true(fabs(s.mean - sum / 36000) < 1e-9);
	assert_true(s.min == 0 && s.max == 999);
	assert_true(s.last == 35999 * 7919 % 1000);

	sampled_add(&s, NAN);
	sampled_add(&s, INFINITY);
	assert_int_equal(s.n, 36000);
	assert_true(s.max == 999);
}

static void wait_classes_have_names(void **state)
{
	(void)state;
	assert_string_equal(wait_class_name(WAIT_DISK), "disk");
	assert_string_equal(wait_class_name(WAIT_OTHER), "other");
	for (int i = 0; i < WAIT_CLASSES; i++)
		assert_string_not_equal(wait_class_name(i), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantile_of_nothing_is_unknown),
		cmocka_unit_test(quantile_interpolates_in_a_bucket),
		cmocka_unit_test(quantile_is_capped_by_max),
		cmocka_unit_test(last_bucket_reaches_to_max),
		cmocka_unit_test(new_session_knows_nothing),
		cmocka_unit_test(duration_needs_both_ends),
		cmocka_unit_test(added_threads_are_clear),
		cmocka_unit_test(identity_error_is_exact),
		cmocka_unit_test(merge_adds),
		cmocka_unit_test(merge_saturates),
		cmocka_unit_test(groups_are_sorted_and_summed),
		cmocka_unit_test(groups_of_folded_rows_and_unknowns),
		cmocka_unit_test(sampled_mean_is_that_of_the_sum),
		cmocka_unit_test(wait_classes_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
