/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every workload shares: key=value arguments, a table of threads in memory that forked
 * processes share, the start and end of the loaded phase, and the one JSON line of truth.
 *
 * Arguments that every workload takes:
 *   secs=3         length of the loaded phase, in seconds (a limit where a count ends it)
 *   ready=FILE|FD  FILE is created (or FD written and closed) when all threads are up; it
 *                  holds one JSON line with the pid and the thread ids
 *   go=FILE        do not start the load before FILE exists; without it, start at once
 *   done=FILE|FD   the same when the load is over, with its start and end, before any hold
 *   hold=FILE      after the load keep all threads asleep until FILE exists (or SIGTERM)
 *   hold_max=61    but no longer than so many seconds; the same for go
 *
 * In the JSON each thread's own books stand three times: "begin" and "end" of its loaded phase, and
 * "final", after the hold and just before the thread ends; all are sums since its birth.
 */
#ifndef __WORKLOAD_H
#define __WORKLOAD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WL_MAX_THREADS 509
#define WL_MAX_VALS    14
#define WL_MAX_ARGS    61
#define WL_NSEC	       1000000000ULL
#define WL_USEC	       1000ULL
#define WL_MSEC	       1000000ULL
#define WL_POLL_NS     (7 * WL_MSEC)
#define WL_GRACE_NS    (31 * WL_NSEC)
#define WL_STACK       (256 * 1024)
#define WL_FAIL	       1
#define WL_USAGE       2

struct wl_snap {
	uint64_t ns;
	uint64_t cpu_ns;
	uint64_t nvcsw;
	uint64_t nivcsw;
	uint64_t sched_oncpu_ns;
	uint64_t sched_runq_ns;
	uint64_t sched_slices;
	bool sched_ok;
};

struct wl_thread;
typedef void wl_fn(struct wl_thread *t);

struct wl_thread {
	char name[16];
	wl_fn *fn;
	int index;
	int cpu;       /* pinned there; -1: not pinned */
	bool process;  /* a forked process of one thread */
	bool external; /* the program starts it by itself */
	bool no_begin; /* not started when the line is printed */
	bool no_final; /* ended by something else than itself */
	pthread_t pthread;
	pid_t pid;
	pid_t tid;
	struct wl_snap begin;
	struct wl_snap end;
	struct wl_snap final;
	const char *const *val_names;
	uint64_t val[WL_MAX_VALS];
};

struct wl_shared {
	atomic_uint go;
	atomic_uint leave;
	atomic_uint event;
	atomic_uint arrived;
	atomic_uint finished;
	atomic_uint stop;
	struct wl_thread main;
	struct wl_thread th[WL_MAX_THREADS];
};

struct wl_json {
	FILE *f;
	bool comma;
};

static struct {
	const char *program;
	int argc;
	char **argv;
	bool arg_used[WL_MAX_ARGS];
	char *args_text;
	size_t args_len;
	struct wl_json args;
	struct wl_shared *sh;
	unsigned int nth;
	int main_avoid; /* a cpu that the main thread keeps off; -1: none */
	volatile sig_atomic_t signals;
	uint64_t secs_ns;
	const char *ready;
	const char *go_file;
	const char *done;
	const char *hold_file;
	uint64_t hold_max_ns;
	bool held_in_vain;
	void (*join_external)(void); /* waits for the threads that the program started itself */
	uint64_t start_ns;
	uint64_t end_ns;
} wl;

/* errors */

static inline void __attribute__((format(printf, 2, 3), noreturn))
wl_die(int status, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", wl.program ? wl.program : "workload");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(status);
}

/* time */

static inline uint64_t wl_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * WL_NSEC + (uint64_t)ts.tv_nsec;
}

static inline uint64_t wl_now(void)
{
	return wl_clock(CLOCK_MONOTONIC);
}

static inline uint64_t wl_cpu_ns(void)
{
	return wl_clock(CLOCK_THREAD_CPUTIME_ID);
}

