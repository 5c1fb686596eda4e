/* SPDX-License-Identifier: GPL-2.0-only */
/* The limiting path against shares worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/wait_path.h"
#include "pipeline_session.h"

#define WALL 1000000000LL

static int start(void **state)
{
	(void)state;
	session_init(&session);
	session.start_ns = 1000;
	session.end_ns = 1000 + WALL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	session_free(&session);
	return 0;
}

static void assert_share(const struct wait_path *path, enum path_end end_kind, double share,
			 pid_t top)
{
	const struct path_part *part = &path->parts[end_kind];

	if (fabs(part->share - share) > 1e-9)
		fail_msg("end %d: share %f, not %f", end_kind, part->share, share);
	if (top)
		assert_int_equal(part->top->tid, top);
}

/* The preprocessing thread computes whenever it is waited for. */
static void stands_in_for_its_waiter(void **state)
{
	struct wait_path path;

	(void)state;
	add(1, "infer", 100, 0);
	add(2, "preproc", 700, 0);
	wait_for(1, WAIT_GPU, 300, 0, "");
	wait_for(1, WAIT_THREAD, 600, 2, "");
	wait_for(2, WAIT_THREAD, 300, 1, "");
	wait_path_find(&session, &path);
	assert_string_equal(path.feeder->comm, "infer");
	assert_share(&path, PATH_CPU, 0.7, 2);
	assert_true(fabs(path.parts[PATH_CPU].top_share - 0.6) < 1e-9);
	assert_share(&path, PATH_GPU, 0.3, 1);
	assert_share(&path, PATH_UNKNOWN, 0, 0);
}

static void ends_at_the_camera(void **state)
{
	struct wait_path path;

	(void)state;
	add(1, "infer", 100, 0);
	add(2, "preproc", 200, 0);
	add(3, "capture", 100, 0);
	wait_for(1, WAIT_GPU, 200, 0, "");
	wait_for(1, WAIT_THREAD, 700, 2, "");
	wait_for(2, WAIT_THREAD, 800, 3, "");
	wait_for(3, WAIT_TIMER, 900, 0, "");
	wait_path_find(&session, &path);
	assert_share(&path, PATH_CPU, 0.1 + 0.14 + 0.056, 2);
	assert_share(&path, PATH_GPU, 0.2, 1);
	assert_share(&path, PATH_INPUT, 0.504, 3);
	assert_int_equal(path.parts[PATH_INPUT].edge->class, WAIT_TIMER);
}

static void two_that_wait_for_each_other_end(void **state)
{
	struct wait_path path;

	(void)state;
	add(1, "infer", 400, 0);
	add(2, "other", 0, 0);
	wait_for(1, WAIT_GPU, 100, 0, "");
	wait_for(1, WAIT_THREAD, 500, 2, "");
	wait_for(2, WAIT_THREAD, 1000, 1, "");
	wait_path_find(&session, &path);
	assert_share(&path, PATH_CPU, 0.4, 1);
	assert_share(&path, PATH_GPU, 0.1, 1);
	assert_share(&path, PATH_UNKNOWN, 0.5, 0);
}

static void spinning_is_not_computing(void **state)
{
	struct wait_path path;

	(void)state;
	add(1, "infer", 900, 100)->gpu_spin_ns = part_ns(800);
	wait_path_find(&session, &path);
	assert_share(&path, PATH_CPU, 0.1, 1);
	assert_share(&path, PATH_GPU, 0.8, 1);
	assert_share(&path, PATH_RUNQ, 0.1, 1);
}

static void terminal_classes_end_where_they_are(void **state)
{
	struct wait_path path;

	(void)state;
	add(1, "infer", 50, 0);
	add(2, "loader", 100, 100);
	wait_for(1, WAIT_GPU, 50, 0, "");
	wait_for(1, WAIT_LOCK, 100, 2, "");
	wait_for(1, WAIT_THREAD, 800, 2, "");
	wait_for(2, WAIT_DISK, 500, 0, "");
	wait_for(2, WAIT_FAULT, 200, 0, "");
	wait_for(2, WAIT_EVENT, 100, 0, "");
	wait_path_find(&session, &path);
	assert_share(&path, PATH_LOCK, 0.1, 1);
	assert_int_equal(path.parts[PATH_LOCK].edge->waker_tid, 2);
	assert_share(&path, PATH_DISK, 0.4, 2);
	assert_share(&path, PATH_FAULT, 0.16, 2);
	assert_share(&path, PATH_RUNQ, 0.08, 2);
	assert_share(&path, PATH_UNKNOWN, 0.08, 2);
	assert_share(&path, PATH_CPU, 0.05 + 0.08, 2);
}

/* What a thread did before the window's part it lived in is not its waiter's loss. */
static void a_thread_without_edges_is_unknown_where_it_slept(void **state)
{
	struct wait_path path;

	(void)state;
	add(1, "infer", 0, 0);
	add(2, "helper", 250, 0);
	wait_for(1, WAIT_GPU, 200, 0, "");
	wait_for(1, WAIT_THREAD, 800, 2, "");
	wait_path_find(&session, &path);
	assert_share(&path, PATH_CPU, 0.2, 2);
	assert_share(&path, PATH_UNKNOWN, 0.6, 2);
}

static void without_gpu_use_there_is_no_path(void **state)
{
	struct wait_path path;

	(void)state;
	add(1, "worker", 900, 0);
	wait_for(1, WAIT_TIMER, 100, 0, "");
	wait_path_find(&session, &path);
	assert_null(path.feeder);
	for (int i = 0; i < PATH_ENDS; i++)
		assert_true(isnan(path.parts[i].share));
}

/* A ring of 300: bounded work, and no mass is lost. */
static void a_long_ring_keeps_its_sum(void **state)
{
	struct wait_path path;
	double sum = 0;
	char name[16];

	(void)state;
	for (int i = 1; i <= 300; i++) {
		snprintf(name, sizeof(name), "ring-%d", i);
		add(i, name, 100, 0);
	}
	wait_for(1, WAIT_GPU, 100, 0, "");
	for (int i = 1; i <= 300; i++)
		wait_for(i, WAIT_THREAD, 800, i % 300 + 1, "");
	wait_path_find(&session, &path);
	for (int i = 0; i < PATH_ENDS; i++)
		sum += path.parts[i].share;
	assert_true(fabs(sum - 1) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stands_in_for_its_waiter, start, end),
		cmocka_unit_test_setup_teardown(ends_at_the_camera, start, end),
		cmocka_unit_test_setup_teardown(two_that_wait_for_each_other_end, start, end),
		cmocka_unit_test_setup_teardown(spinning_is_not_computing, start, end),
		cmocka_unit_test_setup_teardown(terminal_classes_end_where_they_are, start, end),
		cmocka_unit_test_setup_teardown(a_thread_without_edges_is_unknown_where_it_slept,
						start, end),
		cmocka_unit_test_setup_teardown(without_gpu_use_there_is_no_path, start, end),
		cmocka_unit_test_setup_teardown(a_long_ring_keeps_its_sum, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
