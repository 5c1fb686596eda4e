/* SPDX-License-Identifier: GPL-2.0-only */
/* Work or waiting by spinning, from names as the libraries have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "probe/samples/oncpu_rules.h"

static enum oncpu_kind leaf(const char *library, const char *function, const char *kernel)
{
	struct oncpu_frame frame = {library, function};

	return oncpu_kind_of(&frame, 1, kernel);
}

static void by_leaf(void **state)
{
	static const struct {
		const char *library, *function, *kernel;
		enum oncpu_kind kind;
	} cases[] = {
		{"libjpeg.so.62", "jpeg_idct_islow", NULL, ONCPU_WORK},
		{"libcuda.so.1.1", "", NULL, ONCPU_GPU_SPIN},
		{"libcuda.so.1", "cuStreamSynchronize", NULL, ONCPU_GPU_SPIN},
		{"libcuda.so.1", "cuEventQuery", NULL, ONCPU_GPU_SPIN},
		{"libcuda.so.1", "cuLaunchKernel", NULL, ONCPU_WORK},
		{"libcuda.so.1", "cuMemcpyHtoDAsync_v2", NULL, ONCPU_WORK},
		{"libcudart.so.12", "cudaDeviceSynchronize", NULL, ONCPU_GPU_SPIN},
		{"libcudnn.so.9", "cudnnConvolutionForward", NULL, ONCPU_WORK},
		{"libmycuda.so", "compute", NULL, ONCPU_WORK},
		{"libgomp.so.1", "", NULL, ONCPU_SPIN},
		{"libgomp-a34b3233.so.1.0.0", "", NULL, ONCPU_SPIN},
		{"libgomp.so.1", "GOMP_loop_dynamic_next", NULL, ONCPU_WORK},
		{"libiomp5.so", "__kmp_hyper_barrier_release", NULL, ONCPU_SPIN},
		{"libompute.so", "kernel", NULL, ONCPU_WORK},
		{"libc.so.6", "__sched_yield", NULL, ONCPU_SPIN},
		{"libc.so.6", "sched_yield", "do_syscall_64", ONCPU_SPIN},
		{"libc.so.6", "memcpy", NULL, ONCPU_WORK},
		{"libc.so.6", "read", "copy_page_to_iter", ONCPU_WORK},
		{"libc.so.6", "ioctl", "host1x_syncpt_wait_ts", ONCPU_GPU_SPIN},
		{"libc.so.6", "ioctl", "native_queued_spin_lock_slowpath", ONCPU_SPIN},
		{"libc.so.6", "pthread_spin_lock", NULL, ONCPU_SPIN},
		{"libfoo.so", "absl::base_internal::SpinLock::SlowLock", NULL, ONCPU_SPIN},
		{"infer", "postprocess_spinach", NULL, ONCPU_WORK},
		{"[unknown]", "", NULL, ONCPU_WORK},
		{"[kernel]", "", "?", ONCPU_WORK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (leaf(cases[i].library, cases[i].function, cases[i].kernel) != cases[i].kind)
			fail_msg("%s %s %s", cases[i].library, cases[i].function,
				 cases[i].kernel ? cases[i].kernel : "-");
	}
}

/* A wait loop reads the clock: the leaf is not the driver's. */
static void clock_read_in_a_wait(void **state)
{
	static const struct oncpu_frame frames[] = {
		{"[vdso]", "clock_gettime"}, {"libc.so.6", "clock_gettime"},
		{"libcuda.so.1", ""},	     {"libcuda.so.1", "cuStreamSynchronize"},
		{"infer", "main"},
	};

	(void)state;
	assert_int_equal(oncpu_kind_of(frames, 1, NULL), ONCPU_WORK);
	assert_int_equal(oncpu_kind_of(frames, 5, NULL), ONCPU_GPU_SPIN);
}

static void nameless_inside_of_a_launch(void **state)
{
	static const struct oncpu_frame frames[] = {
		{"libcuda.so.1", ""},
		{"libcuda.so.1", ""},
		{"libcuda.so.1", "cuLaunchKernel"},
		{"libcudart.so.12", "cudaLaunchKernel"},
	};

	(void)state;
	assert_int_equal(oncpu_kind_of(frames, 1, NULL), ONCPU_GPU_SPIN);
	assert_int_equal(oncpu_kind_of(frames, 4, NULL), ONCPU_WORK);
}

/* A callback of a runtime works; what called it does not matter. */
static void work_below_a_runtime(void **state)
{
	static const struct oncpu_frame frames[] = {
		{"libc.so.6", "memcpy"},
		{"infer", "preprocess._omp_fn.0"},
		{"libgomp.so.1", ""},
	};

	(void)state;
	assert_int_equal(oncpu_kind_of(frames, 3, NULL), ONCPU_WORK);
}

static void every_rule_has_a_reason(void **state)
{
	size_t n;
	const struct oncpu_rule *rules = oncpu_rules(&n);

	(void)state;
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++)
		assert_true(strlen(rules[i].reason) > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_leaf),
		cmocka_unit_test(clock_read_in_a_wait),
		cmocka_unit_test(nameless_inside_of_a_launch),
		cmocka_unit_test(work_below_a_runtime),
		cmocka_unit_test(every_rule_has_a_reason),
	};

	return cmocka_run_group_tests_name("oncpu_rules", tests, NULL, NULL);
}
