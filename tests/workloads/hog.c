/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPU-bound threads of equal weight on one CPU: each gets 1/n of it and waits in its run queue for
 * the other (n-1)/n.
 *
 *   n=3      threads, hog-0 ..
 *   cpu=LAST the CPU they share; -1: do not pin
 */
#include "workload.h"

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
	uint64_t cpu = 0, runq = 0;
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
}

int main(int argc, char **argv)
{
	static const char *const vals[] = {"loops", NULL};
	struct wl_thread *t;
	int i, n, cpu;

	wl_init("hog", argc, argv, 3);
	n = (int)wl_arg_int("n", 3, 1, WL_MAX_THREADS);
	cpu = wl_arg_cpu("cpu", wl_last_cpu());
	wl_args_done();
	for (i = 0; i < n; i++) {
		t = wl_add(hog, "hog-%d", i);
		t->cpu = cpu;
		t->val_names = vals;
	}
	wl.main_avoid = cpu;
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
