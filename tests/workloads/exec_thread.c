/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process of several threads that execs itself, so that all its threads but one die in the exec
 * and that one goes on under the leader's id; the new program starts threads again.
 *
 *   leader=0      1: the leader execs; else the thread "p1-exec" does
 *   orphan=0      1: the leader ends itself orphan_ms=1009 before p1-exec execs
 *   p1_ms=307     from the start of the load to the exec, or to the leader's end
 *   n=3           working threads in each phase, p1-work-0 .. and p2-work-0 ..
 *   secs=3        of the second phase
 *   phase=1 phase1_fd=-1   set by the program itself for its second phase
 *
 * ready= and go= are the first phase's, hold= the second's; ready2= is the second's ready. The
 * first phase's threads are in "phase1" with their books as the exec'ing thread found them last.
 */
#include "workload.h"

static const char *const vals[] = {"loops", NULL};

static char self_path[PATH_MAX];
static uint64_t p1_ns, orphan_ns;
static bool leader, orphan;
static int nwork, phase1_fd;
static char *phase1_text;

static void work(struct wl_thread *t)
{
	while (!wl_stopped()) {
		wl_burn(503 * WL_USEC);
		wl_sleep(1009 * WL_USEC);
		t->val[0]++;
	}
}

static uint64_t status_value(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* From outside: the thread will not get to it. */
static void snap_other(struct wl_thread *t)
{
	char path[64], text[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)getpid(), (int)t->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	t->end.ns = wl_now();
	t->end.sched_ok = wl_read_schedstat(getpid(), t->tid, &t->end);
	t->end.cpu_ns = t->end.sched_oncpu_ns;
	t->end.nvcsw = status_value(text, "\nvoluntary_ctxt_switches:");
	t->end.nivcsw = status_value(text, "\nnonvoluntary_ctxt_switches:");
	t->final = t->end;
}

/* Into a nameless file that outlives the exec. */
static int save_phase1(void)
{
	int fd = memfd_create("phase1", 0);
	struct wl_json j = {0};
	unsigned int i;

	j.f = fd < 0 ? NULL : fdopen(dup(fd), "w");
	if (!j.f)
		wl_die(WL_FAIL, "memfd: %s", strerror(errno));
	for (i = 0; i < wl.nth; i++)
		snap_other(&wl.sh->th[i]);
	snap_other(&wl.sh->main);
	wl_open(&j, NULL, '{');
	wl_i64(&j, "exec_tid", (int64_t)syscall(SYS_gettid));
	wl_bool(&j, "signalled", wl.signals != 0);
	wl_u64(&j, "start_ns", wl.start_ns);
	wl_json_threads(&j);
	wl_u64(&j, "exec_ns", wl_now());
	wl_close(&j, '}');
	fclose(j.f);
	return fd;
}

static void exec_self(void)
{
	char fd_arg[32], phase[] = "phase=2", secs[] = "secs=0";
	char *args[WL_MAX_ARGS + 5];
	int i, n = 0;

	for (i = 0; i < wl.argc; i++)
		args[n++] = wl.argv[i];
	args[n++] = phase;
	args[n++] = fd_arg;
	/* A stop is not inherited; without a load the second phase is only the report. */
	if (wl_stopped())
		args[n++] = secs;
	args[n] = NULL;
	wl_signals(SIG_BLOCK);
	snprintf(fd_arg, sizeof(fd_arg), "phase1_fd=%d", save_phase1());
	execv(self_path, args);
	wl_die(WL_FAIL, "%s: %s", self_path, strerror(errno));
}

static void execer(struct wl_thread *t)
{
	(void)t;
	wl_pass(p1_ns + (orphan ? orphan_ns : 0));
	exec_self();
}

static void __attribute__((noreturn)) phase1(void)
{
	struct wl_thread *m = &wl.sh->main;
	int i;

	for (i = 0; i < nwork; i++)
		wl_add(work, "p1-work-%d", i)->val_names = vals;
	if (!leader)
		wl_add(execer, "p1-exec");
	snprintf(m->name, sizeof(m->name), "%s", wl.program);
	m->pid = m->tid = getpid();
	m->cpu = -1;
	wl_launch();
	if (leader || orphan)
		wl_pass(p1_ns);
	if (leader)
		exec_self();
	if (orphan)
		pthread_exit(NULL);
	for (;;)
		pause();
}

static void read_phase1(void)
{
	struct stat st;

	if (phase1_fd < 0 || fstat(phase1_fd, &st))
		return;
	phase1_text = calloc(1, (size_t)st.st_size + 1);
	if (phase1_text && pread(phase1_fd, phase1_text, (size_t)st.st_size, 0) != st.st_size)
		*phase1_text = '\0';
	close(phase1_fd);
}

static void truth(struct wl_json *j)
{
	wl_str(j, "execed_by", leader ? "leader" : "thread");
	wl_bool(j, "leader_gone_before", orphan);
	if (phase1_text && *phase1_text)
		wl_raw(j, "phase1", phase1_text);
	else
		wl_str(j, "phase1", NULL);
}

static int phase2(const char *ready2)
{
	int i;

	read_phase1();
	wl.ready = ready2;
	wl.go_file = NULL;
	for (i = 0; i < nwork; i++)
		wl_add(work, "p2-work-%d", i)->val_names = vals;
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}

int main(int argc, char **argv)
{
	const char *ready2;
	int phase;

	wl_init("exec_thread", argc, argv, 3);
	leader = wl_arg_int("leader", 0, 0, 1);
	orphan = wl_arg_int("orphan", 0, 0, 1);
	p1_ns = (uint64_t)wl_arg_int("p1_ms", 307, 0, 600000) * WL_MSEC;
	orphan_ns = (uint64_t)wl_arg_int("orphan_ms", 1009, 0, 600000) * WL_MSEC;
	nwork = (int)wl_arg_int("n", 3, 0, 101);
	ready2 = wl_arg_str("ready2", NULL);
	phase = (int)wl_arg_int("phase", 1, 1, 2);
	phase1_fd = (int)wl_arg_int("phase1_fd", -1, -1, INT_MAX);
	wl_args_done();
	if (leader && orphan)
		wl_die(WL_USAGE, "leader=1 and orphan=1: who shall exec?");
	if (phase == 2)
		return phase2(ready2);
	/* By its path: the link is gone once the leader is. */
	if (readlink("/proc/self/exe", self_path, sizeof(self_path) - 1) < 0)
		wl_die(WL_FAIL, "/proc/self/exe: %s", strerror(errno));
	phase1();
}
