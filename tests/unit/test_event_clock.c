/* SPDX-License-Identifier: GPL-2.0-only */
/* Events whose CPU went. Here none can go: one that is disabled is in the same state, and as silent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probe/event_clock.h"
#include "probe/rungs/perf_cpus.h"
#include "probe/tracefs.h"

static void pass_ms(long ms)
{
	struct timespec time = {.tv_nsec = ms * 1000000};

	nanosleep(&time, NULL);
}

static void test_it_stands_still_once_the_event_is_silent(void **state)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.read_format = EVENT_CLOCK_FORMAT,
		.exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t enabled_ns = 0, before;

	(void)state;
	if (fd < 0)
		skip();
	for (int i = 0; i < 3; i++) {
		before = enabled_ns;
		for (volatile int n = 0; n < 100000; n++)
			;
		assert_true(event_clock_runs(fd, &enabled_ns));
		assert_true(enabled_ns > before);
	}
	assert_int_equal(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	event_clock_runs(fd, &enabled_ns);
	before = enabled_ns;
	assert_false(event_clock_runs(fd, &enabled_ns));
	assert_int_equal(enabled_ns, before);
	close(fd);
	/* what cannot be read is not taken for gone */
	assert_true(event_clock_runs(-1, &enabled_ns));
}

static struct perf_cpus cpus;
static struct event_formats formats;
static char scratch[PERF_RECORD_MAX];

static int open_cpus(void **state)
{
	struct tracefs tracefs;
	char reason[256];
	const char *what;
	bool interrupts = false;
	int err = tracefs_open(&tracefs);

	(void)state;
	if (err)
		return 0;
	err = event_formats_read(&tracefs, &interrupts, &formats, reason, sizeof(reason));
	tracefs_close(&tracefs);
	memset(&cpus, 0, sizeof(cpus));
	cpus.settings = (struct perf_cpu_settings){
		.formats = &formats, .ring_bytes = 1 << 16, .scratch = scratch};
	if (err || perf_cpus_open(&cpus, &what))
		perf_cpus_close(&cpus);
	for (int i = 0; i < cpus.n; i++)
		perf_cpu_enable(cpus.open[i]);
	return 0;
}

static int close_cpus(void **state)
{
	(void)state;
	perf_cpus_close(&cpus);
	return 0;
}

static bool follow(int *first)
{
	pass_ms(2);
	return perf_cpus_follow(&cpus, first);
}

static void test_a_cpu_that_went_and_is_back_is_opened_again(void **state)
{
	int n = cpus.n, gone, first = -1;
	const struct perf_cpu *old;

	(void)state;
	if (!n)
		skip();
	assert_false(follow(&first));
	assert_false(follow(&first));
	old = cpus.open[0];
	gone = old->cpu;
	perf_cpu_disable(old);
	follow(&first); /* it ran until a moment after the last look */
	if (cpus.n == n)
		assert_true(follow(&first));
	/* The old rings are there for once more. */
	assert_int_equal(cpus.n, n + 1);
	assert_int_equal(first, n);
	assert_ptr_equal(cpus.open[0], old);
	assert_true(old->gone);
	assert_int_equal(cpus.open[n]->cpu, gone);
	perf_cpu_enable(cpus.open[n]);
	assert_true(follow(&first));
	assert_int_equal(cpus.n, n);
	assert_int_equal(first, n);
	assert_false(follow(&first));
	for (int i = 0; i < n; i++)
		assert_false(cpus.open[i]->gone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_stands_still_once_the_event_is_silent),
		cmocka_unit_test_setup_teardown(test_a_cpu_that_went_and_is_back_is_opened_again,
						open_cpus, close_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
