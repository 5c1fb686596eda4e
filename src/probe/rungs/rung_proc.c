/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rung proc: no privilege. One thread polls the kernel's own books of every traced thread, and where
 * the sleepers sleep. A thread that has not run since the last look sleeps where it did: that costs
 * one read.
 */
#include "probe/rungs/rung.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probe/rungs/proc_books.h"
#include "probe/rungs/proc_sites.h"
#include "probe/procfs.h"
#include "probe/targets/targets.h"

#define PERIOD_NS      20000000ULL
#define COST_PARTS     50	  /* a pass is followed by so many times its length: 2 % of a CPU */
#define SITES_NS       1000000ULL /* of a pass, for places of sleep */
#define DESCENDANTS_NS 1000000000ULL
#define PROCESSES_MAX  64	  /* looked at for new threads */
#define WAIT_NS	       2000000ULL /* between two looks at the window */

/* What is kept of a slot's thread. */
struct polled {
	__u32 tid; /* 0: not begun */
	__u32 bucket;
	int fd; /* of its schedstat; -1 = none is left to be kept open */
	bool has_switches;
	int64_t voluntary, involuntary; /* at the begin */
	__u64 site;
	uint64_t sleep_ns; /* of the sleep under way, as far as it is known */
	struct proc_account account;
};

