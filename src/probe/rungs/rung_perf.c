/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rung perf: no bpf(2). Tracepoint events of every CPU go into a ring each; one thread merges them in
 * the order of time and runs on them what the programs of the other rungs run in the kernel.
 *
 * No filter on the events of the accounts: a thread born a moment ago would not be in any list yet.
 * Only the callchains, which are dear and may be missing, are filtered by thread in the kernel.
 */
#include "probe/rungs/rung.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/priority.h"
#include "probe/rungs/perf_account.h"
#include "probe/rungs/perf_cpus.h"
#include "probe/rungs/perf_walk.h"
#include "probe/tracefs.h"

/* An event is in its ring when it is older than this, however its CPU was held up. */
#define SETTLED_NS 1000000

#define READ_MS	     20		  /* between two looks at the rings */
#define CHECK_NS     250000000ULL /* between two looks at who is to be walked, and at the CPUs */
#define BATCH	     512	  /* events with the lock held */
#define SETTLE_STEPS 100	  /* of READ_MS: the most that is waited for the reader */

/* All rings together, and each. */
#define RINGS_BYTES    (16u << 20)
#define RING_MIN_BYTES (256u << 10)
#define RING_MAX_BYTES (4u << 20)

struct perf_rung {
	struct event_formats formats;
	char scratch[PERF_RECORD_MAX];
	struct perf_cpus cpus;
	struct event_merge merge;
	struct records *records;
	struct walk_list walked;
	int stop_fd;
	bool running;
	pthread_t reader;
	uint64_t handled_ns; /* all events of before are accounted; for other threads */
	uint64_t checked_ns;
	uint64_t events; /* for other threads */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* TEGRATRACE_RING_KB: for the tests of losses. */
static size_t ring_bytes(int cpus)
{
	const char *asked = getenv("TEGRATRACE_RING_KB");
	size_t bytes = RING_MIN_BYTES;

	if (asked) {
		for (bytes = (size_t)sysconf(_SC_PAGESIZE);
		     bytes < (size_t)atoi(asked) << 10 && bytes < RING_MAX_BYTES;)
			bytes *= 2;
		return bytes;
	}
	while (bytes < RING_MAX_BYTES && 2 * bytes * (size_t)cpus <= RINGS_BYTES)
		bytes *= 2;
	return bytes;
}

static void perf_destroy(struct rung_objects *objects)
{
	struct perf_rung *rung = objects->skeleton;

	perf_cpus_close(&rung->cpus);
	if (rung->stop_fd >= 0)
		close(rung->stop_fd);
	free(rung);
}

static void explain_open(int err, const char *what, char reason[RUNG_REASON_LEN])
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		snprintf(reason, RUNG_REASON_LEN,
			 "the kernel refuses perf events: run as root (sudo), or with CAP_PERFMON; "
			 "in a container also allow perf_event_open");
		break;
	case -ENOSYS:
		snprintf(reason, RUNG_REASON_LEN,
			 "this kernel has no perf_event_open (CONFIG_PERF_EVENTS), or a filter on "
			 "system calls hides it");
		break;
	case -EMFILE:
		snprintf(reason, RUNG_REASON_LEN,
			 "too few file descriptors for %s on every CPU: ulimit -n 65536", what);
		break;
	default:
		snprintf(reason, RUNG_REASON_LEN, "cannot read the tracepoint %s: %s", what,
			 strerror(-err));
	}
}

static int read_formats(struct perf_rung *rung, bool *interrupts, char reason[RUNG_REASON_LEN])
{
	struct tracefs tracefs;
	int err = tracefs_open(&tracefs);

	if (err) {
		snprintf(reason, RUNG_REASON_LEN, "tracefs %s", tracefs.where);
		return err;
	}
	err = event_formats_read(&tracefs, interrupts, &rung->formats, reason, RUNG_REASON_LEN);
	tracefs_close(&tracefs);
	return err;
}

