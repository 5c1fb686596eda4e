/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that compute unequally long and then spin for the slowest, as OpenMP's do: all of it is
 * on the CPU, part of it is no work. The slowest never spins.
 *
 *   n=CPUs        threads, spin-0 .. ; spin-0 is the slowest
 *   work_us=5003  CPU time that spin-0 computes in a round; the others a tenth of it
 */
#include "workload.h"

enum { V_ROUNDS, V_WORK, V_SPIN, V_MAX };

static const char *const vals[] = {
	[V_ROUNDS] = "rounds",
	[V_WORK] = "work_ns",
	[V_SPIN] = "spin_ns",
	[V_MAX] = NULL,
};

static uint64_t work_ns;
static atomic_uint arrived, round_no, over;

/* compute and barrier_spin: the functions that a profile must name. */
static void __attribute__((noinline)) compute(uint64_t ns)
{
	wl_burn(ns);
}

static void __attribute__((noinline)) barrier_spin(unsigned int mine)
{
	while (atomic_load_explicit(&round_no, memory_order_acquire) == mine)
		__asm__ volatile("" ::: "memory");
}

/* The last one lets the others go, and decides for all whether there is another round. */
static void barrier(unsigned int mine)
{
	if (atomic_fetch_add(&arrived, 1) + 1 < wl.nth) {
		barrier_spin(mine);
		return;
	}
	atomic_store(&arrived, 0);
	atomic_store(&over, wl_stopped());
	atomic_fetch_add(&round_no, 1);
}

static void spinner(struct wl_thread *t)
{
	uint64_t t0, t1;

	while (!atomic_load(&over)) {
		t0 = wl_cpu_ns();
		compute(t->index ? work_ns / 10 : work_ns);
		t1 = wl_cpu_ns();
		barrier((unsigned int)t->val[V_ROUNDS]++);
		t->val[V_WORK] += t1 - t0;
		t->val[V_SPIN] += wl_cpu_ns() - t1;
	}
}

static void truth(struct wl_json *j)
{
	uint64_t work = 0, spin = 0;
	unsigned int i;

	for (i = 0; i < wl.nth; i++) {
		work += wl.sh->th[i].val[V_WORK];
		spin += wl.sh->th[i].val[V_SPIN];
	}
	wl_u64(j, "threads", wl.nth);
	wl_u64(j, "rounds", wl.sh->th[0].val[V_ROUNDS]);
	wl_ratio(j, "spin_share", (double)spin, (double)(work + spin));
}

int main(int argc, char **argv)
{
	struct wl_thread *t;
	int i, n;

	wl_init("spin_barrier", argc, argv, 3);
	n = (int)wl_arg_int("n", sysconf(_SC_NPROCESSORS_ONLN), 1, WL_MAX_THREADS);
	work_ns = (uint64_t)wl_arg_int("work_us", 5003, 101, 10000019) * WL_USEC;
	wl_args_done();
	for (i = 0; i < n; i++) {
		t = wl_add(spinner, "spin-%d", i);
		t->index = i;
		t->val_names = vals;
	}
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
