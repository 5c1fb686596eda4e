/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text and JSON of sessions built by hand: a usual one, an empty one, a big one and a hostile one.
 * With TEGRATRACE_EXAMPLES set, the JSON of each is also written into that folder, for a check
 * against the schema.
 */
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
#include "report/json.h"
#include "report/schema.h"
#include "report/text.h"
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

/* The text report; free it. */
static char *text_of(const struct example *example, bool verbose, bool explain)
{
	const struct report_text_options options = {.verbose = verbose, .explain = explain};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(report_text_write(out, &example->session, &example->verdict, &options), 0);
	fclose(out);
	assert_int_equal(strlen(text), size);
	return text;
}

static json_t *json_of(const struct example *example)
{
	char *text = NULL;
	json_error_t error;
	json_t *json;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(report_json_write(out, &example->session, &example->verdict), 0);
	fclose(out);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		fail_msg("%s at %d", error.text, error.position);
	/* one line: nothing may end it early */
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	free(text);
	return json;
}

/* Valid UTF-8 without a control character; returns the lines and the widest one's columns. */
static size_t count_lines(const char *text, size_t *columns)
{
	size_t n = mbstowcs(NULL, text, 0), lines = 0, width = 0;
	wchar_t *wide = calloc(n + 1, sizeof(*wide));

	assert_true(n != (size_t)-1);
	assert_non_null(wide);
	mbstowcs(wide, text, n + 1);
	*columns = 0;
	for (size_t i = 0; i < n; i++) {
		if (wide[i] == L'\n') {
			lines++;
			width = 0;
			continue;
		}
		assert_false(iswcntrl((wint_t)wide[i]));
		assert_true(wide[i] != 0x202e);
		if (++width > *columns)
			*columns = width;
	}
	assert_true(n > 0 && wide[n - 1] == L'\n');
	free(wide);
	return lines;
}

static void text_fits_a_bug_report(void **state)
{
	(void)state;
	for (size_t i = 0; i < EXAMPLES; i++) {
		struct example example;
		size_t lines, columns;
		char *text;

		start(&example, examples[i].build);
		text = text_of(&example, false, false);
		lines = count_lines(text, &columns);
		if (lines > 25 || columns > 100)
			fail_msg("%s: %zu lines, %zu columns:\n%s", examples[i].name, lines,
				 columns, text);
		free(text);
		session_free(&example.session);
	}
}

static void verbose_text_is_clean(void **state)
{
	(void)state;
	for (size_t i = 0; i < EXAMPLES; i++) {
		struct example example;
		size_t columns;
		char *text;

		start(&example, examples[i].build);
		text = text_of(&example, true, true);
		count_lines(text, &columns);
		free(text);
		session_free(&example.session);
	}
}

static void assert_found(const char *text, const char *part, bool wanted)
{
	if ((strstr(text, part) != NULL) == wanted)
		return;
	fputs(text, stderr);
	fail_msg("%s in the text above: \"%s\"", wanted ? "not" : "is", part);
}

static void assert_in(const char *text, const char *part)
{
	assert_found(text, part, true);
}

static void assert_not_in(const char *text, const char *part)
{
	assert_found(text, part, false);
}

static void text_has_the_numbers(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, usual);
	text = text_of(&example, false, false);
	assert_int_equal(strncmp(text, "cpu-bound (confidence 0.86): thread preproc-0", 45), 0);
	assert_in(text, "off-CPU 5 %  [scheduler]\n");
	assert_in(text, "takes 93 %; without it at most 14.3x as fast\n");
	assert_in(text, "surer     tracing for 30 s or more\n");
	/* (9.31 + 0.69) / 20 s on a CPU; (0.2 + 0.2) / 20 in a queue; the p99 is in bucket 14:
	 * half of [4.19 ms, 8.39 ms) is above the maximum of 5 ms */
	assert_in(text, "infer/1234 preproc-N                       2     50.0    2.0      48.0 "
			"    5.0 ms    other: 47.0\n");
	assert_in(text, "infer/1234 loader-N                       12      1.0    2.0      97.0 ");
	assert_in(text, "board     GPU 28 % at 306 MHz, EMC 7 % at 2133 MHz, tj up to 52.5 C, "
			"VDD_IN 6.2 W (max 8.1),");
	assert_in(text, "next      spread the work of preproc-N over more threads; see what");
	assert_in(text, "measured  10.0 s; 4 threads, rung tracepoint (1 thing missing: -v)");
	assert_not_in(text, "losses");
	assert_not_in(text, "swap");
	free(text);
	session_free(&example.session);
}

