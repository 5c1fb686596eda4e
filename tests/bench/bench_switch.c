/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a context switch costs more with each set of programs attached: a pipe ping-pong on one CPU
 * runs all the time, the configurations take turns round by round, and the medians are compared
 * with the median without any program. Peers come from Debian's libbpf-tools.
 *
 *   bench_switch [ROUNDS [MS_PER_ROUND [PART_OF_NAME]]]   (the third: only those, and no program)
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "empty_btf.skel.h"
#include "empty_tracepoint.skel.h"
#include "probe/rungs/rung.h"
#include "probe/tracer.h"

#define MAX_ROUNDS     64
#define PEER_SETTLE_MS 1500
#define OWN_SETTLE_MS  20
/* Nobody reads it: for 1.6 million events, three a switch. */
#define RING_BYTES (64u << 20)

struct config {
	const char *name;
	const char *floor; /* the configuration this one is a multiple of */
	bool (*start)(struct config *config);
	void (*stop)(struct config *config);
	enum rung rung;
	bool traced;
	bool timeline;
	const char *peers[3];
	int settle_ms;
	void *handle;
	pid_t pids[3];
	double ns[MAX_ROUNDS];
	int rounds;
	struct program_cost costs[TRACER_PROGRAMS];
	int ncosts;
};

static pid_t ping_pid, pong_pid, idle_pid;
static volatile unsigned long *rounds_done;

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void sleep_ms(int ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000L};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static pid_t spawn_player(int cpu, int in, int out, bool counts)
{
	pid_t pid = fork();
	char c = 'x';

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, counts ? "ping" : "pong");
	pin(cpu);
	for (;;) {
		if (counts && write(out, &c, 1) != 1)
			_exit(1);
		if (read(in, &c, 1) != 1)
			_exit(1);
		if (counts)
			++*rounds_done;
		else if (write(out, &c, 1) != 1)
			_exit(1);
	}
}

static void spawn_pingpong(int cpu)
{
	int there[2], back[2];

	rounds_done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rounds_done == MAP_FAILED || pipe(there) || pipe(back))
		exit(1);
	pong_pid = spawn_player(cpu, there[0], back[1], false);
	ping_pid = spawn_player(cpu, back[0], there[1], true);
	idle_pid = fork();
	if (!idle_pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

static double measure_ns_per_switch(int ms)
{
	unsigned long before = *rounds_done;
	int64_t t0 = now_ns(), t1;

	sleep_ms(ms);
	t1 = now_ns();
	return (double)(t1 - t0) / (2.0 * (double)(*rounds_done - before));
}

static bool start_none(struct config *config)
{
	(void)config;
	return true;
}

static void stop_none(struct config *config)
{
	(void)config;
}

static bool start_empty_btf(struct config *config)
{
	struct empty_btf *skel = empty_btf__open_and_load();

	config->handle = skel;
	return skel && !empty_btf__attach(skel);
}

static void stop_empty_btf(struct config *config)
{
	empty_btf__destroy(config->handle);
}

static bool start_empty_tracepoint(struct config *config)
{
	struct empty_tracepoint *skel = empty_tracepoint__open_and_load();
	char reason[RUNG_REASON_LEN];

	config->handle = skel;
	return skel && !rung_attach_tracepoints(skel->skeleton, reason);
}

static void stop_empty_tracepoint(struct config *config)
{
	empty_tracepoint__destroy(config->handle);
}

static bool start_tracer(struct config *config)
{
	struct tracer_options options = {
		.rung = config->rung,
		.follow_children = true,
		.timeline_bytes = config->timeline ? RING_BYTES : 0,
	};
	struct capability capability = {};
	struct tracer *tracer = NULL;
	char reason[256] = "";

	if (tracer_open(&options, &tracer, &capability, reason, sizeof(reason))) {
		fprintf(stderr, "%s: %s\n", config->name, reason);
		return false;
	}
	config->handle = tracer;
	if (config->traced) {
		tracer_seed(tracer, ping_pid, ping_pid);
		tracer_seed(tracer, pong_pid, pong_pid);
	} else {
		tracer_seed(tracer, idle_pid, idle_pid);
	}
	tracer_publish_begin(tracer, now_ns());
	return true;
}

static void stop_tracer(struct config *config)
{
	tracer_close(config->handle);
}

static bool start_peers(struct config *config)
{
	char pid_text[16];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	snprintf(pid_text, sizeof(pid_text), "%d", config->traced ? ping_pid : idle_pid);
	for (int i = 0; i < 3 && config->peers[i]; i++) {
		config->pids[i] = fork();
		if (!config->pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			dup2(null, STDOUT_FILENO);
			dup2(null, STDERR_FILENO);
			execlp(config->peers[i], config->peers[i], "-p", pid_text, "1000", NULL);
			_exit(127);
		}
	}
	close(null);
	sleep_ms(PEER_SETTLE_MS);
	for (int i = 0; i < 3 && config->peers[i]; i++) {
		if (waitpid(config->pids[i], NULL, WNOHANG)) {
			config->pids[i] = 0;
			return false;
		}
	}
	return true;
}

static void stop_peers(struct config *config)
{
	for (int i = 0; i < 3 && config->peers[i]; i++) {
		if (config->pids[i] > 0) {
			kill(config->pids[i], SIGINT);
			waitpid(config->pids[i], NULL, 0);
		}
	}
}

static struct config configs[] = {
	{.name = "no program", .start = start_none, .stop = stop_none},
	{.name = "3 empty programs, btf", .start = start_empty_btf, .stop = stop_empty_btf},
	{.name = "tegratrace btf, traced",
	 .floor = "3 empty programs, btf",
	 .start = start_tracer,
	 .stop = stop_tracer,
	 .rung = RUNG_BTF,
	 .traced = true},
	{.name = "tegratrace btf, traced, timeline",
	 .floor = "3 empty programs, btf",
	 .start = start_tracer,
	 .stop = stop_tracer,
	 .rung = RUNG_BTF,
	 .traced = true,
	 .timeline = true},
	{.name = "tegratrace btf, untraced",
	 .floor = "3 empty programs, btf",
	 .start = start_tracer,
	 .stop = stop_tracer,
	 .rung = RUNG_BTF},
	{.name = "tegratrace raw, traced",
	 .floor = "3 empty programs, btf",
	 .start = start_tracer,
	 .stop = stop_tracer,
	 .rung = RUNG_RAW,
	 .traced = true},
	{.name = "3 empty programs, tracepoint",
	 .start = start_empty_tracepoint,
	 .stop = stop_empty_tracepoint},
	{.name = "tegratrace tracepoint, traced",
	 .floor = "3 empty programs, tracepoint",
	 .start = start_tracer,
	 .stop = stop_tracer,
	 .rung = RUNG_TRACEPOINT,
	 .traced = true},
	{.name = "tegratrace tracepoint, traced, timeline",
	 .floor = "3 empty programs, tracepoint",
	 .start = start_tracer,
	 .stop = stop_tracer,
	 .rung = RUNG_TRACEPOINT,
	 .traced = true,
	 .timeline = true},
	{.name = "tegratrace tracepoint, untraced",
	 .floor = "3 empty programs, tracepoint",
	 .start = start_tracer,
	 .stop = stop_tracer,
	 .rung = RUNG_TRACEPOINT},
	{.name = "runqlat, traced",
	 .start = start_peers,
	 .stop = stop_peers,
	 .traced = true,
	 .peers = {"runqlat"}},
	{.name = "runqlat, untraced",
	 .start = start_peers,
	 .stop = stop_peers,
	 .peers = {"runqlat"}},
	{.name = "offcputime, traced",
	 .start = start_peers,
	 .stop = stop_peers,
	 .traced = true,
	 .peers = {"offcputime"}},
	{.name = "offcputime, untraced",
	 .start = start_peers,
	 .stop = stop_peers,
	 .peers = {"offcputime"}},
	{.name = "runqlat+offcputime+wakeuptime, traced",
	 .start = start_peers,
	 .stop = stop_peers,
	 .traced = true,
	 .peers = {"runqlat", "offcputime", "wakeuptime"}},
};

#define CONFIGS (sizeof(configs) / sizeof(configs[0]))

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const struct config *config)
{
	double sorted[MAX_ROUNDS];

	if (!config->rounds)
		return 0;
	memcpy(sorted, config->ns, config->rounds * sizeof(double));
	qsort(sorted, config->rounds, sizeof(double), compare);
	return sorted[config->rounds / 2];
}

