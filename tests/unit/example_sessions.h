/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions built by hand: a usual one, an empty one, a big one, one under pressure and a hostile one. */
#ifndef TESTS_UNIT_EXAMPLE_SESSIONS_H
#define TESTS_UNIT_EXAMPLE_SESSIONS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "base/text.h"
#include "report/json/json.h"
#include "report/json/schema.h"
#include "report/text/text.h"
#include "session/session.h"

#define MS	INT64_C(1000000)
#define SECOND	INT64_C(1000000000)
#define HOSTILE "\033]0;x\007\xff\"<\n\xe2\x80\xae\xf0\x9f"

struct example {
	struct session session;
	struct verdict verdict;
};

static void set(struct sampled *s, double mean, double min, double max)
{
	*s = (struct sampled){.n = 10, .mean = mean, .min = min, .max = max, .last = mean};
}

static struct thread_account *add_thread(struct session *session, pid_t pid, pid_t tid,
					 const char *comm, int64_t oncpu_ns)
{
	struct thread_account *thread = session_add_thread(session);

	assert_non_null(thread);
	thread->pid = pid;
	thread->tid = tid;
	memcpy(thread->comm, comm, strnlen(comm, sizeof(thread->comm)));
	text_fold_name(thread->group, sizeof(thread->group), comm);
	thread->wall_ns = 10 * SECOND;
	thread->oncpu_ns = oncpu_ns;
	thread->runq_wake_ns = 150 * MS;
	thread->runq_preempt_ns = 50 * MS;
	thread->wait_ns[WAIT_DISK] = 100 * MS;
	thread->wait_ns[WAIT_OTHER] = 10 * SECOND - oncpu_ns - 300 * MS;
	thread->offcpu_ns = thread->wait_ns[WAIT_DISK] + thread->wait_ns[WAIT_OTHER];
	thread->switches_voluntary = 1200;
	thread->switches_involuntary = 340;
	thread->runq.count = 100;
	thread->runq.max_ns = 5 * MS;
	thread->runq.hist[3] = 98;
	thread->runq.hist[14] = 2;
	thread->schedstat_oncpu_ns = oncpu_ns - 3 * MS;
	thread->schedstat_runq_ns = 199 * MS;
	session->threads_seen++;
	return thread;
}

static void add_evidence(struct verdict *verdict, const char *text, const char *source)
{
	struct evidence *evidence = &verdict->evidence[verdict->nevidence++];

	snprintf(evidence->text, sizeof(evidence->text), "%s", text);
	snprintf(evidence->source, sizeof(evidence->source), "%s", source);
}

static void usual_tegra(struct tegra_summary *tegra)
{
	tegra->state = TEGRA_LIVE;
	strcpy(tegra->source, "tegrastats --interval 100");
	tegra->samples = 91;
	tegra->interval_ms = 109.4;
	set(&tegra->gpu_busy, 0.284, 0, 0.99);
	set(&tegra->gpu_clock_mhz, 306, 305, 918);
	set(&tegra->emc_busy, 0.07, 0.02, 0.11);
	set(&tegra->emc_clock_mhz, 2133, 2133, 2133);
	set(&tegra->ram_used_mb, 5210, 5200, 5222);
	tegra->ram_total_mb = 7620;
	set(&tegra->swap_used_mb, 0, 0, 0);
	tegra->swap_total_mb = 3810;
	set(&tegra->cpu_busy_max, 0.97, 0.9, 1);
	tegra->cpus_off = 0;
	strcpy(tegra->temps_c[0].name, "cpu");
	set(&tegra->temps_c[0].value, 49.2, 48, 50.5);
	strcpy(tegra->temps_c[1].name, "tj");
	set(&tegra->temps_c[1].value, 51.1, 50, 52.5);
	tegra->temps = 2;
	strcpy(tegra->power_mw[0].name, "VDD_IN");
	set(&tegra->power_mw[0].value, 6200, 5000, 8120);
	strcpy(tegra->power_mw[1].name, "NC");
	strcpy(tegra->power_mw[2].name, "NC");
	set(&tegra->power_mw[2].value, 40, 40, 80);
	tegra->rails = 3;
}

