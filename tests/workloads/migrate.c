/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that move between CPUs: some change their own affinity, round all CPUs they may use; one
 * is moved by another thread while it is asleep.
 *
 *   n=5           threads that move themselves, self-0 ..
 *   times=1009    moves of each
 *   burn_us=211   CPU time burned after each even move    sleep_us=101  sleep after each odd one
 *   moves=101     moves of the sleeper "moved" by the thread "mover"; 0: neither thread exists
 *   secs=31       a limit; the counts end it
 *
 * On one CPU everything is done but nothing moves; "moved" in the JSON counts what really did.
 */
#include "workload.h"

enum { V_SET, V_MOVED, V_ASLEEP, V_FAILED, V_MAX };

static const char *const vals[] = {
	[V_SET] = "affinity_set", /* changes of affinity */
	[V_MOVED] = "moved",	  /* after which the thread was on another CPU than before */
	[V_ASLEEP] = "set_while_asleep",
	[V_FAILED] = "failed",
	[V_MAX] = NULL,
};

static int cpus[CPU_SETSIZE], ncpus;
static uint64_t times, moves, burn_ns, sleep_ns;
static struct wl_thread *moved_thread;
static atomic_uint turn; /* odd: the sleeper may wake */

static void find_cpus(void)
{
	int cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (wl_cpu_allowed(cpu))
			cpus[ncpus++] = cpu;
}

static void self(struct wl_thread *t)
{
	uint64_t i;
	int before;

	for (i = 0; i < times && !wl_stopped(); i++) {
		before = sched_getcpu();
		t->val[V_FAILED] += wl_pin(0, cpus[((int)i + t->index) % ncpus]) != 0;
		t->val[V_SET]++;
		t->val[V_MOVED] += sched_getcpu() != before;
		if (i % 2)
			wl_sleep(sleep_ns);
		else
			wl_burn(burn_ns);
	}
}

static void moved(struct wl_thread *t)
{
	unsigned int seen = 0, now;
	int before;

	for (;;) {
		before = sched_getcpu();
		while ((now = atomic_load(&turn)) == seen)
			wl_futex(&turn, FUTEX_WAIT, seen, NULL);
		if (now == UINT_MAX)
			break;
		seen = now;
		t->val[V_MOVED] += sched_getcpu() != before;
	}
}

static char state_of(pid_t tid)
{
	char path[64], buf[256], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '?';
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	p = strrchr(buf, ')');
	return p && p[1] ? p[2] : '?';
}

static void wake_moved(unsigned int value)
{
	atomic_store(&turn, value);
	wl_futex(&turn, FUTEX_WAKE, 1, NULL);
}

static void mover(struct wl_thread *t)
{
	struct wl_thread *m = moved_thread;
	uint64_t i;

	for (i = 0; i < moves && !wl_stopped(); i++) {
		wl_sleep(3 * WL_MSEC);
		t->val[V_ASLEEP] += state_of(m->tid) == 'S';
		t->val[V_FAILED] += wl_pin(m->tid, cpus[i % (uint64_t)ncpus]) != 0;
		t->val[V_SET]++;
		wl_sleep(2 * WL_MSEC);
		wake_moved((unsigned int)i + 1);
	}
	wake_moved(UINT_MAX);
}

static void truth(struct wl_json *j)
{
	uint64_t set = 0, moved_self = 0;
	unsigned int i;

	for (i = 0; i < wl.nth; i++) {
		if (wl.sh->th[i].fn != self)
			continue;
		set += wl.sh->th[i].val[V_SET];
		moved_self += wl.sh->th[i].val[V_MOVED];
	}
	wl_i64(j, "cpus", ncpus);
	wl_u64(j, "self_affinity_set", set);
	wl_u64(j, "self_moved", moved_self);
	if (moved_thread) {
		wl_u64(j, "mover_affinity_set", moved_thread[1].val[V_SET]);
		wl_u64(j, "mover_set_while_asleep", moved_thread[1].val[V_ASLEEP]);
		wl_u64(j, "sleeper_moved", moved_thread[0].val[V_MOVED]);
	}
}

int main(int argc, char **argv)
{
	struct wl_thread *t;
	int i, n;

	wl_init("migrate", argc, argv, 31);
	n = (int)wl_arg_int("n", 5, 0, 503);
	times = (uint64_t)wl_arg_int("times", 1009, 0, INT_MAX);
	burn_ns = (uint64_t)wl_arg_int("burn_us", 211, 0, INT_MAX) * WL_USEC;
	sleep_ns = (uint64_t)wl_arg_int("sleep_us", 101, 0, INT_MAX) * WL_USEC;
	moves = (uint64_t)wl_arg_int("moves", 101, 0, INT_MAX);
	wl_args_done();
	find_cpus();
	for (i = 0; i < n; i++) {
		t = wl_add(self, "self-%d", i);
		t->index = i;
		t->val_names = vals;
	}
	if (moves) {
		moved_thread = wl_add(moved, "moved");
		moved_thread->val_names = vals;
		wl_add(mover, "mover")->val_names = vals;
	}
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