static void text_names_the_disk(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, usual);
	usual_block(&example.session);
	text = text_of(&example, false, false);
	/* half of bucket 12, [1.05 ms, 2.10 ms), and of bucket 5, [8.2 us, 16.4 us) */
	assert_in(text, "disk      nvme0n1 read 1000 x 128 KiB, queue 12.3 us/16.3 us, "
			"device 1.6 ms/2.1 ms,\n            by preproc-0 (99 %)\n");
	assert_not_in(text, "write");
	assert_in(text, "losses    block requests not seen to complete: 1\n");
	free(text);

	/* 2.5 s of the others in 10: they are in the way */
	example.session.block[1].device_lat.sum_ns = 2500 * MS;
	text = text_of(&example, false, false);
	assert_in(text, "nvme0n1, others: write 51 x 4.0 KiB, device ");
	free(text);

	text = text_of(&example, true, false);
	assert_in(text, "  nvme0n1      read    target      1000    125 MiB   20.0 us   12.3 us   "
			"16.3 us   60.0 us    2.0 ms    1.6 ms    2.1 ms    5.0 ms\n");
	assert_in(text, "  nvme0n1      write   other         51    204 KiB         -         - ");
	free(text);

	/* 0.1 s of requests in 10: no matter */
	example.session.block[0].queue.sum_ns = 0;
	example.session.block[0].device_lat.sum_ns = example.session.block[1].device_lat.sum_ns =
		100 * MS;
	text = text_of(&example, false, false);
	assert_not_in(text, "disk ");
	free(text);
	session_free(&example.session);
}

static void text_names_what_was_short(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, usual);
	usual_system(&example.session);
	text = text_of(&example, true, false);
	assert_in(text,
		  "quota     cgroup /docker/0123 may use 1.50 CPUs: its threads were held back in "
		  "63 % of its\n            periods, 4.10 s in all (CPUs added up)\n");
	assert_in(text,
		  "CPU held  by foreign_hog (PID 77) 71 %, irq/37-host1x (real-time priority 50) "
		  "17 %,\n            its own infer 12 % while preproc-0/1236 waited 1.00 s for "
		  "one\n");
	assert_in(text, "by nobody 100 % while preproc-1/1237 waited 300 ms for one\n");
	assert_in(text, "memory    120 MiB swapped in (zram: costs CPU time, no disk time), 7 "
			"allocations had to reclaim\n");
	assert_in(text, "cgroup /docker/0123 was at its limit of 512 MiB 33 times;");
	assert_in(text, "something waited for memory 12 % of the time\n");
	assert_in(text, "others    foreign_hog/77 87.5 %\n");
	assert_in(text, "stalled   cpu unknown (all tasks: unknown), memory 12 % (all tasks: 0 %)");
	free(text);

	/* one waiter, no quota that hardly held anything back */
	text = text_of(&example, false, false);
	assert_in(text, "/docker/0123");
	assert_not_in(text, "cgroup /docker may");
	assert_not_in(text, "preproc-1/1237 waited");
	free(text);

	/* 0.4 s in 10, a quota used up in 1 % of its periods: no matter */
	example.session.pressure.quotas[0].throttled_periods = 1;
	example.session.ncpu_holders = 1;
	example.session.cpu_holders[0].waited_ns = 400 * MS;
	memset(example.session.pressure.vm, 0, sizeof(example.session.pressure.vm));
	example.session.pressure.nlimits = 0;
	text = text_of(&example, false, false);
	assert_not_in(text, "quota");
	assert_not_in(text, "CPU held");
	assert_not_in(text, "memory");
	free(text);
	session_free(&example.session);
}

