/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many threads that are born and die: every one burns a little CPU time, sleeps once and ends.
 *
 *   total=20011  threads in all, named "short", spread evenly over secs=10
 *   makers=3     threads that create them, maker-0 ..
 *   burn_us=47   CPU time of each   sleep_us=101  its sleep; 0: none
 *   books=0      1: each reads its schedstat before it ends (about 10 us more), for the sums
 */
#include "workload.h"

enum { V_PLANNED, V_CREATED, V_REFUSED, V_LATE, V_MAX };

static const char *const vals[] = {
	[V_PLANNED] = "planned",  [V_CREATED] = "created", [V_REFUSED] = "refused",
	[V_LATE] = "max_late_ns", [V_MAX] = NULL,
};

static uint64_t burn_ns, sleep_ns;
static bool books;

static _Atomic uint64_t finished, live, max_live;
static _Atomic uint64_t sum_cpu, sum_nvcsw, sum_nivcsw, sum_oncpu, sum_runq;

static void account(void)
{
	struct wl_snap s = {.ns = 0};
	struct rusage ru;

	if (books) {
		wl_snap(&s);
	} else {
		getrusage(RUSAGE_THREAD, &ru);
		s.cpu_ns = wl_cpu_ns();
		s.nvcsw = (uint64_t)ru.ru_nvcsw;
		s.nivcsw = (uint64_t)ru.ru_nivcsw;
	}
	sum_cpu += s.cpu_ns;
	sum_nvcsw += s.nvcsw;
	sum_nivcsw += s.nivcsw;
	sum_oncpu += s.sched_oncpu_ns;
	sum_runq += s.sched_runq_ns;
}

static void *shortlived(void *arg)
{
	prctl(PR_SET_NAME, "short");
	wl_burn(burn_ns);
	if (sleep_ns)
		wl_sleep(sleep_ns);
	account();
	live--;
	finished++;
	return arg;
}

static void note_live(void)
{
	uint64_t now = ++live, max = max_live;

	while (now > max && !atomic_compare_exchange_weak(&max_live, &max, now))
		;
}

static bool make_one(struct wl_thread *t, const pthread_attr_t *attr)
{
	pthread_t id;

	note_live();
	if (!pthread_create(&id, attr, shortlived, NULL)) {
		t->val[V_CREATED]++;
		return true;
	}
	live--;
	t->val[V_REFUSED]++;
	wl_sleep(WL_MSEC);
	return false;
}

static void maker(struct wl_thread *t)
{
	uint64_t start = wl_now(), n = t->val[V_PLANNED], when, now, i;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, WL_STACK);
	for (i = 0; i < n && !wl_stopped();) {
		when = start + (uint64_t)((double)wl.secs_ns * (double)i / (double)n);
		now = wl_now();
		if (now < when)
			wl_sleep_until(when);
		else if (now - when > t->val[V_LATE])
			t->val[V_LATE] = now - when;
		i += make_one(t, &attr);
	}
	pthread_attr_destroy(&attr);
}

static uint64_t sum(int val)
{
	uint64_t total = 0;
	unsigned int i;

	for (i = 0; i < wl.nth; i++)
		total += wl.sh->th[i].val[val];
	return total;
}

/* A thread still runs a moment after it counted itself; the folder's links are the truth. */
static bool all_gone(void)
{
	struct stat st;

	if (finished < sum(V_CREATED) || stat("/proc/self/task", &st))
		return false;
	return st.st_nlink <= 2 + 1 + wl.nth;
}

static void wait_gone(void)
{
	uint64_t deadline = wl_now() + WL_GRACE_NS;

	while (!all_gone() && wl_now() < deadline)
		wl_sleep(WL_MSEC);
}

static void truth(struct wl_json *j)
{
	wl_u64(j, "planned", sum(V_PLANNED));
	wl_u64(j, "created", sum(V_CREATED));
	wl_u64(j, "finished", finished);
	wl_u64(j, "refused", sum(V_REFUSED));
	wl_u64(j, "max_live", max_live);
	wl_u64(j, "requested_burn_ns", finished * burn_ns);
	wl_u64(j, "requested_sleep_ns", finished * sleep_ns);
	wl_u64(j, "short_cpu_ns", sum_cpu);
	wl_u64(j, "short_nvcsw", sum_nvcsw);
	wl_u64(j, "short_nivcsw", sum_nivcsw);
	if (books) {
		wl_u64(j, "short_schedstat_oncpu_ns", sum_oncpu);
		wl_u64(j, "short_schedstat_runq_ns", sum_runq);
	}
}

int main(int argc, char **argv)
{
	struct wl_thread *t;
	uint64_t total, makers, i;

	wl_init("churn", argc, argv, 10);
	total = (uint64_t)wl_arg_int("total", 20011, 1, INT_MAX);
	makers = (uint64_t)wl_arg_int("makers", 3, 1, 101);
	burn_ns = (uint64_t)wl_arg_int("burn_us", 47, 0, INT_MAX) * WL_USEC;
	sleep_ns = (uint64_t)wl_arg_int("sleep_us", 101, 0, INT_MAX) * WL_USEC;
	books = wl_arg_int("books", 0, 0, 1);
	wl_args_done();
	for (i = 0; i < makers; i++) {
		t = wl_add(maker, "maker-%d", (int)i);
		t->val_names = vals;
		t->val[V_PLANNED] = total / makers + (i < total % makers);
	}
	wl_launch();
	/* The total ends it; makers that fall behind go on past secs. */
	wl_wait_load(3 * wl.secs_ns + WL_GRACE_NS);
	wait_gone();
	return wl_finish(truth);
}
