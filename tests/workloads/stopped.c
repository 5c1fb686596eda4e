/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A child process with threads (running, sleeping, waiting) that its parent stops with SIGSTOP for
 * known spans. The child is what to trace: "child_pid" in the JSON, "stop-leader" in ready=.
 *
 *   stops=3  stop_ms=307   spans in which the child is stopped
 *   run_ms=211             before, between and after them
 *   cpu=-1                 CPU of the running thread
 *   secs                   means nothing here: the spans end it
 *
 * A span lies between "stopped_ns", when the kernel had reported the whole process as stopped, and
 * "cont_sent_ns"; no thread of it ran in there. The parent saw it go on by "continued_ns".
 */
#include "workload.h"

struct span {
	uint64_t stop_sent_ns, stopped_ns, cont_sent_ns, continued_ns;
};

static uint64_t stop_ns, run_ns;
static unsigned int nstops, done;
static struct span spans[101];
static pid_t child;

static void run(struct wl_thread *t)
{
	(void)t;
	while (!wl_stopped())
		wl_chunk();
}

static void nap(struct wl_thread *t)
{
	while (!wl_stopped()) {
		wl_sleep(5003 * WL_USEC);
		t->val[0]++;
	}
}

/* One wait through all the stops. */
static void waiter(struct wl_thread *t)
{
	(void)t;
	wl_gate_wait(&wl.sh->stop);
}

static void child_main(void)
{
	unsigned int i;

	for (i = 1; i < wl.nth; i++)
		wl_spawn(&wl.sh->th[i]);
	wl_signals(SIG_BLOCK);
	wl_thread_main(&wl.sh->th[0]);
	for (i = 1; i < wl.nth; i++)
		pthread_join(wl.sh->th[i].pthread, NULL);
	_exit(0);
}

static void start_child(void)
{
	unsigned int i;

	wl_signals(SIG_BLOCK);
	child = wl_fork();
	if (!child)
		child_main();
	wl_signals(SIG_UNBLOCK);
	for (i = 0; i < wl.nth; i++)
		wl.sh->th[i].external = true;
}

static void wait_status(int flags)
{
	int status;

	while (waitpid(child, &status, flags) < 0 && errno == EINTR)
		;
}

static void reap(void)
{
	wait_status(0);
}

static void stop_once(struct span *s)
{
	s->stop_sent_ns = wl_now();
	kill(child, SIGSTOP);
	wait_status(WUNTRACED);
	s->stopped_ns = wl_now();
	wl_pass(stop_ns);
	s->cont_sent_ns = wl_now();
	kill(child, SIGCONT);
	wait_status(WCONTINUED);
	s->continued_ns = wl_now();
}

static void truth(struct wl_json *j)
{
	uint64_t least = 0, most = 0;
	struct span *s;

	wl_i64(j, "child_pid", child);
	wl_u64(j, "stops", done);
	wl_u64(j, "requested_stop_ns", stop_ns);
	wl_open(j, "spans", '[');
	for (s = spans; s < spans + done; s++) {
		least += s->cont_sent_ns - s->stopped_ns;
		most += s->continued_ns - s->stop_sent_ns;
		wl_open(j, NULL, '{');
		wl_u64(j, "stop_sent_ns", s->stop_sent_ns);
		wl_u64(j, "stopped_ns", s->stopped_ns);
		wl_u64(j, "cont_sent_ns", s->cont_sent_ns);
		wl_u64(j, "continued_ns", s->continued_ns);
		wl_close(j, '}');
	}
	wl_close(j, ']');
	wl_u64(j, "stopped_at_least_ns", least);
	wl_u64(j, "stopped_at_most_ns", most);
}

int main(int argc, char **argv)
{
	static const char *const nap_vals[] = {"naps", NULL};
	int cpu;

	wl_init("stopped", argc, argv, 3);
	nstops = (unsigned int)wl_arg_int("stops", 3, 0, 101);
	stop_ns = (uint64_t)wl_arg_int("stop_ms", 307, 1, 60000) * WL_MSEC;
	run_ns = (uint64_t)wl_arg_int("run_ms", 211, 1, 60000) * WL_MSEC;
	cpu = wl_arg_cpu("cpu", -1);
	wl_args_done();
	wl_add(waiter, "stop-leader");
	wl_add(run, "stop-run")->cpu = cpu;
	wl_add(nap, "stop-nap")->val_names = nap_vals;
	wl_add(waiter, "stop-wait");
	start_child();
	wl.join_external = reap;
	wl_launch();
	for (; done < nstops && !wl_stopped(); done++) {
		wl_pass(run_ns);
		stop_once(&spans[done]);
	}
	wl_pass(run_ns);
	wl_wait_load(0);
	return wl_finish(truth);
}
