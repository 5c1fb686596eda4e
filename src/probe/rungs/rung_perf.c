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
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/msg.h"
#include "probe/rungs/perf_account.h"
#include "probe/rungs/perf_cpu.h"
#include "probe/rungs/perf_walk.h"
#include "base/text_file.h"
#include "probe/tracefs.h"

/* An event is in its ring when it is older than this, however its CPU was held up. */
#define SETTLED_NS 1000000

#define READ_MS	 20	      /* between two looks at the rings */
#define CHECK_NS 250000000ULL /* between two looks at who is to be walked, and at the CPUs */
#define BATCH	 512	      /* events with the lock held */

/* All rings together, and each. */
#define RINGS_BYTES    (16u << 20)
#define RING_MIN_BYTES (256u << 10)
#define RING_MAX_BYTES (4u << 20)

#define ONLINE "/sys/devices/system/cpu/online"

struct perf_rung {
	struct event_formats formats;
	struct perf_cpu_settings settings;
	char scratch[PERF_RECORD_MAX];
	struct perf_cpu *cpus; /* room for all that there can be */
	int ncpus, max_cpus;
	struct event_merge merge;
	struct event_source **sources;
	struct pollfd *polls;
	struct records *records;
	struct walk_list walked;
	char online[256];
	int stop_fd;
	bool running;
	pthread_t reader;
	uint64_t handled_ns; /* all events of before are accounted */
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

static bool has_cpu(const struct perf_rung *rung, int number)
{
	for (int i = 0; i < rung->ncpus; i++) {
		if (rung->cpus[i].cpu == number)
			return true;
	}
	return false;
}

/* "0-3,6" */
static bool is_listed(const char *list, int number)
{
	int first, last, used;

	for (; sscanf(list, "%d%n", &first, &used) == 1; list += used + (list[used] == ',')) {
		last = first;
		if (list[used] == '-') {
			list += used + 1;
			if (sscanf(list, "%d%n", &last, &used) != 1)
				return false;
		}
		if (number >= first && number <= last)
			return true;
	}
	return false;
}

/*
 * Opens what is online (rung->online) and not open. Returns 0, or -errno with the event that failed.
 */
static int open_cpus(struct perf_rung *rung, const char **what)
{
	for (int number = 0; number < rung->max_cpus; number++) {
		struct perf_cpu *cpu = &rung->cpus[rung->ncpus];
		int err;

		if (has_cpu(rung, number) || !is_listed(rung->online, number))
			continue;
		err = perf_cpu_open(cpu, number, &rung->settings, what);
		if (err)
			perf_cpu_close(cpu);
		if (err == -ENODEV)
			continue;
		if (err)
			return err;
		rung->merge.sources[rung->merge.n++] = &cpu->events.source;
		if (cpu->stacks.pages)
			rung->merge.sources[rung->merge.n++] = &cpu->stacks.source;
		rung->polls[1 + rung->ncpus++] =
			(struct pollfd){.fd = cpu->fds[EVENT_SWITCH], .events = POLLIN};
	}
	return rung->ncpus ? 0 : -ENODEV;
}

static void perf_destroy(struct rung_objects *objects)
{
	struct perf_rung *rung = objects->skeleton;

	for (int i = 0; i < rung->ncpus; i++)
		perf_cpu_close(&rung->cpus[i]);
	if (rung->stop_fd >= 0)
		close(rung->stop_fd);
	free(rung->cpus);
	free(rung->merge.sources);
	free(rung->polls);
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

static struct perf_rung *new_rung(void)
{
	struct perf_rung *rung = calloc(1, sizeof(*rung));
	long configured = sysconf(_SC_NPROCESSORS_CONF);

	if (!rung)
		return NULL;
	/* ids may have gaps */
	rung->max_cpus = configured > TT_MAX_CPUS / 2 ? TT_MAX_CPUS : 2 * (int)configured + 8;
	rung->cpus = calloc(rung->max_cpus + 1, sizeof(*rung->cpus));
	rung->merge.sources = calloc(2 * rung->max_cpus, sizeof(*rung->merge.sources));
	rung->polls = calloc(1 + rung->max_cpus, sizeof(*rung->polls));
	rung->stop_fd = eventfd(0, EFD_CLOEXEC);
	return rung;
}

static int perf_load(const struct rung_settings *settings, struct rung_objects *objects,
		     char reason[RUNG_REASON_LEN])
{
	struct perf_rung *rung = new_rung();
	const char *what = "";
	int err;

	if (!rung)
		return -ENOMEM;
	objects->skeleton = rung;
	if (!rung->cpus || !rung->merge.sources || !rung->polls || rung->stop_fd < 0)
		return -ENOMEM;
	objects->interrupts = settings->interrupts;
	err = read_formats(rung, &objects->interrupts, reason);
	if (err)
		return err;
	rung_raise_file_limit(); /* fourteen descriptors a CPU */
	rung->records = settings->records;
	rung->settings = (struct perf_cpu_settings){
		.formats = &rung->formats,
		.ring_bytes = ring_bytes((int)sysconf(_SC_NPROCESSORS_ONLN)),
		.stacks = settings->kernel_stacks,
		.scratch = rung->scratch,
	};
	rung->merge.formats = &rung->formats;
	rung->polls[0] = (struct pollfd){.fd = rung->stop_fd, .events = POLLIN};
	if (text_file_read(rung->online, sizeof(rung->online), ONLINE) <= 0) {
		snprintf(reason, RUNG_REASON_LEN, "cannot read %s", ONLINE);
		return -ENOENT;
	}
	err = open_cpus(rung, &what);
	if (err) {
		explain_open(err, what, reason);
		return err;
	}
	perf_account_start(settings->records, settings->follow_children);
	objects->window = perf_account_window();
	objects->losses = perf_account_losses();
	return 0;
}

/* Hands the rings back to the kernel as far as they are read. */
static void return_space(struct perf_rung *rung)
{
	for (int i = 0; i < rung->ncpus; i++) {
		perf_buffer_end(&rung->cpus[i].events);
		if (rung->cpus[i].stacks.pages)
			perf_buffer_end(&rung->cpus[i].stacks);
	}
}

static void look_at_heads(struct perf_rung *rung)
{
	for (int i = 0; i < rung->ncpus; i++) {
		perf_buffer_begin(&rung->cpus[i].events);
		if (rung->cpus[i].stacks.pages)
			perf_buffer_begin(&rung->cpus[i].stacks);
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
	rung->handled_ns = horizon_ns;
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
	for (int i = 0; i < rung->ncpus; i++) {
		int err = perf_cpu_walk(&rung->cpus[i], &rung->formats, list.n ? filter : NULL);

		if (err)
			msg_debug("callchains of CPU %d: %s", rung->cpus[i].cpu, strerror(-err));
	}
}

/* A CPU that came online has run unseen until now. */
static void follow_hotplug(struct perf_rung *rung)
{
	struct trace_event lost = {.kind = EVENT_LOST, .until_ns = UINT64_MAX};
	char online[sizeof(rung->online)];
	int before = rung->ncpus;
	const char *what;

	if (text_file_read(online, sizeof(online), ONLINE) <= 0 || !strcmp(online, rung->online))
		return;
	memcpy(rung->online, online, sizeof(online));
	open_cpus(rung, &what);
	if (rung->ncpus == before)
		return;
	for (int i = before; i < rung->ncpus; i++)
		perf_cpu_enable(&rung->cpus[i]);
	lost.time_ns = rung->checked_ns > rung->handled_ns ? rung->checked_ns : rung->handled_ns;
	pthread_mutex_lock(&rung->records->lock);
	perf_account_event(&lost);
	perf_account_found(now_ns());
	pthread_mutex_unlock(&rung->records->lock);
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

/*
 * A full ring is a loss, and the work is the same whenever it is done: before others, so that they
 * cannot keep it waiting. Where real-time groups have no share (RT_GROUP_SCHED) it is refused.
 */
static void take_priority(void)
{
	struct sched_param param = {.sched_priority = 1};

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param))
		setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20);
}

static void *read_rings(void *ctx)
{
	struct perf_rung *rung = ctx;

	take_priority();
	for (;;) {
		uint64_t now;

		poll(rung->polls, (nfds_t)(1 + rung->ncpus), READ_MS);
		if (rung->polls[0].revents)
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

	for (int i = 0; i < rung->ncpus; i++)
		perf_cpu_enable(&rung->cpus[i]);
	err = pthread_create(&rung->reader, NULL, read_rings, rung);
	rung->running = !err;
	if (err)
		snprintf(reason, RUNG_REASON_LEN, "cannot start the thread that reads: %s",
			 strerror(err));
	return -err;
}

static void perf_detach(struct rung_objects *objects)
{
	struct perf_rung *rung = objects->skeleton;
	uint64_t one = 1;

	for (int i = 0; i < rung->ncpus; i++)
		perf_cpu_disable(&rung->cpus[i]);
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
	.detach = perf_detach,
	.destroy = perf_destroy,
	.events = perf_events,
};