static inline struct timespec wl_ts(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / WL_NSEC), .tv_nsec = (long)(ns % WL_NSEC)};
}

static inline void wl_sleep(uint64_t ns)
{
	struct timespec ts = wl_ts(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

static inline void wl_sleep_until(uint64_t ns)
{
	struct timespec ts = wl_ts(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* A few microseconds of arithmetic that no compiler can drop. */
static inline void wl_chunk(void)
{
	uint64_t x = 88172645463325252ULL;
	unsigned int i;

	for (i = 0; i < 1009; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x));
	}
}

/* Burns that much CPU time of the calling thread, returns what it was exactly. */
static inline uint64_t wl_burn(uint64_t ns)
{
	uint64_t t0 = wl_cpu_ns(), t = t0;

	while (t - t0 < ns) {
		wl_chunk();
		t = wl_cpu_ns();
	}
	return t - t0;
}

/* stopping and gates: futex words in shared memory, so they work between processes too */

static inline long wl_futex(atomic_uint *word, int op, unsigned int val, const struct timespec *ts)
{
	return syscall(SYS_futex, word, op, val, ts, NULL, 0);
}

static inline void wl_gate_open(atomic_uint *gate)
{
	atomic_store(gate, 1);
	wl_futex(gate, FUTEX_WAKE, INT_MAX, NULL);
}

static inline void wl_gate_wait(atomic_uint *gate)
{
	while (!atomic_load(gate))
		wl_futex(gate, FUTEX_WAIT, 0, NULL);
}

static inline void wl_event(void)
{
	atomic_fetch_add(&wl.sh->event, 1);
	wl_futex(&wl.sh->event, FUTEX_WAKE, INT_MAX, NULL);
}

static inline bool wl_stopped(void)
{
	return atomic_load_explicit(&wl.sh->stop, memory_order_relaxed) != 0;
}

static inline void wl_stop(void)
{
	wl_gate_open(&wl.sh->stop);
	wl_event();
}

/* Like wl_sleep(), but the stop ends it. */
static inline void wl_pass(uint64_t ns)
{
	uint64_t deadline = wl_now() + ns, now;
	struct timespec ts;

	while (!wl_stopped() && (now = wl_now()) < deadline) {
		ts = wl_ts(deadline - now);
		wl_futex(&wl.sh->stop, FUTEX_WAIT, 0, &ts);
	}
}

static inline void wl_on_signal(int sig)
{
	int saved = errno;

	(void)sig;
	wl.signals = wl.signals + 1;
	wl_stop();
	errno = saved;
}

static inline void wl_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(how, &set, NULL);
}

/* cpus */

static inline bool wl_cpu_allowed(int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(set), &set))
		return false;
	return CPU_ISSET(cpu, &set);
}

/* The last one: CPU 0 takes most interrupts. */
static inline int wl_last_cpu(void)
{
	int cpu;

	for (cpu = CPU_SETSIZE - 1; cpu > 0; cpu--)
		if (wl_cpu_allowed(cpu))
			break;
	return cpu;
}

static inline int wl_pin(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(tid, sizeof(set), &set);
}

static inline void wl_avoid(int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || sched_getaffinity(0, sizeof(set), &set))
		return;
	CPU_CLR(cpu, &set);
	if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
}

#include "workload_json.h"

/* arguments: what is asked for is also echoed in the JSON, so defaults show there */

static inline const char *wl_arg(const char *key)
{
	size_t len = strlen(key);
	const char *value = NULL;
	int i;

	for (i = 1; i < wl.argc; i++) {
		if (strncmp(wl.argv[i], key, len) || wl.argv[i][len] != '=')
			continue;
		wl.arg_used[i] = true;
		value = wl.argv[i] + len + 1;
	}
	return value;
}