struct proc_rung {
	struct records *records;
	struct tt_window window;
	struct tt_losses losses;
	struct polled *polled; /* by slot */
	struct proc_sites *sites;
	bool follow_children, places;
	bool stop, running, ended;
	pthread_t poller;
	uint64_t descendants_ns;
	uint64_t sites_spent_ns; /* in this pass */
	uint64_t readings;
	__u32 next; /* slot to look at first */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* Of this thread: what it takes others, however long it had to wait for it. */
static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t until_ns)
{
	struct timespec ts = {(time_t)(until_ns / 1000000000ULL), (long)(until_ns % 1000000000ULL)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static uint64_t begin_ns(const struct proc_rung *rung)
{
	return __atomic_load_n(&rung->window.begin_ns, __ATOMIC_ACQUIRE);
}

static uint64_t end_ns(const struct proc_rung *rung)
{
	return __atomic_load_n(&rung->window.end_ns, __ATOMIC_ACQUIRE);
}

static void forget(struct polled *polled)
{
	if (polled->tid && polled->fd >= 0)
		close(polled->fd);
	memset(polled, 0, sizeof(*polled));
	polled->fd = -1;
}

static void open_books(struct polled *polled, const struct tt_thread *t)
{
	char path[128];

	polled->fd = -1;
	if (!procfs_path(path, sizeof(path), (pid_t)t->tgid, (pid_t)t->tid, "schedstat"))
		polled->fd = open(path, O_RDONLY | O_CLOEXEC);
}

/* Returns 0, or -errno when the thread is gone. */
static int read_books(const struct polled *polled, const struct tt_thread *t,
		      struct proc_reading *reading)
{
	unsigned long long oncpu, runq, slices;
	char text[96];
	ssize_t n;

	if (polled->fd < 0)
		return procfs_schedstat((pid_t)t->tgid, (pid_t)t->tid, &reading->oncpu_ns,
					&reading->runq_ns, &reading->slices);
	n = pread(polled->fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return n ? -errno : -ESRCH;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu %llu", &oncpu, &runq, &slices) != 3)
		return -EBADMSG;
	*reading = (struct proc_reading){oncpu, runq, slices};
	return 0;
}

static void clear_ref(const struct proc_rung *rung, const struct tt_thread *t)
{
	__u16 *ref = records_slot_ref(rung->records, t->tid),
	      ours = (__u16)(t - rung->records->threads);

	__atomic_compare_exchange_n(ref, &ours, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Does this thread's account begin in the window, and when? */
static uint64_t begin_of(const struct proc_rung *rung, const struct tt_thread *t)
{
	return t->t_birth_ns ? t->t_birth_ns : rung->window.begin_ns;
}

/*
 * Gone before it was begun: nothing is known of it, not even when it ended. The slot of a seeded one
 * is not used again: the books of its begin are kept by it.
 */
static void drop_thread(struct proc_rung *rung, struct polled *polled, struct tt_thread *t)
{
	__u32 slot = (__u32)(t - rung->records->threads);
	bool born = t->flags & TT_FLAG_BORN;

	clear_ref(rung, t);
	forget(polled);
	memset(t, 0, sizeof(*t));
	if (born)
		records_give_slot(rung->records, slot);
}

/* Returns false when the thread is gone already. */
static bool begin_thread(struct proc_rung *rung, struct polled *polled, struct tt_thread *t)
{
	struct proc_reading reading = {0}, none = {0};
	struct procfs_status status;
	struct procfs_stat stat;

	forget(polled);
	open_books(polled, t);
	polled->tid = t->tid;
	if (procfs_task_stat((pid_t)t->tgid, (pid_t)t->tid, &stat) ||
	    read_books(polled, t, &reading))
		return false;
	memcpy(t->comm, stat.comm, sizeof(t->comm) - 1);
	polled->bucket = proc_bucket(stat.state);
	/* all that a thread born in the window did lies in it */
	proc_account_begin(&polled->account, t->flags & TT_FLAG_BORN ? &none : &reading,
			   begin_of(rung, t));
	if (t->flags & TT_FLAG_BORN) {
		polled->has_switches = true;
	} else if (!procfs_status((pid_t)t->tgid, (pid_t)t->tid, &status)) {
		polled->has_switches = true;
		polled->voluntary = status.voluntary_switches;
		polled->involuntary = status.nonvoluntary_switches;
	}
	return true;
}

/* A slow machine still reads one a pass. */
static void note_site(struct proc_rung *rung, struct polled *polled, const struct tt_thread *t)
{
	struct sleep_site site;
	uint64_t start;

	polled->site = 0;
	if (!rung->places || rung->sites_spent_ns >= SITES_NS)
		return;
	start = now_ns();
	if (!sleep_site_read(&site, (pid_t)t->tgid, (pid_t)t->tid) && !site.running)
		polled->site = proc_sites_add(rung->sites, &site);
	rung->sites_spent_ns += now_ns() - start;
}

static void keep_edge(struct proc_rung *rung, __u32 slot, const struct polled *polled,
		      uint64_t slept_ns, bool same_sleep)
{
	struct tt_edge_key key = {
		.slot = slot,
		.waker = TT_WAKER(TT_WAKER_UNSEEN, 0),
		.kernel_stack = polled->site,
	};
	struct tt_edge *edge = hash_table_find(rung->records->edges, &key);

	if (!edge)
		edge = hash_table_add(rung->records->edges, &key);
	if (!edge) {
		rung->losses.edges++;
		return;
	}
	edge->ns += slept_ns;
	edge->count += !same_sleep || !edge->count;
	if (polled->sleep_ns > edge->max_ns)
		edge->max_ns = polled->sleep_ns;
}

/* Voluntary and involuntary switches since the begin, of a living thread. */
static void note_switches(const struct polled *polled, struct tt_thread *t)
{
	struct procfs_status status;

	if (!polled->has_switches || procfs_status((pid_t)t->tgid, (pid_t)t->tid, &status))
		return;
	t->switches_voluntary = (__u32)(status.voluntary_switches - polled->voluntary);
	t->switches_involuntary = (__u32)(status.nonvoluntary_switches - polled->involuntary);
	proc_account_split(t, t->switches_voluntary, t->switches_involuntary);
}

/* Between the last look and this one it ended; what it did in that time is not known. */
static void close_thread(struct proc_rung *rung, struct polled *polled, struct tt_thread *t,
			 uint64_t now)
{
	proc_account_read(&polled->account, t, &polled->account.last, TT_DEAD, now);
	t->t_death_ns = now;
	clear_ref(rung, t);
	forget(polled);
}

static bool has_not_run(const struct polled *polled, const struct proc_reading *reading)
{
	return polled->bucket != TT_UNKNOWN && reading->slices == polled->account.last.slices &&
	       reading->oncpu_ns == polled->account.last.oncpu_ns;
}

static void poll_thread(struct proc_rung *rung, __u32 slot, uint64_t now)
{
	struct tt_thread *t = &rung->records->threads[slot];
	struct polled *polled = &rung->polled[slot];
	struct proc_reading reading;
	struct procfs_stat stat;
	bool same_sleep;
	uint64_t slept_ns;

	rung->readings++;
	if (now > end_ns(rung))
		now = end_ns(rung);
	if (polled->tid != t->tid && !begin_thread(rung, polled, t)) {
		drop_thread(rung, polled, t);
		return;
	}
	if (!polled->account.begin_ns || now < polled->account.begin_ns)
		return;
	if (read_books(polled, t, &reading)) {
		close_thread(rung, polled, t, now);
		return;
	}
	same_sleep = has_not_run(polled, &reading);
	if (!same_sleep) {
		if (procfs_task_stat((pid_t)t->tgid, (pid_t)t->tid, &stat) ||
		    read_books(polled, t, &reading) ||
		    reading.oncpu_ns < polled->account.last.oncpu_ns) {
			/* gone, or another thread has taken the tid over by an exec */
			close_thread(rung, polled, t, now);
			return;
		}
		memcpy(t->comm, stat.comm, sizeof(t->comm) - 1);
		polled->bucket = proc_bucket(stat.state);
		if (polled->bucket == TT_OFF_OTHER)
			note_site(rung, polled, t);
	} else if (polled->bucket == TT_OFF_OTHER && !polled->site) {
		note_site(rung, polled, t);
	}
	if (polled->bucket == TT_DEAD) {
		polled->account.last = reading;
		close_thread(rung, polled, t, now);
		return;
	}
	slept_ns = proc_account_read(&polled->account, t, &reading, polled->bucket, now);
	polled->sleep_ns = same_sleep ? polled->sleep_ns + slept_ns : slept_ns;
	if (slept_ns)
		keep_edge(rung, slot, polled, slept_ns, same_sleep);
}

/* The kernel counts birth in clock ticks since boot, suspend included. */
static uint64_t birth_ns(const struct proc_rung *rung, const struct procfs_stat *stat, uint64_t now)
{
	uint64_t tick_ns = 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK), born;
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	born = stat->starttime_ticks * tick_ns -
	       ((uint64_t)boot.tv_sec * 1000000000ULL + (uint64_t)boot.tv_nsec - now_ns());
	if (born < rung->window.begin_ns)
		return rung->window.begin_ns;
	return born < now ? born : now;
}

static int add_thread(void *ctx, pid_t pid, pid_t tid)
{
	struct proc_rung *rung = ctx;
	__u16 *ref = records_slot_ref(rung->records, (__u32)tid), none = 0;
	struct procfs_stat stat;
	struct tt_thread *t;
	uint64_t now = now_ns();
	__u32 slot;

	if (!ref || *ref || procfs_task_stat(pid, tid, &stat) || strchr("ZXx", stat.state))
		return 0;
	slot = records_take_slot(rung->records);
	if (!slot) {
		rung->losses.no_slot++;
		return 0;
	}
	t = &rung->records->threads[slot];
	t->tgid = (__u32)pid;
	t->t_birth_ns = birth_ns(rung, &stat, now);
	t->flags = t->t_birth_ns > rung->window.begin_ns ? TT_FLAG_BORN : 0;
	t->t_last_ns = t->t_birth_ns;
	t->bucket = TT_UNKNOWN;
	t->tid = (__u32)tid;
	if (!__atomic_compare_exchange_n(ref, &none, (__u16)slot, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED)) {
		memset(t, 0, sizeof(*t));
		records_give_slot(rung->records, slot);
	}
	return 0;
}

static int add_process(void *ctx, const struct target *child, pid_t parent)
{
	(void)parent;
	procfs_for_each_task(child->pid, add_thread, ctx);
	return 0;
}

/* The processes whose threads are polled, once each. */
static int list_processes(const struct proc_rung *rung, pid_t pids[PROCESSES_MAX])
{
	int n = 0;

	for (__u32 slot = 1; slot <= rung->records->used; slot++) {
		const struct tt_thread *t = &rung->records->threads[slot];
		int i = 0;

		if (!t->tid || t->bucket == TT_DEAD)
			continue;
		while (i < n && pids[i] != (pid_t)t->tgid)
			i++;
		if (i == n && n < PROCESSES_MAX)
			pids[n++] = (pid_t)t->tgid;
	}
	return n;
}

/* Threads born since the last pass, and now and then processes. */
static void find_new(struct proc_rung *rung, uint64_t now)
{
	struct target_set polled = {0};
	pid_t pids[PROCESSES_MAX];
	int n = list_processes(rung, pids);

	for (int i = 0; i < n; i++)
		procfs_for_each_task(pids[i], add_thread, rung);
	if (!rung->follow_children || now < rung->descendants_ns + DESCENDANTS_NS)
		return;
	rung->descendants_ns = now;
	for (int i = 0; i < n; i++)
		targets_add_traced(&polled, pids[i]);
	targets_descendants(&polled, add_process, rung);
	targets_free(&polled);
}

static void poll_all(struct proc_rung *rung, uint64_t now, bool last)
{
	pthread_mutex_lock(&rung->records->lock);
	if (!last)
		find_new(rung, now);
	rung->sites_spent_ns = 0;
	for (__u32 i = 0; i < rung->records->used; i++) {
		__u32 slot = 1 + (rung->next + i) % rung->records->used;
		struct tt_thread *t = &rung->records->threads[slot];

		if (!t->tid) {
			forget(&rung->polled[slot]);
			continue;
		}
		if (t->bucket != TT_DEAD)
			poll_thread(rung, slot, last ? now : now_ns());
		if (last && t->bucket != TT_DEAD)
			note_switches(&rung->polled[slot], t);
	}
	rung->next += 7; /* the places of all get their turn */
	pthread_mutex_unlock(&rung->records->lock);
}

static void *poll_proc(void *ctx)
{
	struct proc_rung *rung = ctx;
	uint64_t next_ns, now, cost_ns;

	/* without privilege it stays as it is */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20);

	while (begin_ns(rung) == TT_WINDOW_CLOSED) {
		if (__atomic_load_n(&rung->stop, __ATOMIC_RELAXED))
			return NULL;
		sleep_until(now_ns() + WAIT_NS);
	}
	sleep_until(begin_ns(rung));
	for (;;) {
		now = now_ns();
		if (now >= end_ns(rung))
			break;
		cost_ns = cpu_ns();
		poll_all(rung, now, false);
		cost_ns = COST_PARTS * (cpu_ns() - cost_ns);
		next_ns = now + (cost_ns > PERIOD_NS ? cost_ns : PERIOD_NS);
		while (now_ns() < next_ns && now_ns() < end_ns(rung)) {
			if (__atomic_load_n(&rung->stop, __ATOMIC_RELAXED))
				return NULL;
			sleep_until(now_ns() + WAIT_NS < end_ns(rung) ? now_ns() + WAIT_NS
								      : end_ns(rung));
		}
	}
	poll_all(rung, end_ns(rung), true);
	return NULL;
}

static void proc_destroy(struct rung_objects *objects)
{
	struct proc_rung *rung = objects->skeleton;

	for (__u32 slot = 1; rung->polled && slot <= rung->records->used; slot++)
		forget(&rung->polled[slot]);
	free(rung->polled);
	proc_sites_free(rung->sites);
	free(rung);
}

static int proc_load(const struct rung_settings *settings, struct rung_objects *objects,
		     char reason[RUNG_REASON_LEN])
{
	struct proc_rung *rung = calloc(1, sizeof(*rung));
	uint64_t oncpu_ns, runq_ns, slices;
	pid_t self = procfs_self();

	if (!rung)
		return -ENOMEM;
	objects->skeleton = rung;
	rung->records = settings->records;
	rung->polled = calloc(settings->slots, sizeof(*rung->polled));
	rung->sites = proc_sites_new();
	if (!rung->polled || !rung->sites)
		return -ENOMEM;
	if (procfs_schedstat(self, self, &oncpu_ns, &runq_ns, &slices)) {
		snprintf(reason, RUNG_REASON_LEN,
			 "the kernel keeps no books of threads (/proc/PID/schedstat, "
			 "CONFIG_SCHED_INFO), or /proc is not mounted");
		return -EOPNOTSUPP;
	}
	rung_raise_file_limit();
	rung->follow_children = settings->follow_children;
	rung->places = settings->kernel_stacks;
	rung->window = (struct tt_window){TT_WINDOW_CLOSED, TT_WINDOW_CLOSED};
	objects->window = &rung->window;
	objects->losses = &rung->losses;
	return 0;
}

static int proc_attach(struct rung_objects *objects, char reason[RUNG_REASON_LEN])
{
	struct proc_rung *rung = objects->skeleton;
	int err = pthread_create(&rung->poller, NULL, poll_proc, rung);

	rung->running = !err;
	if (err)
		snprintf(reason, RUNG_REASON_LEN, "cannot start the thread that polls: %s",
			 strerror(err));
	return -err;
}

static void proc_detach(struct rung_objects *objects)
{
	struct proc_rung *rung = objects->skeleton;

	if (!rung->running)
		return;
	/* at the window's end it stops by itself, after a last look */
	if (end_ns(rung) == TT_WINDOW_CLOSED)
		__atomic_store_n(&rung->stop, true, __ATOMIC_RELAXED);
	pthread_join(rung->poller, NULL);
	rung->running = false;
}

/* Its last look is at the window's end. */
static void proc_settle(struct rung_objects *objects, __u64 until_ns)
{
	(void)until_ns;
	proc_detach(objects);
}

static __u64 proc_events(const struct rung_objects *objects)
{
	const struct proc_rung *rung = objects->skeleton;

	return __atomic_load_n(&rung->readings, __ATOMIC_RELAXED);
}

static int proc_read_site(const struct rung_objects *objects, __u64 key, struct sleep_site *site)
{
	const struct proc_rung *rung = objects->skeleton;

	return proc_sites_get(rung->sites, key, site);
}

const struct rung_ops rung_proc = {
	.name = "proc",
	.in_user_space = true,
	.polls = true,
	.load = proc_load,
	.attach = proc_attach,
	.settle = proc_settle,
	.detach = proc_detach,
	.destroy = proc_destroy,
	.events = proc_events,
	.read_site = proc_read_site,
};
