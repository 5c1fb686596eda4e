/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPU-bound threads of equal weight on one CPU: each gets 1/n of it and waits in its run queue for
 * the other (n-1)/n.
 *
 *   n=3      threads, hog-0 ..
 *   cpu=LAST the CPU they share; -1: do not pin
 *   quota=0  percent of one CPU that a cgroup gives them all, in periods of 100 ms; 0: no cgroup.
 *            The rest of the time they are runnable and may not run
 *   fifo=0   percent of each 101 ms that they burn under SCHED_FIFO and sleep otherwise; 0: hogs
 */
#include "confine.h"

static uint64_t fifo_ns, period_ns = 101 * WL_MSEC;
static unsigned int quota;
static bool rationed, is_fifo;

/* Less than the whole: all of it would end in the kernel's limit on real-time threads. */
static void fifo(struct wl_thread *t)
{
	struct sched_param param = {.sched_priority = 1};
	uint64_t next = wl_now();

	is_fifo = !sched_setscheduler(0, SCHED_FIFO, &param);
	while (!wl_stopped()) {
		t->val[0]++;
		wl_burn(fifo_ns);
		wl_sleep_until(next += period_ns);
	}
}

static void hog(struct wl_thread *t)
{
	uint64_t loops = 0;

	while (!wl_stopped()) {
		wl_chunk();
		loops++;
	}
	t->val[0] = loops;
}

static void truth(struct wl_json *j)
{
	uint64_t cpu = 0, runq = 0, periods = 0, throttled = 0;
	unsigned int i;

	for (i = 0; i < wl.nth; i++) {
		const struct wl_thread *t = &wl.sh->th[i];

		cpu += t->end.cpu_ns - t->begin.cpu_ns;
		runq += t->end.sched_runq_ns - t->begin.sched_runq_ns;
	}
	wl_u64(j, "threads", wl.nth);
	wl_real(j, "oncpu_share_each", 1.0 / wl.nth);
	wl_real(j, "runq_share_each", (wl.nth - 1.0) / wl.nth);
	wl_u64(j, "cpu_ns", cpu);
	wl_u64(j, "schedstat_runq_ns", runq);
	wl_bool(j, "fifo", is_fifo);
	wl_bool(j, "rationed", rationed && confine_throttled(&periods, &throttled));
	wl_str(j, "why", confine.why);
	wl_u64(j, "throttled_periods", periods);
	wl_u64(j, "throttled_ns", throttled);
}

int main(int argc, char **argv)
{
	static const char *const vals[] = {"loops", NULL};
	struct wl_thread *t;
	int i, n, cpu;

	wl_init("hog", argc, argv, 3);
	n = (int)wl_arg_int("n", 3, 1, WL_MAX_THREADS);
	cpu = wl_arg_cpu("cpu", wl_last_cpu());
	quota = (unsigned int)wl_arg_int("quota", 0, 0, 100000);
	fifo_ns = (uint64_t)wl_arg_int("fifo", 0, 0, 90) * period_ns / 100;
	wl_args_done();
	rationed = quota && confine_cpu(quota * 1000, 100000);
	for (i = 0; i < n; i++) {
		t = wl_add(fifo_ns ? fifo : hog, fifo_ns ? "fifo-hog-%d" : "hog-%d", i);
		t->cpu = cpu;
		t->val_names = vals;
	}
	wl.main_avoid = cpu;
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