static inline const char *wl_arg_str(const char *key, const char *def)
{
	const char *value = wl_arg(key);

	if (!value)
		value = def;
	wl_str(&wl.args, key, value);
	return value;
}

static inline int64_t wl_arg_int(const char *key, int64_t def, int64_t min, int64_t max)
{
	const char *text = wl_arg(key);
	int64_t value = def;
	char *end;

	if (text) {
		errno = 0;
		value = strtoll(text, &end, 10);
		if (errno || end == text || *end)
			wl_die(WL_USAGE, "%s=%s: not a whole number", key, text);
		if (value < min || value > max)
			wl_die(WL_USAGE, "%s=%s: not in %" PRId64 "..%" PRId64, key, text, min,
			       max);
	}
	wl_i64(&wl.args, key, value);
	return value;
}

static inline uint64_t wl_arg_secs(const char *key, double def)
{
	const char *text = wl_arg(key);
	double value = def;
	char *end;

	if (text) {
		value = strtod(text, &end);
		if (end == text || *end || !(value >= 0 && value <= 86400))
			wl_die(WL_USAGE, "%s=%s: not a number of seconds", key, text);
	}
	wl_real(&wl.args, key, value);
	return (uint64_t)(value * 1e9);
}

static inline int wl_arg_cpu(const char *key, int def)
{
	int cpu = (int)wl_arg_int(key, def, -1, CPU_SETSIZE - 1);

	if (cpu >= 0 && !wl_cpu_allowed(cpu))
		wl_die(WL_USAGE, "%s=%d: this process may not run there", key, cpu);
	return cpu;
}

static inline void wl_args_done(void)
{
	bool bad = false;
	int i;

	for (i = 1; i < wl.argc; i++) {
		if (wl.arg_used[i])
			continue;
		fprintf(stderr, "%s: unknown argument '%s'\n", wl.program, wl.argv[i]);
		bad = true;
	}
	if (!bad)
		return;
	fflush(wl.args.f);
	wl_die(WL_USAGE, "arguments are key=value; here and by default: {%s}", wl.args_text);
}