/* Added cost against the neighbours in time: the machine drifts between rounds. */
static double median_added(const struct config *config)
{
	struct config added = {.rounds = config->rounds};

	for (int i = 0; i < config->rounds; i++)
		added.ns[i] = config->ns[i] - configs[0].ns[i];
	return median(&added);
}

static const struct config *find(const char *name)
{
	for (size_t i = 0; i < CONFIGS; i++) {
		if (!strcmp(configs[i].name, name))
			return &configs[i];
	}
	return NULL;
}

static void run_config(struct config *config, int ms, const char *part)
{
	bool ok;

	if (config != configs && part && !strstr(config->name, part))
		return;
	ok = config->start(config);

	if (ok) {
		sleep_ms(OWN_SETTLE_MS);
		config->ns[config->rounds++] = measure_ns_per_switch(ms);
	}
	config->stop(config);
	config->handle = NULL;
}

static void print_results(void)
{
	printf("%-40s %10s %10s %8s\n", "pipe ping-pong on one CPU", "ns/switch", "added ns",
	       "x floor");
	for (size_t i = 0; i < CONFIGS; i++) {
		const struct config *c = &configs[i];
		const struct config *floor = c->floor ? find(c->floor) : NULL;

		if (!c->rounds) {
			printf("%-40s %10s\n", c->name, "not here");
			continue;
		}
		printf("%-40s %10.0f %10.0f", c->name, median(c), median_added(c));
		if (floor && floor->rounds)
			printf(" %8.2f", median_added(c) / median_added(floor));
		printf("\n");
	}
}

/* The programs' own run time, by the kernel's BPF statistics (which add two clock reads a run). */
static void print_program_costs(void)
{
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (stats < 0)
		return;
	for (size_t i = 0; i < CONFIGS; i++) {
		struct config *c = &configs[i];

		if (c->start != start_tracer || !c->start(c))
			continue;
		sleep_ms(300);
		c->ncosts = tracer_program_costs(c->handle, c->costs);
		c->stop(c);
		printf("%s, ns a run:", c->name);
		for (int k = 0; k < c->ncosts; k++) {
			if (c->costs[k].runs > 100)
				printf(" %s %.0f", c->costs[k].name,
				       (double)c->costs[k].ns / (double)c->costs[k].runs);
		}
		printf("\n");
	}
	close(stats);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 7;
	int ms = argc > 2 ? atoi(argv[2]) : 500;
	const char *part = argc > 3 ? argv[3] : NULL;
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	if (rounds < 1 || rounds > MAX_ROUNDS || ms < 10)
		return 2;
	spawn_pingpong(cpus - 1);
	pin(0);
	sleep_ms(200);
	for (int r = 0; r < rounds; r++) {
		for (size_t i = 0; i < CONFIGS; i++)
			run_config(&configs[i], ms, part);
	}
	print_results();
	print_program_costs();
	return 0;
}