/* The rings to merge are those of the CPUs that are open. */
static void merge_open(struct perf_rung *rung)
{
	rung->merge.sources = rung->cpus.sources;
	rung->merge.n = rung->cpus.nsources;
}

static int perf_load(const struct rung_settings *settings, struct rung_objects *objects,
		     char reason[RUNG_REASON_LEN])
{
	struct perf_rung *rung = calloc(1, sizeof(*rung));
	struct tt_freezer freezer;
	const char *what = "";
	int err;

	if (!rung)
		return -ENOMEM;
	objects->skeleton = rung;
	rung->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (rung->stop_fd < 0)
		return -errno;
	objects->interrupts = settings->interrupts;
	err = read_formats(rung, &objects->interrupts, reason);
	if (err)
		return err;
	rung_raise_file_limit(); /* fourteen descriptors a CPU */
	rung->records = settings->records;
	rung->cpus.settings = (struct perf_cpu_settings){
		.formats = &rung->formats,
		.ring_bytes = ring_bytes((int)sysconf(_SC_NPROCESSORS_ONLN)),
		.stacks = settings->kernel_stacks,
		.scratch = rung->scratch,
	};
	rung->merge.formats = &rung->formats;
	rung->cpus.polls[0] = (struct pollfd){.fd = rung->stop_fd, .events = POLLIN};
	err = perf_cpus_open(&rung->cpus, &what);
	merge_open(rung);
	if (err) {
		explain_open(err, what, reason);
		return err;
	}
	freezer_find(&freezer, settings->kernel_stacks);
	perf_account_start(settings->records, settings->follow_children, &freezer);
	objects->window = perf_account_window();
	objects->losses = perf_account_losses();
	return 0;
}

/* Hands the rings back to the kernel as far as they are read. */
static void return_space(struct perf_rung *rung)
{
	for (int i = 0; i < rung->cpus.n; i++) {
		struct perf_cpu *cpu = rung->cpus.open[i];

		perf_buffer_end(&cpu->events);
		if (cpu->stacks.pages)
			perf_buffer_end(&cpu->stacks);
	}
}

static void look_at_heads(struct perf_rung *rung)
{
	for (int i = 0; i < rung->cpus.n; i++) {
		struct perf_cpu *cpu = rung->cpus.open[i];

		perf_buffer_begin(&cpu->events);
		if (cpu->stacks.pages)
			perf_buffer_begin(&cpu->stacks);
	}
}

/* Accounts all events of before the horizon. */
static void handle_events(struct perf_rung *rung, uint64_t horizon_ns)
{
	const struct trace_event *event;
	int n;

	look_at_heads(rung);
	do {
		pthread_mutex_lock(&rung->records->lock);
		for (n = 0; n < BATCH && (event = merge_next(&rung->merge, horizon_ns)); n++)
			perf_account_event(event);
		pthread_mutex_unlock(&rung->records->lock);
		return_space(rung);
	} while (n == BATCH);
	perf_account_found(now_ns());
	__atomic_store_n(&rung->handled_ns, horizon_ns, __ATOMIC_RELEASE);
	perf_account_losses()->stacks += rung->merge.stacks_lost;
	rung->merge.stacks_lost = 0;
	__atomic_store_n(&rung->events, rung->merge.events, __ATOMIC_RELAXED);
}

static void walk_others(struct perf_rung *rung)
{
	char filter[WALK_FILTER_SIZE];
	struct walk_list list;

	pthread_mutex_lock(&rung->records->lock);
	walk_choose(rung->records, &list);
	pthread_mutex_unlock(&rung->records->lock);
	if (list.n == rung->walked.n &&
	    !memcmp(list.tids, rung->walked.tids, list.n * sizeof(list.tids[0])))
		return;
	rung->walked = list;
	walk_filter(&list, filter);
	for (int i = 0; i < rung->cpus.n; i++) {
		struct perf_cpu *cpu = rung->cpus.open[i];
		int err = perf_cpu_walk(cpu, &rung->formats, list.n ? filter : NULL);

		if (err)
			msg_debug("callchains of CPU %d: %s", cpu->cpu, strerror(-err));
	}
}