static void text_says_what_is_unknown(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, empty);
	text = text_of(&example, false, false);
	assert_in(text, "(confidence ?)");
	assert_in(text, "gain      unknown: no limiting path");
	assert_in(text, "threads   not measured");
	assert_in(text, "board     no tegrastats: GPU, EMC, temperature and power are unknown");
	free(text);

	strcpy(example.session.capability.rung, "btf");
	example.session.tegra.state = TEGRA_LIVE;
	example.session.tegra.samples = 3;
	text = text_of(&example, false, false);
	assert_in(text, "threads   none was seen");
	assert_in(text, "board     GPU unknown, EMC unknown, temperature unknown, power unknown\n");
	free(text);
	session_free(&example.session);
}

static void text_counts_losses_and_the_rest(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, big);
	text = text_of(&example, false, false);
	assert_in(text,
		  "losses    threads whose times do not add up (a bug: please report it): 7,");
	assert_in(text, " more (-v)\n");
	assert_in(text, " more with ");
	assert_in(text, "tegrastats ended after 4.2 s with exit status 1");
	assert_in(text, "10.0 s (interrupted); the command was killed by signal 9; 504 threads,");
	free(text);
	session_free(&example.session);
}

static void verbose_shows_every_thread(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, usual);
	text = text_of(&example, true, false);
	assert_in(text, "identity: on + run-queue + off + stopped + unknown == wall for 15 of 15 "
			"threads\n");
	assert_in(text, "  1236 preproc-0                    10.0 s     9.31 s     150 ms    "
			"50.0 ms     490 ms       0 ns       0 ns\n");
	assert_in(text, "  1234 infer                        10.0 s     1.00 s     150 ms    "
			"50.0 ms     8.80 s       0 ns       0 ns\n");
	assert_in(text, " - loader-N x12 ended ");
	assert_in(text, "missing   disk waits: this kernel has no BTF: give one with --btf\n");
	assert_in(text, "CPU busy  0: 93 % (irq 1 %), 1: off\n");
	assert_in(text, "412 ns per context switch, 1.23 % of one CPU");
	assert_in(text, "peak memory 9.0 MiB");
	free(text);

	example.session.threads[1].oncpu_ns++;
	text = text_of(&example, true, false);
	assert_in(text, "== wall for 14 of 15 threads\n");
	free(text);
	session_free(&example.session);
}

static void explain_shows_fired_and_near(void **state)
{
	struct example example;
	char *text;

	(void)state;
	start(&example, usual);
	text = text_of(&example, false, true);
	assert_in(text, "fired     gpu-idle: 0.284 < 0.7; a GPU under 70 % waits for something\n");
	assert_in(text, "fired     busy-thread: 0.931 >= 0.8; ");
	assert_in(text, "nearly    run-queue: 0.09 < 0.1; ");
	assert_in(text, "no input  swap\n");
	assert_not_in(text, "emc-saturated");
	free(text);
	session_free(&example.session);
}

static void only_color_has_escapes(void **state)
{
	const struct report_text_options options = {.color = true};
	struct example example;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	start(&example, usual);
	assert_int_equal(report_text_write(out, &example.session, &example.verdict, &options), 0);
	fclose(out);
	assert_int_equal(strncmp(text, "\033[1mcpu-bound (confidence 0.86)\033[0m: thread", 42), 0);
	assert_null(strchr(strchr(text, '\n'), '\033'));
	free(text);
	session_free(&example.session);
}

