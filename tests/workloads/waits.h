/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The truth of waits: around each call that is made to wait, the thread takes the time, and the
 * kernel's own books of it: its CPU time, its time in the run queue and its voluntary switches. What
 * is left of the time it was off the CPU, and the switches are how many sleeps that took.
 *
 * A thread may have up to three kinds of wait. For each the truth names the class that it must be
 * given and who ends it.
 */
#ifndef __WAITS_H
#define __WAITS_H

#include "workload.h"

#include <semaphore.h>

#define WAIT_KINDS 3
#define WV_MAJORS  12 /* in wl_thread.val: major faults in all of them */
#define WV_UNSURE  13 /* by how much the time off the CPU may be wrong, in all of them */

#define WAIT_READ_NS 20000
#define WAIT_READS   5

struct wait_kind {
	const char *class; /* as the JSON of tegratrace names it */
	const char *by;	   /* thread, process, kernel, irq, softirq, timer */
	const char *waker; /* its name; NULL: not known here */
};

struct wait_clock {
	uint64_t wall, cpu, runq, sleeps, majors, unsure;
};

/* In wl_thread.val, for each kind */
enum { WV_CALLS, WV_WAIT_NS, WV_OFF_NS, WV_SLEEPS, WV_MAX };

_Static_assert(WAIT_KINDS *WV_MAX <= WV_MAJORS && WV_UNSURE < WL_MAX_VALS, "no room for the sums");

static struct wait_kind wait_kinds[WL_MAX_THREADS][WAIT_KINDS];
static const struct wait_kind wait_timer = {"timer", "timer", NULL};
static __thread int wait_schedstat_fd = -1;

/* A thread and what it will wait for first; more by wait_also(). */
static inline struct wl_thread *wait_add(wl_fn *fn, const char *name, struct wait_kind kind)
{
	struct wl_thread *t = wl_add(fn, "%s", name);

	wait_kinds[t - wl.sh->th][0] = kind;
	return t;
}

static inline void wait_also(struct wl_thread *t, int i, struct wait_kind kind)
{
	wait_kinds[t - wl.sh->th][i] = kind;
}

static inline uint64_t wait_runq_ns(void)
{
	unsigned long long on, runq;
	char buf[96];
	ssize_t n;

	if (wait_schedstat_fd < 0)
		wait_schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	n = pread(wait_schedstat_fd, buf, sizeof(buf) - 1, 0);
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	return sscanf(buf, "%llu %llu", &on, &runq) == 2 ? runq : 0;
}

/*
 * The books cannot be read all at once, so they are read again when the thread was kept from running
 * meanwhile; what is left of that is unsure. Always in the same order: what the reading itself takes
 * is then the same before and after.
 */
static inline struct wait_clock wait_read(void)
{
	struct wait_clock c = {0};
	struct rusage ru;
	int tries = 0;

	do {
		uint64_t wall = wl_now(), cpu = wl_cpu_ns();

		c.runq = wait_runq_ns();
		getrusage(RUSAGE_THREAD, &ru);
		c.wall = wl_now();
		c.cpu = wl_cpu_ns();
		wall = c.wall - wall;
		cpu = c.cpu - cpu;
		c.unsure = wall > cpu ? wall - cpu : 0;
	} while (c.unsure > WAIT_READ_NS && ++tries < WAIT_READS);
	c.sleeps = (uint64_t)ru.ru_nvcsw;
	c.majors = (uint64_t)ru.ru_majflt;
	return c;
}

static inline void wait_end(struct wl_thread *t, int kind, struct wait_clock begin)
{
	struct wait_clock end = wait_read();
	uint64_t wall = end.wall - begin.wall, *v = t->val + kind * WV_MAX;
	uint64_t busy = end.cpu - begin.cpu + end.runq - begin.runq;

	v[WV_CALLS]++;
	v[WV_WAIT_NS] += wall;
	v[WV_OFF_NS] += wall > busy ? wall - busy : 0;
	v[WV_SLEEPS] += end.sleeps - begin.sleeps;
	t->val[WV_MAJORS] += end.majors - begin.majors;
	t->val[WV_UNSURE] += end.unsure + begin.unsure;
}

/* A sleep, its truth kept as that kind. None once the load is stopped: the rest then runs through. */
static inline void wait_nap(struct wl_thread *t, int kind, uint64_t ns)
{
	struct wait_clock c = wait_read();

	if (wl_stopped())
		return;
	wl_sleep(ns);
	wait_end(t, kind, c);
}

static inline void wait_until(struct wl_thread *t, int kind, uint64_t ns)
{
	struct wait_clock c = wait_read();

	if (wl_stopped())
		return;
	wl_sleep_until(ns);
	wait_end(t, kind, c);
}