static inline void wl_init(const char *program, int argc, char **argv, double secs)
{
	struct sigaction sa = {.sa_handler = wl_on_signal};

	wl.program = program;
	wl.argc = argc;
	wl.argv = argv;
	wl.main_avoid = -1;
	if (argc > WL_MAX_ARGS)
		wl_die(WL_USAGE, "too many arguments");
	wl.args.f = open_memstream(&wl.args_text, &wl.args_len);
	wl.sh = mmap(NULL, sizeof(*wl.sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (!wl.args.f || wl.sh == MAP_FAILED)
		wl_die(WL_FAIL, "no memory: %s", strerror(errno));
	wl.secs_ns = wl_arg_secs("secs", secs);
	wl.ready = wl_arg_str("ready", NULL);
	wl.go_file = wl_arg_str("go", NULL);
	wl.done = wl_arg_str("done", NULL);
	wl.hold_file = wl_arg_str("hold", NULL);
	wl.hold_max_ns = wl_arg_secs("hold_max", 61);
	prctl(PR_SET_NAME, program);
	/* Timers as sharp as they get: a sleep's length is then the kernel's latency alone. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	wl_signals(SIG_UNBLOCK);
}

/* a thread's own books */

static inline bool wl_read_schedstat(pid_t pid, pid_t tid, struct wl_snap *s)
{
	char path[64], buf[96];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	return sscanf(buf, "%" SCNu64 " %" SCNu64 " %" SCNu64, &s->sched_oncpu_ns,
		      &s->sched_runq_ns, &s->sched_slices) == 3;
}

static inline void wl_snap(struct wl_snap *s)
{
	struct rusage ru;

	s->ns = wl_now();
	/* This also brings the kernel's sum of the running thread up to date for schedstat. */
	s->cpu_ns = wl_cpu_ns();
	s->sched_ok = wl_read_schedstat(getpid(), (pid_t)syscall(SYS_gettid), s);
	getrusage(RUSAGE_THREAD, &ru);
	s->nvcsw = (uint64_t)ru.ru_nvcsw;
	s->nivcsw = (uint64_t)ru.ru_nivcsw;
}

/* threads */

static inline struct wl_thread *__attribute__((format(printf, 2, 3)))
wl_add(wl_fn *fn, const char *fmt, ...)
{
	struct wl_thread *t;
	va_list ap;

	if (wl.nth == WL_MAX_THREADS)
		wl_die(WL_USAGE, "more than %d threads", WL_MAX_THREADS);
	t = &wl.sh->th[wl.nth++];
	va_start(ap, fmt);
	vsnprintf(t->name, sizeof(t->name), fmt, ap);
	va_end(ap);
	t->fn = fn;
	t->cpu = -1;
	return t;
}

static inline void wl_enter(struct wl_thread *t)
{
	prctl(PR_SET_NAME, t->name);
	t->pid = getpid();
	t->tid = (pid_t)syscall(SYS_gettid);
	if (t->cpu >= 0 && wl_pin(0, t->cpu))
		wl_die(WL_FAIL, "%s: cannot run on cpu %d: %s", t->name, t->cpu, strerror(errno));
}

static inline void *wl_thread_main(void *arg)
{
	struct wl_thread *t = arg;

	wl_enter(t);
	atomic_fetch_add(&wl.sh->arrived, 1);
	wl_event();
	wl_gate_wait(&wl.sh->go);
	wl_snap(&t->begin);
	t->fn(t);
	wl_snap(&t->end);
	atomic_fetch_add(&wl.sh->finished, 1);
	wl_event();
	wl_gate_wait(&wl.sh->leave);
	wl_snap(&t->final);
	return NULL;
}

/* The caller must have blocked the signals: a fork in a thread that takes them takes them twice. */
static inline pid_t wl_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		wl_die(WL_FAIL, "fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_TIMERSLACK, 1UL);
		if (getppid() != parent)
			_exit(WL_FAIL);
	}
	return pid;
}

static inline void wl_spawn(struct wl_thread *t)
{
	pthread_attr_t attr;
	int err;

	wl_signals(SIG_BLOCK);
	if (t->process) {
		pid_t pid = wl_fork();

		if (!pid) {
			wl_thread_main(t);
			_exit(0);
		}
		t->pid = pid;
	} else {
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, WL_STACK);
		err = pthread_create(&t->pthread, &attr, wl_thread_main, t);
		pthread_attr_destroy(&attr);
		if (err)
			wl_die(WL_FAIL, "thread %s: %s", t->name, strerror(err));
	}
	wl_signals(SIG_UNBLOCK);
}

static inline void wl_join(struct wl_thread *t)
{
	int status;

	if (t->external)
		return;
	if (!t->process) {
		pthread_join(t->pthread, NULL);
		return;
	}
	while (waitpid(t->pid, &status, 0) < 0 && errno == EINTR)
		;
}

/* Until all threads have counted themselves, until the deadline, or until the stop. */
static inline bool wl_wait_count(atomic_uint *count, uint64_t deadline, bool heed_stop)
{
	struct timespec ts;
	unsigned int event;
	uint64_t now;

	for (;;) {
		event = atomic_load(&wl.sh->event);
		if (atomic_load(count) >= wl.nth)
			return true;
		now = wl_now();
		if (now >= deadline || (heed_stop && wl_stopped()))
			return false;
		ts = wl_ts(deadline - now);
		wl_futex(&wl.sh->event, FUTEX_WAIT, event, &ts);
	}
}

#include "workload_run.h"

static inline bool wl_is_prime(uint64_t n)
{
	uint64_t d;

	for (d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return n > 1;
}

static inline uint64_t wl_next_prime(uint64_t n)
{
	while (!wl_is_prime(n))
		n++;
	return n;
}

#endif /* __WORKLOAD_H */
