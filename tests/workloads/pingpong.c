/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two threads (or processes) that pass a byte to and fro over two pipes. On one CPU every round is
 * two context switches, so this is also the benchmark of what a switch costs: nothing but read and
 * write is in the loop.
 *
 *   cpu=LAST   CPU of both; -1: do not pin
 *   cpu2=CPU   CPU of the second, default the same
 *   procs=0    1: two processes instead of two threads (threads=1 says the opposite)
 *   count=0    rounds; 0: until secs are over
 *   burn_us=0  CPU time of its own that the first takes before each round
 */
#include "workload.h"

enum { V_ROUNDS, V_NS, V_MAX };

static const char *const vals[] = {
	[V_ROUNDS] = "rounds",
	[V_NS] = "loop_ns",
	[V_MAX] = NULL,
};

static int there[2], back[2];
static uint64_t count, burn_ns;

static void ping(struct wl_thread *t)
{
	uint64_t i, last = count ? count : UINT64_MAX, t0 = wl_now();
	char c = 'p';

	for (i = 0; i < last && !wl_stopped(); i++) {
		if (burn_ns)
			wl_burn(burn_ns);
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			break;
	}
	t->val[V_NS] = wl_now() - t0;
	t->val[V_ROUNDS] = i;
	c = 'q';
	if (write(there[1], &c, 1) != 1)
		wl_stop();
}

static void pong(struct wl_thread *t)
{
	uint64_t i, t0 = wl_now();
	char c;

	for (i = 0;; i++) {
		if (read(there[0], &c, 1) != 1 || c == 'q' || write(back[1], &c, 1) != 1)
			break;
	}
	t->val[V_NS] = wl_now() - t0;
	t->val[V_ROUNDS] = i;
}

static uint64_t switches(const struct wl_thread *t)
{
	return t->end.nvcsw + t->end.nivcsw - t->begin.nvcsw - t->begin.nivcsw;
}

static void truth(struct wl_json *j)
{
	const struct wl_thread *t = wl.sh->th;

	wl_u64(j, "rounds", t[0].val[V_ROUNDS]);
	wl_u64(j, "loop_ns", t[0].val[V_NS]);
	wl_bool(j, "one_cpu", t[0].cpu >= 0 && t[0].cpu == t[1].cpu);
	wl_bool(j, "processes", t[0].process);
	wl_u64(j, "switches", switches(&t[0]) + switches(&t[1]));
	wl_ratio(j, "ns_per_round", (double)t[0].val[V_NS], (double)t[0].val[V_ROUNDS]);
	wl_ratio(j, "ns_per_switch", (double)t[0].val[V_NS], 2.0 * (double)t[0].val[V_ROUNDS]);
}

int main(int argc, char **argv)
{
	bool procs, threads;
	struct wl_thread *t;
	int cpu, cpu2;

	wl_init("pingpong", argc, argv, 3);
	cpu = wl_arg_cpu("cpu", wl_last_cpu());
	cpu2 = wl_arg_cpu("cpu2", cpu);
	procs = wl_arg_int("procs", 0, 0, 1);
	threads = wl_arg_int("threads", !procs, 0, 1);
	count = (uint64_t)wl_arg_int("count", 0, 0, INT64_MAX);
	burn_ns = (uint64_t)wl_arg_int("burn_us", 0, 0, 1000000) * WL_USEC;
	wl_args_done();
	if (procs == threads)
		wl_die(WL_USAGE, "either threads=1 or procs=1");
	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		wl_die(WL_FAIL, "pipe: %s", strerror(errno));
	t = wl_add(ping, "ping");
	t->cpu = cpu;
	t = wl_add(pong, "pong");
	t->cpu = cpu2;
	t[-1].process = t->process = procs;
	t[-1].val_names = t->val_names = vals;
	wl.main_avoid = cpu;
	wl_launch();
	/* A given count ends it by itself, in however long it takes. */
	wl_wait_load(count ? 86400 * WL_NSEC : wl.secs_ns);
	return wl_finish(truth);
}
