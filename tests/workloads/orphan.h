/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that belong to nobody: neither children nor threads of the traced program, in a session
 * of their own. They end when the workload has ended, however it did: it alone holds the other end
 * of a pipe open.
 */
#ifndef __ORPHAN_H
#define __ORPHAN_H

#include "workload.h"

#define ORPHAN_MAX 101

struct orphan {
	char name[16];
	void (*fn)(struct orphan *o);
	void *arg;
	volatile pid_t pid;
	_Atomic uint64_t cpu_ns;
};

static struct orphan *orphans; /* in memory that they share */
static int orphan_count, orphan_life[2] = {-1, -1};

/* End of file on the pipe that the workload holds open: it is gone. */
static inline bool orphan_alone(void)
{
	char c;

	return read(orphan_life[0], &c, 1) == 0;
}

/* False: it will never come. */
static inline bool orphan_wait_go(void)
{
	while (!atomic_load(&wl.sh->go)) {
		if (orphan_alone())
			return false;
		wl_sleep(WL_MSEC);
	}
	return true;
}

static inline void __attribute__((noreturn)) orphan_main(struct orphan *o)
{
	prctl(PR_SET_NAME, o->name);
	close(orphan_life[1]);
	o->pid = getpid();
	o->fn(o);
	_exit(0);
}

/* Double fork: its parent is init by the time that this returns. */
static inline void orphan_start(struct orphan *o)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		wl_die(WL_FAIL, "fork: %s", strerror(errno));
	if (!pid) {
		setsid();
		prctl(PR_SET_TIMERSLACK, 1UL);
		pid = fork();
		if (!pid)
			orphan_main(o);
		_exit(pid < 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		wl_die(WL_FAIL, "%s: cannot be started", o->name);
	while (!o->pid)
		wl_sleep(WL_MSEC);
}

/* Before any thread is started. */
static inline struct orphan *orphan_add(const char *name, void (*fn)(struct orphan *o), void *arg)
{
	struct orphan *o;

	if (!orphans) {
		orphans = mmap(NULL, sizeof(*orphans) * ORPHAN_MAX, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (orphans == MAP_FAILED || pipe2(orphan_life, O_CLOEXEC | O_NONBLOCK))
			wl_die(WL_FAIL, "foreign processes: %s", strerror(errno));
	}
	if (orphan_count == ORPHAN_MAX)
		wl_die(WL_USAGE, "more than %d foreign processes", ORPHAN_MAX);
	o = &orphans[orphan_count++];
	snprintf(o->name, sizeof(o->name), "%s", name);
	o->fn = fn;
	o->arg = arg;
	wl_signals(SIG_BLOCK);
	orphan_start(o);
	wl_signals(SIG_UNBLOCK);
	return o;
}

/* Burns CPU from the go to the end of the load; arg: the CPU, -1 any. */
static inline void orphan_hog(struct orphan *o)
{
	int cpu = (int)(intptr_t)o->arg;

	if (cpu >= 0)
		wl_pin(0, cpu);
	if (!orphan_wait_go())
		return;
	while (!wl_stopped() && !orphan_alone()) {
		wl_burn(5 * WL_MSEC);
		atomic_store(&o->cpu_ns, wl_cpu_ns());
	}
}

static inline void orphan_json(struct wl_json *j)
{
	int i;

	wl_open(j, "foreign", '[');
	for (i = 0; i < orphan_count; i++) {
		wl_open(j, NULL, '{');
		wl_str(j, "name", orphans[i].name);
		wl_i64(j, "pid", orphans[i].pid);
		wl_u64(j, "cpu_ns", orphans[i].cpu_ns);
		wl_close(j, '}');
	}
	wl_close(j, ']');
}

#endif /* __ORPHAN_H */