/*
 * A CPU that came online, or went and is back, has run unseen. Since the last look, but what was handled
 * meanwhile is not taken back: of one that was away for a moment up to a look's time is held for certain.
 */
static void follow_hotplug(struct perf_rung *rung)
{
	struct trace_event lost = {.kind = EVENT_LOST, .until_ns = UINT64_MAX};
	int first;

	if (!perf_cpus_follow(&rung->cpus, &first))
		return;
	merge_open(rung);
	rung->walked.n = -1; /* the callchains of new ones are still to be asked for */
	lost.time_ns = rung->checked_ns > rung->handled_ns ? rung->checked_ns : rung->handled_ns;
	for (int i = first; i < rung->cpus.n; i++) {
		perf_cpu_enable(rung->cpus.open[i]);
		lost.cpu = (__u16)rung->cpus.open[i]->cpu;
		pthread_mutex_lock(&rung->records->lock);
		perf_account_event(&lost);
		perf_account_found(now_ns());
		pthread_mutex_unlock(&rung->records->lock);
	}
}

static void check(struct perf_rung *rung, uint64_t now)
{
	if (now < rung->checked_ns + CHECK_NS)
		return;
	follow_hotplug(rung);
	rung->checked_ns = now;
	walk_others(rung);
	if (perf_account_has_lost())
		perf_account_repair(now, rung->handled_ns);
}

static void *read_rings(void *ctx)
{
	struct perf_rung *rung = ctx;
	struct priority before;

	/* A full ring is a loss, and the work is the same whenever it is done. */
	priority_raise(&before);
	for (;;) {
		uint64_t now;

		poll(rung->cpus.polls, (nfds_t)(1 + rung->cpus.n), READ_MS);
		if (rung->cpus.polls[0].revents)
			return NULL;
		now = now_ns();
		handle_events(rung, now - SETTLED_NS);
		check(rung, now);
	}
}

static int perf_attach(struct rung_objects *objects, char reason[RUNG_REASON_LEN])
{
	struct perf_rung *rung = objects->skeleton;
	int err;

	for (int i = 0; i < rung->cpus.n; i++)
		perf_cpu_enable(rung->cpus.open[i]);
	err = pthread_create(&rung->reader, NULL, read_rings, rung);
	rung->running = !err;
	if (err)
		snprintf(reason, RUNG_REASON_LEN, "cannot start the thread that reads: %s",
			 strerror(err));
	return -err;
}

static void perf_settle(struct rung_objects *objects, __u64 until_ns)
{
	const struct perf_rung *rung = objects->skeleton;
	const struct timespec step = {0, READ_MS * 1000000L};

	for (int i = 0; i < SETTLE_STEPS; i++) {
		if (__atomic_load_n(&rung->handled_ns, __ATOMIC_ACQUIRE) >= until_ns)
			return;
		nanosleep(&step, NULL);
	}
}

static void perf_detach(struct rung_objects *objects)
{
	struct perf_rung *rung = objects->skeleton;
	uint64_t one = 1;

	for (int i = 0; i < rung->cpus.n; i++)
		perf_cpu_disable(rung->cpus.open[i]);
	if (!rung->running)
		return;
	if (write(rung->stop_fd, &one, sizeof(one)) != sizeof(one))
		msg_warn("cannot stop the thread that reads: %s", strerror(errno));
	pthread_join(rung->reader, NULL);
	rung->running = false;
	handle_events(rung, UINT64_MAX);
	perf_account_finish();
}

static __u64 perf_events(const struct rung_objects *objects)
{
	const struct perf_rung *rung = objects->skeleton;

	return __atomic_load_n(&rung->events, __ATOMIC_RELAXED);
}

const struct rung_ops rung_perf = {
	.name = "perf",
	.in_user_space = true,
	.load = perf_load,
	.attach = perf_attach,
	.settle = perf_settle,
	.detach = perf_detach,
	.destroy = perf_destroy,
	.events = perf_events,
};
