/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that burns its CPU time in a library given by name, and one that only sleeps.
 *
 *   lib=FILE     has tt_stage(first, second): so many calls of one kind and of the other
 *   first=2      calls of the one in each stage
 *   second=1     calls of the other
 *   cpu=-1       the CPU of the burner; -1: not pinned
 *   unlink=0     delete the file once it is loaded
 */
#include <dlfcn.h>

#include "workload.h"

static void (*stage)(int first, int second);
static int first, second;

static void burn(struct wl_thread *t)
{
	uint64_t stages = 0;

	while (!wl_stopped()) {
		stage(first, second);
		stages++;
	}
	t->val[0] = stages;
}

static void idle(struct wl_thread *t)
{
	(void)t;
	wl_pass(wl.secs_ns);
}

static void truth(struct wl_json *j)
{
	wl_u64(j, "stages", wl.sh->th[0].val[0]);
	wl_u64(j, "cpu_ns", wl.sh->th[0].end.cpu_ns - wl.sh->th[0].begin.cpu_ns);
}

int main(int argc, char **argv)
{
	static const char *const vals[] = {"stages", NULL};
	const char *lib;
	struct wl_thread *t;
	void *handle;
	int cpu;

	wl_init("burner", argc, argv, 3);
	lib = wl_arg_str("lib", "");
	first = (int)wl_arg_int("first", 2, 0, 1009);
	second = (int)wl_arg_int("second", 1, 0, 1009);
	cpu = wl_arg_cpu("cpu", -1);
	handle = dlopen(lib, RTLD_NOW);
	if (handle)
		*(void **)&stage = dlsym(handle, "tt_stage");
	if (!stage)
		wl_die(WL_USAGE, "lib=%s: %s", lib, dlerror());
	if (wl_arg_int("unlink", 0, 0, 1) && unlink(lib))
		wl_die(WL_FAIL, "%s: %s", lib, strerror(errno));
	wl_args_done();
	t = wl_add(burn, "burner-0");
	t->cpu = cpu;
	t->val_names = vals;
	wl_add(idle, "idler-0");
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
