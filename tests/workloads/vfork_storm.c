/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that vfork() and execv() this program again, which then ends at once.
 *
 *   n=3        threads, vforker-0 ..
 *   count=503  times in all, shared out between them
 *   secs=31    a limit; the count ends it
 *   child=1    what the new program is called with
 *
 * The calling thread is asleep in vfork until the child's exec, and then in waitpid until its exit.
 */
#include "workload.h"

enum { V_PLANNED, V_SPAWNED, V_FAILED, V_VFORK, V_WAIT, V_MAX };

static const char *const vals[] = {
	[V_PLANNED] = "planned", [V_SPAWNED] = "spawned", [V_FAILED] = "failed",
	[V_VFORK] = "vfork_ns",	 [V_WAIT] = "waitpid_ns", [V_MAX] = NULL,
};

static char self_path[PATH_MAX];
static char child_arg[] = "child=1";

static pid_t __attribute__((noinline)) spawn(void)
{
	char *const args[] = {self_path, child_arg, NULL};
	pid_t pid = vfork();

	if (!pid) {
		execv(self_path, args);
		_exit(127);
	}
	return pid;
}

static void vforker(struct wl_thread *t)
{
	uint64_t i, t0, t1;
	int status;
	pid_t pid;

	for (i = 0; i < t->val[V_PLANNED] && !wl_stopped(); i++) {
		status = -1;
		t0 = wl_now();
		pid = spawn();
		t1 = wl_now();
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		t->val[V_VFORK] += t1 - t0;
		t->val[V_WAIT] += wl_now() - t1;
		t->val[V_SPAWNED] += pid > 0;
		t->val[V_FAILED] += pid < 0 || status;
	}
}

static void truth(struct wl_json *j)
{
	uint64_t total[V_MAX] = {0};
	unsigned int i, v;

	for (v = 0; v < V_MAX; v++) {
		for (i = 0; i < wl.nth; i++)
			total[v] += wl.sh->th[i].val[v];
		wl_u64(j, vals[v], total[v]);
	}
}

int main(int argc, char **argv)
{
	uint64_t count, n, i;
	struct wl_thread *t;

	if (argc == 2 && !strcmp(argv[1], child_arg))
		return 0;
	wl_init("vfork_storm", argc, argv, 31);
	n = (uint64_t)wl_arg_int("n", 3, 1, 101);
	count = (uint64_t)wl_arg_int("count", 503, 1, INT_MAX);
	wl_args_done();
	if (readlink("/proc/self/exe", self_path, sizeof(self_path) - 1) < 0)
		wl_die(WL_FAIL, "/proc/self/exe: %s", strerror(errno));
	for (i = 0; i < n; i++) {
		t = wl_add(vforker, "vforker-%d", (int)i);
		t->val_names = vals;
		t->val[V_PLANNED] = count / n + (i < count % n);
	}
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
