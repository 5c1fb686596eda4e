/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tree of processes: children that fork grandchildren; each burns a known CPU time and exits.
 * They are born after the go, so a tracer of the parent meets every one of them as a fork.
 *
 *   children=5  grandchildren=3   of each child
 *   child_ms=53 grandchild_ms=31  CPU time that each burns
 *   secs                          means nothing here: the work ends it
 *
 * Only the parent is there in a hold; the others have exited and been waited for.
 */
#include "workload.h"

enum { V_PPID, V_REQUESTED, V_BURNED, V_MAX };

static const char *const vals[] = {
	[V_PPID] = "ppid",
	[V_REQUESTED] = "requested_cpu_ns",
	[V_BURNED] = "burned_cpu_ns",
	[V_MAX] = NULL,
};

static unsigned int nchildren, ngrand;
static unsigned int failed;

static struct wl_thread *child_slot(unsigned int c)
{
	return &wl.sh->th[c * (ngrand + 1)];
}

static void add(uint64_t ms, struct wl_thread *t)
{
	t->external = true;
	t->process = true;
	t->val_names = vals;
	t->val[V_REQUESTED] = ms * WL_MSEC;
}

static unsigned int reap(unsigned int n)
{
	unsigned int bad = 0;
	int status;

	while (n) {
		if (wait(&status) < 0) {
			if (errno == EINTR)
				continue;
			return bad + n;
		}
		bad += status != 0;
		n--;
	}
	return bad;
}

static pid_t start(struct wl_thread *t, wl_fn *fn)
{
	pid_t pid = wl_fork();

	if (pid)
		return pid;
	wl_enter(t);
	t->val[V_PPID] = (uint64_t)getppid();
	wl_snap(&t->begin);
	fn(t);
	wl_snap(&t->end);
	t->final = t->end;
	_exit(failed ? WL_FAIL : 0);
}

static void burn(struct wl_thread *t)
{
	uint64_t left;

	while (t->val[V_BURNED] < t->val[V_REQUESTED] && !wl_stopped()) {
		left = t->val[V_REQUESTED] - t->val[V_BURNED];
		t->val[V_BURNED] += wl_burn(left < WL_MSEC ? left : WL_MSEC);
	}
}

static void child(struct wl_thread *t)
{
	unsigned int g;

	for (g = 1; g <= ngrand; g++)
		start(t + g, burn);
	burn(t);
	failed += reap(ngrand);
}

static void truth(struct wl_json *j)
{
	uint64_t requested = 0, cpu = 0;
	unsigned int i;

	for (i = 0; i < wl.nth; i++) {
		requested += wl.sh->th[i].val[V_REQUESTED];
		cpu += wl.sh->th[i].end.cpu_ns;
	}
	wl_u64(j, "children", nchildren);
	wl_u64(j, "grandchildren", nchildren * ngrand);
	wl_u64(j, "processes", wl.nth);
	wl_u64(j, "failed", failed);
	wl_u64(j, "requested_cpu_ns", requested);
	wl_u64(j, "cpu_ns", cpu);
}

int main(int argc, char **argv)
{
	uint64_t child_ms, grand_ms;
	unsigned int c, g;

	wl_init("forkers", argc, argv, 3);
	nchildren = (unsigned int)wl_arg_int("children", 5, 1, 19);
	ngrand = (unsigned int)wl_arg_int("grandchildren", 3, 0, 23);
	child_ms = (uint64_t)wl_arg_int("child_ms", 53, 0, 60000);
	grand_ms = (uint64_t)wl_arg_int("grandchild_ms", 31, 0, 60000);
	wl_args_done();
	wl_launch();
	for (c = 0; c < nchildren; c++) {
		add(child_ms, wl_add(child, "child-%u", c));
		for (g = 0; g < ngrand; g++)
			add(grand_ms, wl_add(burn, "gchild-%u-%u", c, g));
	}
	wl_signals(SIG_BLOCK);
	for (c = 0; c < nchildren; c++)
		start(child_slot(c), child);
	wl_signals(SIG_UNBLOCK);
	failed = reap(nchildren);
	return wl_finish(truth);
}