static int64_t integer_at(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static void assert_null_at(const json_t *object, const char *key)
{
	assert_true(json_is_null(json_object_get(object, key)));
}

static void json_has_the_numbers(void **state)
{
	struct example example;
	json_t *json, *thread, *tegra, *runq, *part;

	(void)state;
	start(&example, usual);
	json = json_of(&example);
	assert_string_equal(json_string_value(json_object_get(json, "schema")), "tegratrace/1");
	assert_int_equal(integer_at(json_object_get(json, "window"), "duration_ns"), 10 * SECOND);
	assert_int_equal(json_array_size(json_object_get(json, "edges")), 0);
	assert_null_at(json, "command_exit");
	assert_int_equal(json_array_size(json_object_get(json, "threads")), 4);

	thread = json_array_get(json_object_get(json, "threads"), 1);
	assert_int_equal(integer_at(thread, "tid"), 1236);
	assert_int_equal(integer_at(thread, "oncpu_ns"), 9310 * MS);
	assert_int_equal(integer_at(thread, "identity_error_ns"), 0);
	assert_int_equal(integer_at(json_object_get(thread, "wait"), "disk"), 100 * MS);
	assert_null_at(thread, "gpu_spin_ns");
	runq = json_object_get(thread, "runq");
	/* bucket 3 is [2048, 4096): 2048 + 2048 * 50 / 98 */
	assert_int_equal(integer_at(runq, "p50_ns"), 3093);
	assert_int_equal(integer_at(runq, "p99_ns"), 5 * MS);
	assert_int_equal(json_array_size(json_object_get(runq, "hist")), SESSION_HIST_BUCKETS);
	assert_null_at(json_array_get(json_object_get(json, "threads"), 3), "tid");
	part = json_object_get(json_array_get(json_object_get(json, "threads"), 0), "wait");
	assert_null_at(part, "disk");

	tegra = json_object_get(json, "tegra");
	part = json_object_get(tegra, "gpu");
	assert_true(json_real_value(json_object_get(part, "busy")) == 0.284);
	assert_null_at(part, "cap_mhz");
	part = json_object_get(tegra, "power");
	assert_int_equal(json_object_size(part), 3);
	assert_null_at(json_object_get(part, "NC"), "mean");
	assert_true(json_real_value(json_object_get(json_object_get(part, "NC #2"), "max")) == 80);
	json_decref(json);
	session_free(&example.session);
}

static void json_has_the_block_devices(void **state)
{
	struct example example;
	json_t *json, *row, *part;

	(void)state;
	start(&example, usual);
	json = json_of(&example);
	assert_null_at(json, "block");
	assert_null_at(json_object_get(json, "losses"), "block_unfinished");
	part = json_object_get(json_array_get(json_object_get(json, "threads"), 0), "io");
	assert_null_at(part, "reads");
	json_decref(json);

	usual_block(&example.session);
	json = json_of(&example);
	assert_int_equal(json_array_size(json_object_get(json, "block")), 2);
	row = json_array_get(json_object_get(json, "block"), 1);
	assert_string_equal(json_string_value(json_object_get(row, "device")), "nvme0n1");
	assert_string_equal(json_string_value(json_object_get(row, "op")), "write");
	assert_string_equal(json_string_value(json_object_get(row, "submitter")), "other");
	assert_int_equal(integer_at(row, "count"), 51);
	part = json_object_get(row, "device_lat");
	assert_int_equal(integer_at(part, "count"), 50);
	assert_int_equal(integer_at(part, "mean_ns"), 8 * MS);
	part = json_object_get(row, "queue");
	assert_int_equal(integer_at(part, "count"), 0);
	assert_null_at(part, "mean_ns");
	assert_null_at(part, "p99_ns");
	assert_null_at(part, "max_ns");
	part = json_object_get(json_array_get(json_object_get(json, "threads"), 1), "io");
	assert_int_equal(integer_at(part, "reads"), 990);
	assert_int_equal(integer_at(part, "read_bytes"), 990 << 17);
	assert_int_equal(integer_at(json_object_get(json, "losses"), "block_unfinished"), 1);
	json_decref(json);
	session_free(&example.session);
}

/* Every key of the schema is in the value; a null has none. */
static void assert_keys(const json_t *schema, const json_t *value)
{
	json_t *property, *required = json_object_get(schema, "required");
	const char *key;
	size_t i;

	if (!json_is_object(value))
		return;
	json_array_foreach(required, i, property)
	{
		if (!json_object_get(value, json_string_value(property)))
			fail_msg("no key %s", json_string_value(property));
	}
	if (required)
		assert_int_equal(json_object_size(value), json_array_size(required));
	json_object_foreach(json_object_get(schema, "properties"), key, property)
		assert_keys(property, json_object_get(value, key));
}

static void json_has_every_key_of_the_schema(void **state)
{
	json_t *schema = json_loads(report_schema(), JSON_REJECT_DUPLICATES, NULL);
	json_t *thread_schema, *thread, *json;

	(void)state;
	assert_non_null(schema);
	thread_schema = json_object_get(json_object_get(schema, "$defs"), "thread");
	assert_non_null(thread_schema);
	for (size_t i = 0; i < EXAMPLES; i++) {
		struct example example;
		size_t at;

		start(&example, examples[i].build);
		json = json_of(&example);
		assert_keys(schema, json);
		json_array_foreach(json_object_get(json, "threads"), at, thread)
			assert_keys(thread_schema, thread);
		json_decref(json);
		session_free(&example.session);
	}
	json_decref(schema);
}

static int allocations_left;

static void *failing_malloc(size_t size)
{
	return allocations_left-- > 0 ? malloc(size) : NULL;
}

static void json_survives_any_failed_allocation(void **state)
{
	struct example example;
	json_t *json = NULL;
	int n;

	(void)state;
	start(&example, usual);
	json_set_alloc_funcs(failing_malloc, free);
	for (n = 0; !json && n < 100000; n++) {
		allocations_left = n;
		json = report_json(&example.session, &example.verdict);
	}
	assert_non_null(json);
	assert_true(n > 500);
	json_decref(json);
	allocations_left = n / 2;
	assert_int_equal(report_json_write(stderr, &example.session, &example.verdict), -ENOMEM);
	json_set_alloc_funcs(malloc, free);
	session_free(&example.session);
}

static void write_examples(void **state)
{
	const char *folder = getenv("TEGRATRACE_EXAMPLES");

	(void)state;
	if (!folder)
		skip();
	for (size_t i = 0; i < EXAMPLES; i++) {
		struct example example;
		char path[4096];
		FILE *out;

		snprintf(path, sizeof(path), "%s/%s.json", folder, examples[i].name);
		out = fopen(path, "w");
		assert_non_null(out);
		start(&example, examples[i].build);
		assert_int_equal(report_json_write(out, &example.session, &example.verdict), 0);
		assert_int_equal(fclose(out), 0);
		session_free(&example.session);
	}
}

static void assert_write_fails(const struct example *example, FILE *out, int error)
{
	const struct report_text_options options = {.verbose = true};

	assert_int_equal(report_json_write(out, &example->session, &example->verdict), error);
	clearerr(out);
	assert_int_equal(report_text_write(out, &example->session, &example->verdict, &options),
			 error);
}

static void write_errors_are_returned(void **state)
{
	struct example example;
	FILE *full = fopen("/dev/full", "w"), *closed;
	int ends[2];

	(void)state;
	assert_non_null(full);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	closed = fdopen(ends[1], "w");
	assert_non_null(closed);
	for (size_t i = 0; i < EXAMPLES; i++) {
		start(&example, examples[i].build);
		assert_write_fails(&example, full, -ENOSPC);
		assert_write_fails(&example, closed, -EPIPE);
		session_free(&example.session);
	}
	fclose(full);
	fclose(closed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_fits_a_bug_report),
		cmocka_unit_test(verbose_text_is_clean),
		cmocka_unit_test(text_has_the_numbers),
		cmocka_unit_test(text_names_the_disk),
		cmocka_unit_test(text_names_what_was_short),
		cmocka_unit_test(text_says_what_is_unknown),
		cmocka_unit_test(text_counts_losses_and_the_rest),
		cmocka_unit_test(verbose_shows_every_thread),
		cmocka_unit_test(explain_shows_fired_and_near),
		cmocka_unit_test(only_color_has_escapes),
		cmocka_unit_test(json_has_the_numbers),
		cmocka_unit_test(json_has_the_block_devices),
		cmocka_unit_test(json_has_every_key_of_the_schema),
		cmocka_unit_test(json_survives_any_failed_allocation),
		cmocka_unit_test(write_examples),
		cmocka_unit_test(write_errors_are_returned),
	};

	signal(SIGPIPE, SIG_IGN);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