static void usual_verdict(struct verdict *verdict)
{
	static const struct rule_outcome rules[] = {
		{"gpu-idle", "a GPU under 70 % waits for something", 0.284, 0.7, false, true},
		{"busy-thread", "one thread that long is the critical path", 0.931, 0.8, true,
		 true},
		{"run-queue", "less is the scheduler's usual cost", 0.09, 0.1, true, false},
		{"emc-saturated", "DRAM queues grow from there", 0.07, 0.75, true, false},
		{"swap", "any traffic stalls", NAN, 0.01, true, false},
	};

	verdict->class = VERDICT_CPU_BOUND;
	verdict->confidence = 0.86;
	strcpy(verdict->headline,
	       "thread preproc-0 computes 93 % of the time, the GPU is busy 28 %");
	strcpy(verdict->raise, "tracing for 30 s or more");
	add_evidence(verdict, "preproc-0/1236: on-CPU 93 %, run queue 2 %, off-CPU 5 %",
		     "scheduler");
	add_evidence(verdict, "GPU busy 28 % at 306 MHz, mean of 91 samples", "tegrastats");
	verdict->share = 0.93;
	verdict->gain_bound = 14.3;
	strcpy(verdict->next_steps[0], "spread the work of preproc-N over more threads");
	strcpy(verdict->next_steps[1], "see what it computes: perf record -t 1236");
	verdict->nsteps = 2;
	verdict->contributing[0] = VERDICT_CPU_STARVED;
	verdict->ncontributing = 1;
	verdict->threads[0] = 1236;
	verdict->nthreads = 1;
	memcpy(verdict->rules, rules, sizeof(rules));
	verdict->nrules = sizeof(rules) / sizeof(rules[0]);
}

static struct block_row *add_block(struct session *session, const char *device, enum block_op op,
				   bool target)
{
	struct block_row *row = session_add_block(session);

	assert_non_null(row);
	snprintf(row->device, sizeof(row->device), "%s", device);
	row->op = op;
	row->target = target;
	session->block_known = true;
	return row;
}

/* 1000 reads of 128 KiB by preproc-0, 2 ms each in the device: of the others 50 writes of 8 ms. */
static void usual_block(struct session *session)
{
	struct block_row *reads = add_block(session, "nvme0n1", BLOCK_READ, true);
	struct block_row *writes;

	reads->count = 1000;
	reads->bytes = 1000 << 17;
	reads->device_lat = (struct block_delay){1000, 2000 * MS, 5 * MS, {[12] = 1000}};
	reads->queue = (struct block_delay){1000, 20 * MS, 60000, {[5] = 1000}};
	session->threads[1].io_reads = 990;
	session->threads[1].io_writes = 0;
	session->threads[1].io_read_bytes = 990 << 17;
	session->threads[1].io_write_bytes = 0;
	session->threads[2].io_read_bytes = 10 << 17;
	session->threads[2].io_write_bytes = 0;
	writes = add_block(session, "nvme0n1", BLOCK_WRITE, false);
	writes->count = 51;
	writes->bytes = 51 << 12;
	writes->device_lat = (struct block_delay){50, 400 * MS, 9 * MS, {[14] = 50}};
	session->losses.block_unfinished = 1;
	session->losses.block_unmatched = session->losses.block_dropped = 0;
}

