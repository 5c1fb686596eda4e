/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that calls sched_yield() without end beside a hog on the same CPU: on-CPU time that is
 * no work. A yield that switches counts as an involuntary switch in the kernel's books.
 *
 *   cpu=LAST     the CPU they share
 *   yielders=1   threads that yield, yielder-0 ..; two without a hog switch at every yield
 *   hogs=1       threads beside them, hog-0 ..; one yielder without a hog never switches
 */
#include "workload.h"

static unsigned int nyielders;

static void yielder(struct wl_thread *t)
{
	uint64_t n = 0;

	while (!wl_stopped()) {
		sched_yield();
		n++;
	}
	t->val[0] = n;
}

static void hog(struct wl_thread *t)
{
	(void)t;
	while (!wl_stopped())
		wl_chunk();
}

static void truth(struct wl_json *j)
{
	uint64_t yields = 0, cpu = 0, switches = 0;
	const struct wl_thread *t;

	for (t = wl.sh->th; t < wl.sh->th + nyielders; t++) {
		yields += t->val[0];
		cpu += t->end.cpu_ns - t->begin.cpu_ns;
		switches += t->end.nivcsw - t->begin.nivcsw;
	}
	wl_u64(j, "yielders", nyielders);
	wl_u64(j, "hogs", wl.nth - nyielders);
	wl_u64(j, "yields", yields);
	wl_u64(j, "yielder_cpu_ns", cpu);
	wl_u64(j, "yielder_switches", switches);
}

int main(int argc, char **argv)
{
	static const char *const vals[] = {"yields", NULL};
	struct wl_thread *t;
	unsigned int i, hogs;
	int cpu;

	wl_init("spinyield", argc, argv, 3);
	cpu = wl_arg_cpu("cpu", wl_last_cpu());
	nyielders = (unsigned int)wl_arg_int("yielders", 1, 1, 101);
	hogs = (unsigned int)wl_arg_int("hogs", 1, 0, 101);
	wl_args_done();
	for (i = 0; i < nyielders; i++) {
		t = wl_add(yielder, "yielder-%u", i);
		t->cpu = cpu;
		t->val_names = vals;
	}
	for (i = 0; i < hogs; i++)
		wl_add(hog, "hog-%u", i)->cpu = cpu;
	wl.main_avoid = cpu;
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
