/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that only sleep, each a prime number of microseconds of its own, a known number of times.
 *
 *   n=7      threads, sleep-0 ..
 *   us=LIST  their sleeps, comma separated; default 1009,2003,5003,10007,20011,50021,100003
 *            and then the next prime above each further 1000
 *   count=0  sleeps a thread; 0: as many as fit in secs (then secs is no limit)
 */
#include "workload.h"

enum { V_US, V_COUNT, V_DONE, V_REQUESTED, V_ASLEEP, V_MAX };

static const char *const vals[] = {
	[V_US] = "us",
	[V_COUNT] = "count_planned",
	[V_DONE] = "count",
	[V_REQUESTED] = "requested_sleep_ns",
	[V_ASLEEP] = "measured_sleep_ns",
	[V_MAX] = NULL,
};

static const uint64_t default_us[] = {1009, 2003, 5003, 10007, 20011, 50021, 100003};

#define NDEFAULT (sizeof(default_us) / sizeof(default_us[0]))

static uint64_t limit_ns;

static void sleeper(struct wl_thread *t)
{
	struct timespec ts = wl_ts(t->val[V_US] * WL_USEC), rest;
	uint64_t t0, i;

	for (i = 0; i < t->val[V_COUNT] && !wl_stopped(); i++) {
		t0 = wl_now();
		rest = ts;
		while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
			;
		t->val[V_ASLEEP] += wl_now() - t0;
	}
	t->val[V_DONE] = i;
	t->val[V_REQUESTED] = i * t->val[V_US] * WL_USEC;
}

static uint64_t own_us(int i, const char **list)
{
	uint64_t us;
	char *end;

	if (!*list)
		return (size_t)i < NDEFAULT ? default_us[i]
					    : wl_next_prime(1000 * (uint64_t)(i + 1));
	us = strtoull(*list, &end, 10);
	if (end == *list || (*end && *end != ',') || !us || us > 86400 * 1000000ULL)
		wl_die(WL_USAGE, "us=: not a list of microseconds for every thread");
	*list = *end ? end + 1 : end;
	return us;
}

static void add(int i, const char **list, uint64_t count)
{
	struct wl_thread *t = wl_add(sleeper, "sleep-%d", i);
	uint64_t us = own_us(i, list);

	if (!count)
		count = wl.secs_ns / WL_USEC / us;
	t->val_names = vals;
	t->val[V_US] = us;
	t->val[V_COUNT] = count;
	if (limit_ns < count * us * WL_USEC)
		limit_ns = count * us * WL_USEC;
}

static void truth(struct wl_json *j)
{
	uint64_t count = 0, requested = 0, asleep = 0;
	unsigned int i;

	for (i = 0; i < wl.nth; i++) {
		count += wl.sh->th[i].val[V_DONE];
		requested += wl.sh->th[i].val[V_REQUESTED];
		asleep += wl.sh->th[i].val[V_ASLEEP];
	}
	wl_u64(j, "threads", wl.nth);
	wl_u64(j, "sleeps", count);
	wl_u64(j, "requested_sleep_ns", requested);
	wl_u64(j, "measured_sleep_ns", asleep);
}

int main(int argc, char **argv)
{
	uint64_t count;
	const char *list;
	int i, n;

	wl_init("sleepers", argc, argv, 3);
	n = (int)wl_arg_int("n", 7, 1, WL_MAX_THREADS);
	count = (uint64_t)wl_arg_int("count", 0, 0, INT_MAX);
	list = wl_arg_str("us", NULL);
	wl_args_done();
	for (i = 0; i < n; i++)
		add(i, &list, count);
	wl_launch();
	/* The counts end it; the limit only guards against a machine that cannot keep up. */
	wl_wait_load(3 * limit_ns + WL_GRACE_NS);
	return wl_finish(truth);
}