static void usual(struct example *example)
{
	static const struct cpu_account cpus[] = {{0, 0.93, 0.012, 0, true},
						  {1, NAN, NAN, NAN, false}};
	struct session *session = &example->session;
	struct thread_account *folded;

	session->start_ns = 5 * SECOND;
	session->end_ns = 15 * SECOND;
	session->started_unix_ns = 1700000000 * SECOND;
	session->targets[0] = (struct target_info){.pid = 1234, .comm = "infer"};
	session->ntargets = 1;
	strcpy(session->host.kernel, "5.15.148-tegra");
	strcpy(session->host.arch, "aarch64");
	session->host.cpus = 6;
	strcpy(session->host.module, "NVIDIA Jetson Orin Nano Developer Kit");
	strcpy(session->host.power_mode, "15W");
	strcpy(session->capability.rung, "tracepoint");
	strcpy(session->capability.missing[0].what, "disk waits");
	strcpy(session->capability.missing[0].why, "this kernel has no BTF: give one with --btf");
	session->capability.nmissing = 1;
	add_thread(session, 1234, 1234, "infer", 1 * SECOND)->wait_ns[WAIT_DISK] = UNKNOWN_NS;
	session->threads[0].wait_ns[WAIT_OTHER] = session->threads[0].offcpu_ns;
	add_thread(session, 1234, 1236, "preproc-0", 9310 * MS);
	add_thread(session, 1234, 1237, "preproc-1", 690 * MS);
	folded = add_thread(session, 1234, 0, "loader-7", 100 * MS);
	folded->folded = 12;
	folded->exited = true;
	folded->minor_faults = UNKNOWN_COUNT;
	session->cpus = calloc(2, sizeof(*cpus));
	assert_non_null(session->cpus);
	memcpy(session->cpus, cpus, sizeof(cpus));
	session->ncpus = 2;
	usual_tegra(&session->tegra);
	session->overhead = (struct overhead){123456, 412.5, 0.0123, 9 << 20, 19000000};
	usual_verdict(&example->verdict);
}

static void empty(struct example *example)
{
	example->verdict.confidence = NAN;
	example->verdict.share = NAN;
	example->verdict.gain_bound = NAN;
}

/* 500 threads of 125 groups in 5 processes, much evidence, losses, tegrastats dead. */
static void big(struct example *example)
{
	struct session *session = &example->session;
	char comm[16];

	usual(example);
	for (int i = 0; i < 500; i++) {
		snprintf(comm, sizeof(comm), "pool%c%c-%d", 'a' + i % 25, 'a' + i % 5, i);
		add_thread(session, 2000 + i / 100, 3000 + i, comm, i * 10 * MS);
	}
	for (int i = 0; i < 10; i++)
		add_evidence(&example->verdict, "one more sentence of evidence, not a short one",
			     "/proc/stat");
	session->losses = (struct session_losses){
		.threads_untracked = 1,
		.gaps_switch_out = 2,
		.gaps_switch_in = 3,
		.wakes_without_waker = 4,
		.clamped = 5,
		.tegra_rejected = 6,
		.identity_violations = 7,
	};
	session->tegra.state = TEGRA_DIED;
	strcpy(session->tegra.note, "tegrastats ended after 4.2 s with exit status 1");
	session->ended_by = END_INTERRUPT;
	session->command_status = 9;
}

static void add_holder(struct session *session, pid_t waiter, enum holder_kind kind, pid_t pid,
		       const char *name, int64_t ms, double share)
{
	struct cpu_holder *row = &session->cpu_holders[session->ncpu_holders++];

	row->pid = 1234;
	row->tid = waiter;
	strcpy(row->group, "preproc-N");
	row->kind = kind;
	row->holder_pid = pid;
	row->holder_tid = pid ? pid + (pid_t)session->ncpu_holders : 0;
	snprintf(row->name, sizeof(row->name), "%s", name);
	if (kind == HOLDER_PROCESS)
		strcpy(row->process, "foreign_hog");
	row->policy = row->rt_priority = -1;
	row->ns = ms * MS;
	row->count = 10;
	row->waited_ns = (int64_t)((double)row->ns / share);
	row->share = share;
}