static inline void wait_json_kind(struct wl_json *j, const struct wait_kind *kind,
				  const uint64_t *v)
{
	wl_open(j, NULL, '{');
	wl_str(j, "class", kind->class);
	wl_str(j, "by", kind->by);
	wl_str(j, "waker", kind->waker);
	wl_u64(j, "calls", v[WV_CALLS]);
	wl_u64(j, "wait_ns", v[WV_WAIT_NS]);
	wl_u64(j, "off_ns", v[WV_OFF_NS]);
	wl_u64(j, "sleeps", v[WV_SLEEPS]);
	wl_close(j, '}');
}

static inline void wait_json(struct wl_json *j)
{
	unsigned int i, k;

	wl_open(j, "waits", '{');
	for (i = 0; i < wl.nth; i++) {
		wl_open(j, wl.sh->th[i].name, '[');
		for (k = 0; k < WAIT_KINDS && wait_kinds[i][k].class; k++)
			wait_json_kind(j, &wait_kinds[i][k], wl.sh->th[i].val + k * WV_MAX);
		wl_close(j, ']');
	}
	wl_close(j, '}');
	wl_open(j, "major_faults", '{');
	for (i = 0; i < wl.nth; i++)
		wl_u64(j, wl.sh->th[i].name, wl.sh->th[i].val[WV_MAJORS]);
	wl_close(j, '}');
	wl_open(j, "unsure_ns", '{');
	for (i = 0; i < wl.nth; i++)
		wl_u64(j, wl.sh->th[i].name, wl.sh->th[i].val[WV_UNSURE]);
	wl_close(j, '}');
}

/*
 * A giver that naps and then gives, and a taker that waits for it, so many times. What is given is
 * kept until it is taken, so a taker that comes late loses none.
 */
struct handover {
	const char *taker, *giver;
	struct wait_kind kind; /* of the taker */
	void (*make)(struct handover *h);
	void (*give)(struct handover *h);
	void (*take)(struct handover *h);
	bool process; /* the giver is a process of its own, a child of the workload */
	int in, out;  /* descriptors: taken from, given to */
	int poll;     /* the one to wait on before taking */
	pthread_mutex_t lock;
	pthread_cond_t cond;
	sem_t sem;
	atomic_uint given;
	unsigned int taken;
	struct wl_thread *taker_thread;
};

static struct handover *handovers; /* indexed by wl_thread.index */
static unsigned int wait_count;
static uint64_t wait_nap_ns;

/* A count that a thread waits on as glibc's condition variables and semaphores do, not as a mutex. */
static inline void futex_give(struct handover *h)
{
	atomic_fetch_add(&h->given, 1);
	wl_futex(&h->given, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static inline void futex_take(struct handover *h)
{
	while (atomic_load(&h->given) == h->taken)
		syscall(SYS_futex, &h->given, FUTEX_WAIT_BITSET_PRIVATE, h->taken, NULL, NULL,
			FUTEX_BITSET_MATCH_ANY);
	h->taken++;
}

static inline void handover_take(struct wl_thread *t)
{
	struct handover *h = &handovers[t->index];
	struct wait_clock c;
	unsigned int i;

	for (i = 0; i < wait_count; i++) {
		c = wait_read();
		h->take(h);
		wait_end(t, 0, c);
	}
}

static inline void handover_give(struct wl_thread *t)
{
	struct handover *h = &handovers[t->index];
	unsigned int i;

	for (i = 0; i < wait_count; i++) {
		wait_nap(t, 0, wait_nap_ns);
		h->give(h);
	}
}

static inline void handover_add(int index, bool with_giver)
{
	struct handover *h = &handovers[index];
	struct wl_thread *giver;

	if (h->make)
		h->make(h);
	h->taker_thread = wait_add(handover_take, h->taker, h->kind);
	h->taker_thread->index = index;
	if (!with_giver)
		return;
	giver = wait_add(handover_give, h->giver, wait_timer);
	giver->index = index;
	giver->process = h->process;
}

/* What both programs of handovers take: how many, and how long between. */
static inline void wait_args(int count, int us)
{
	wait_count = (unsigned int)wl_arg_int("count", count, 1, 1000003);
	wait_nap_ns = (uint64_t)wl_arg_int("us", us, 101, 10000019) * WL_USEC;
}

/* The counts end it; the limit only guards against a machine that cannot keep up. */
static inline void wait_load(void)
{
	wl_wait_load(7 * wait_count * wait_nap_ns + WL_GRACE_NS);
}

#endif /* __WAITS_H */
