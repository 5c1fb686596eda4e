/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread of higher class that wakes once a period and burns a known CPU time, on the same CPU as
 * a thread that never sleeps: every wakeup preempts the hog once and steals the burn from it.
 *
 *   period_us=10007  burn_us=2003  cpu=LAST
 *   policy=fifo      or nice: SCHED_OTHER at nice -20 against nice 19, which preempts nearly always
 *
 * Where SCHED_FIFO is refused it falls back to nice; the JSON's "policy" says which one ran.
 */
#include "workload.h"

enum { V_WAKEUPS, V_BURNED, V_MISSED, V_MAX };

static const char *const vals[] = {
	[V_WAKEUPS] = "wakeups",
	[V_BURNED] = "burned_ns",
	[V_MISSED] = "missed_periods",
	[V_MAX] = NULL,
};

static uint64_t period_ns, burn_ns;
static const char *policy;

/* Of the calling thread only: on Linux nice is a thread's own. */
static bool renice(int nice)
{
	return !setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice);
}

static void rise(void)
{
	struct sched_param param = {.sched_priority = 1};

	if (!strcmp(policy, "fifo") && !sched_setscheduler(0, SCHED_FIFO, &param))
		return;
	policy = renice(-20) ? "nice -20" : "none: no permission";
}

static void thief(struct wl_thread *t)
{
	uint64_t next = wl_now(), now;

	rise();
	while (!wl_stopped()) {
		next += period_ns;
		now = wl_now();
		if (next <= now) {
			t->val[V_MISSED]++;
			continue;
		}
		wl_sleep_until(next);
		t->val[V_WAKEUPS]++;
		t->val[V_BURNED] += wl_burn(burn_ns);
	}
}

static void victim(struct wl_thread *t)
{
	(void)t;
	if (strcmp(policy, "fifo"))
		renice(19);
	while (!wl_stopped())
		wl_chunk();
}

static void truth(struct wl_json *j)
{
	const struct wl_thread *t = &wl.sh->th[0], *v = &wl.sh->th[1];

	wl_str(j, "policy", policy);
	wl_u64(j, "period_ns", period_ns);
	wl_u64(j, "burn_ns", burn_ns);
	wl_u64(j, "wakeups", t->val[V_WAKEUPS]);
	wl_u64(j, "stolen_ns", t->end.cpu_ns - t->begin.cpu_ns);
	wl_u64(j, "hog_preempted", v->end.nivcsw - v->begin.nivcsw);
	wl_u64(j, "hog_runq_ns", v->end.sched_runq_ns - v->begin.sched_runq_ns);
	wl_u64(j, "hog_cpu_ns", v->end.cpu_ns - v->begin.cpu_ns);
}

int main(int argc, char **argv)
{
	struct wl_thread *t, *v;
	int cpu;

	wl_init("preempted", argc, argv, 3);
	period_ns = (uint64_t)wl_arg_int("period_us", 10007, 101, INT_MAX) * WL_USEC;
	burn_ns = (uint64_t)wl_arg_int("burn_us", 2003, 1, INT_MAX) * WL_USEC;
	cpu = wl_arg_cpu("cpu", wl_last_cpu());
	policy = wl_arg_str("policy", "fifo");
	wl_args_done();
	if (strcmp(policy, "fifo") && strcmp(policy, "nice"))
		wl_die(WL_USAGE, "policy=%s: not fifo or nice", policy);
	if (cpu < 0 || burn_ns * 10 > period_ns * 9)
		wl_die(WL_USAGE, "needs one cpu, and a burn of at most 9/10 of the period");
	t = wl_add(thief, "fifo");
	v = wl_add(victim, "hog");
	t->cpu = v->cpu = cpu;
	t->val_names = vals;
	wl.main_avoid = cpu;
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