/* A quota that was used up, two waiters, swap-in; 10 s. */
static void usual_system(struct session *session)
{
	struct pressure *pressure = &session->pressure;

	pressure->measured = true;
	pressure->nquotas = 2;
	pressure->quotas[0] = (struct cpu_quota){"/docker/0123", 2, 1234, 1.5, 100, 63, 4100 * MS};
	pressure->quotas[1] = (struct cpu_quota){"/docker", 2, 1234, 4, 1000, 10, 100 * MS};
	pressure->nlimits = 1;
	pressure->limits[0] = (struct memory_limit){
		"/docker/0123", 2, 1234, 512 << 20, 511 << 20, 33, 0, {UNKNOWN_NS, UNKNOWN_NS}};
	pressure->vm[VM_SWAPPED_IN_BYTES] = 120 << 20;
	pressure->vm[VM_ALLOCATION_STALLS] = 7;
	pressure->nswaps = 2;
	pressure->swaps[0] = (struct swap_device){"/dev/zram0", SWAP_ZRAM, 1 << 30, 1 << 20};
	pressure->swaps[1] = (struct swap_device){"/swapfile", SWAP_FILE, 1 << 30, 0};
	pressure->stalls[STALL_MEMORY] = (struct stall){1200 * MS, 0};
	session->top_processes[0] = (struct top_process){77, "foreign_hog", 0.875};
	session->ntop_processes = 1;
	session->cpu_holders = calloc(8, sizeof(*session->cpu_holders));
	assert_non_null(session->cpu_holders);
	session->cpu_holders_measured = true;
	add_holder(session, 1236, HOLDER_PROCESS, 77, "worker", 400, 0.4);
	add_holder(session, 1236, HOLDER_PROCESS, 77, "worker", 310, 0.31);
	add_holder(session, 1236, HOLDER_KERNEL, 37, "irq/37-host1x", 170, 0.17);
	session->cpu_holders[2].rt_priority = 50;
	add_holder(session, 1236, HOLDER_OWN, 1234, "infer", 118, 0.118);
	add_holder(session, 1236, HOLDER_IDLE, 0, "idle", 2, 0.002);
	add_holder(session, 1237, HOLDER_IDLE, 0, "idle", 300, 1);
}

/* Fills a field to its end: no shorter text is the longest line; the cut is inside a character. */
static void fill(char *field, size_t size, const char *with)
{
	for (size_t i = 0; i < size - 1; i++)
		field[i] = with[i % strlen(with)];
	field[size - 1] = 0;
}

#define FILL(field, with) fill(field, sizeof(field), with)

static void hostile_verdict(struct verdict *verdict)
{
	FILL(verdict->headline, HOSTILE);
	FILL(verdict->raise, "unbroken-");
	for (int i = 0; i < VERDICT_EVIDENCE; i++) {
		FILL(verdict->evidence[i].text, i % 2 ? HOSTILE : "\xe6\xbc\xa2\xe5\xad\x97 ");
		FILL(verdict->evidence[i].source, HOSTILE);
	}
	verdict->nevidence = VERDICT_EVIDENCE;
	for (int i = 0; i < VERDICT_STEPS; i++)
		FILL(verdict->next_steps[i], HOSTILE);
	verdict->nsteps = VERDICT_STEPS;
	for (int i = 0; i < VERDICT_CLASSES; i++)
		verdict->contributing[i] = (enum verdict_class)i;
	verdict->ncontributing = VERDICT_CLASSES;
	verdict->share = 1;
	verdict->gain_bound = INFINITY;
	verdict->confidence = 1;
}

static void hostile_tegra(struct tegra_summary *tegra)
{
	FILL(tegra->source, HOSTILE);
	FILL(tegra->note, HOSTILE);
	tegra->state = TEGRA_GARBAGE;
	tegra->samples = INT64_MAX;
	for (int i = 0; i < SESSION_SENSORS; i++) {
		FILL(tegra->temps_c[i].name, HOSTILE);
		FILL(tegra->power_mw[i].name, HOSTILE);
		set(&tegra->temps_c[i].value, 1e300, -1e300, 1e308);
		set(&tegra->power_mw[i].value, -4e4, -INFINITY, NAN);
	}
	tegra->temps = tegra->rails = SESSION_SENSORS;
	set(&tegra->gpu_clock_mhz, 1e300, 1e300, 1e300);
}

static void hostile_system(struct session *session)
{
	struct pressure *pressure = &session->pressure;

	usual_system(session);
	for (size_t i = 0; i < session->ncpu_holders; i++) {
		FILL(session->cpu_holders[i].name, HOSTILE);
		FILL(session->cpu_holders[i].process, HOSTILE);
		FILL(session->cpu_holders[i].group, HOSTILE);
		session->cpu_holders[i].ns = INT64_MAX;
		session->cpu_holders[i].policy = INT32_MAX;
	}
	for (int i = 0; i < VM_EVENTS; i++)
		pressure->vm[i] = INT64_MAX;
	FILL(pressure->swaps[0].name, HOSTILE);
	FILL(pressure->quotas[0].cgroup, HOSTILE);
	pressure->quotas[0].throttled_ns = INT64_MAX;
	FILL(pressure->limits[0].cgroup, HOSTILE);
	FILL(session->top_processes[0].comm, HOSTILE);
}

static void hostile(struct example *example)
{
	struct session *session = &example->session;

	for (int i = 0; i < 20; i++) {
		struct thread_account *thread = session_add_thread(session);

		assert_non_null(thread);
		thread->pid = INT32_MAX - i;
		thread->tid = INT32_MAX - i;
		memcpy(thread->comm, HOSTILE, sizeof(thread->comm));
		memset(thread->group, i % 2 ? 0xf0 : 0x1b, sizeof(thread->group));
		thread->oncpu_ns = thread->unknown_ns = INT64_MAX;
		thread->offcpu_ns = UNKNOWN_NS;
		thread->wall_ns = i % 2 ? 1 : INT64_MAX;
		thread->runq.count = thread->runq.max_ns = INT64_MAX;
		memset(thread->runq.hist, 0xff, sizeof(thread->runq.hist));
		thread->folded = i % 3 ? 1 : UINT32_MAX;
	}
	session->start_ns = 0;
	session->end_ns = INT64_MAX;
	session->ntargets = 70;
	for (int i = 0; i < SESSION_TARGETS; i++)
		memset(session->targets[i].comm, 0x80 + i, sizeof(session->targets[i].comm));
	FILL(session->host.kernel, HOSTILE);
	FILL(session->host.arch, HOSTILE);
	FILL(session->host.module, HOSTILE);
	FILL(session->host.power_mode, HOSTILE);
	strcpy(session->capability.rung, "btf");
	for (int i = 0; i < SESSION_MISSING; i++) {
		FILL(session->capability.missing[i].what, HOSTILE);
		FILL(session->capability.missing[i].why, HOSTILE);
	}
	session->capability.nmissing = SESSION_MISSING;
	memset(&session->losses, 0x7f, sizeof(session->losses));
	for (int i = 0; i < 3; i++) {
		struct block_row *row = add_block(session, "", (enum block_op)i, i % 2);

		FILL(row->device, HOSTILE);
		row->count = row->bytes = row->queue.count = INT64_MAX;
		row->queue.max_ns = row->device_lat.sum_ns = INT64_MAX;
		memset(row->queue.hist, 0xff, sizeof(row->queue.hist));
	}
	hostile_tegra(&session->tegra);
	hostile_system(session);
	hostile_verdict(&example->verdict);
}

static void pressed(struct example *example)
{
	big(example);
	usual_system(&example->session);
}

static const struct {
	const char *name;
	void (*build)(struct example *);
} examples[] = {{"usual", usual},
		{"empty", empty},
		{"big", big},
		{"pressed", pressed},
		{"hostile", hostile}};

#define EXAMPLES (sizeof(examples) / sizeof(examples[0]))

static void start(struct example *example, void (*build)(struct example *))
{
	session_init(&example->session);
	memset(&example->verdict, 0, sizeof(example->verdict));
	build(example);
}

#endif
