/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one data model: what was measured in one window. Sources fill it, diagnosis reads it, the
 * writers read it and the verdict. Times are ns (CLOCK_MONOTONIC), clocks MHz, power mW,
 * temperatures C, shares 0-1. Unknown is UNKNOWN_NS / UNKNOWN_COUNT / NAN / an empty string,
 * never 0.
 */
#ifndef TEGRATRACE_SESSION_H
#define TEGRATRACE_SESSION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/block_io.h"
#include "session/board_info.h"
#include "session/cpu_holders.h"
#include "session/pressure.h"
#include "session/faults.h"
#include "session/host_series.h"
#include "session/oncpu.h"
#include "session/cuda.h"
#include "session/timeline.h"
#include "session/waits.h"

#define UNKNOWN_NS    INT64_MIN
#define UNKNOWN_COUNT INT64_MIN

#define SESSION_HIST_BUCKETS 28 /* bucket 0 is < 512 ns, bucket i is [256 << i, 512 << i) ns */

struct runq_delay {
	int64_t count; /* delays that began and ended inside the window */
	int64_t max_ns;
	uint32_t hist[SESSION_HIST_BUCKETS];
};

/*
 * Quantile q (0-1) of the delays in ns, interpolated inside its log2 bucket and never above max;
 * UNKNOWN_NS without a delay.
 */
int64_t runq_quantile_ns(const struct runq_delay *runq, double q);

/*
 * The account of one thread, or of several exited threads of one process and group folded into a
 * row (folded > 1, tid 0). Identity: oncpu + runq_wake + runq_preempt + offcpu + stopped + unknown
 * == wall, to the nanosecond; offcpu is the sum of the known wait classes.
 */
struct thread_account {
	pid_t pid;
	pid_t tid;
	uint32_t folded; /* threads in this row; 1 for a single thread */
	bool exited;
	char comm[16];	/* raw bytes from the kernel: hostile, sanitise before printing */
	char group[32]; /* name folded and sanitised: "preproc-N" */

	int64_t wall_ns;
	int64_t oncpu_ns;
	int64_t gpu_spin_ns; /* part of oncpu_ns */
	int64_t runq_wake_ns;
	int64_t runq_preempt_ns;
	int64_t offcpu_ns;
	int64_t stopped_ns;
	int64_t unknown_ns;
	int64_t wait_ns[WAIT_CLASSES];

	int64_t switches_voluntary;
	int64_t switches_involuntary;
	struct runq_delay runq;

	/* From /proc; of a thread that exited, what the fault probe counted, else unknown. */
	int64_t minor_faults;
	int64_t major_faults;
	struct oncpu_samples oncpu_samples;
	int64_t schedstat_oncpu_ns; /* the kernel's own books over the window; same caveat */
	int64_t schedstat_runq_ns;

	/* Its requests to block devices; asynchronous ones may overlap in time. */
	int64_t io_reads, io_writes;
	int64_t io_read_bytes, io_write_bytes;
	int64_t io_queue_ns, io_device_ns;
	struct cuda_account cuda;

	int64_t gaps; /* events that did not fit the state held; the sums stay exact */
};

/* A thread group: every row of one process whose folded name is equal. */
struct thread_group {
	pid_t pid;
	char name[32];
	int64_t threads;
	struct thread_account sum; /* times and counts added up, runq merged */
	int64_t busiest_ns;	   /* on-CPU of its busiest single thread */
	pid_t busiest_tid;	   /* 0 when only folded rows */
};

struct cpu_account {
	int id;
	double busy; /* share of the window not idle and not iowait */
	double irq;  /* share in hard and soft interrupts */
	double steal;
	bool online;
};

/* A sampled quantity; n == 0 is unknown and then the rest is NAN. */
struct sampled {
	int64_t n;
	double mean, min, max, last;
};

#define SESSION_NAME_LEN 24
#define SESSION_SENSORS	 32

struct named_sampled {
	char name[SESSION_NAME_LEN]; /* as tegrastats printed it, sanitised */
	struct sampled value;
};

enum tegra_state {
	TEGRA_NONE,	/* no source given and none found */
	TEGRA_LIVE,	/* lines came to the end */
	TEGRA_DIED,	/* ended on its own before the window did */
	TEGRA_SILENT,	/* runs, but printed nothing for several intervals */
	TEGRA_GARBAGE,	/* printed, but no line was a record */
	TEGRA_RECORDED, /* an old log: its samples are not of this window */
	TEGRA_LOG	/* a log is what is judged */
};

/*
 * One sample, or the mean of several once a series has been thinned out. Shares 0-1; NAN unknown.
 */
struct tegra_point {
	int64_t t_ns; /* since the window's begin; UNKNOWN_NS in a log without dates */
	uint32_t run; /* of tegrastats: between two of them lies an unknown time */
	float gpu_busy, gpu_mhz;
	float emc_busy, emc_mhz;
	float core_max;	  /* load of the busiest core */
	float cores_used; /* loads of all cores added up: 1 = one core's worth */
	float ram_mb, swap_mb;
	float hottest_c;
	float power_mw; /* of the input rail, or the sum of the rails that make it up */
};

/* Points in order of time; when `limit` is reached neighbours are merged, so memory is bounded. */
struct tegra_series {
	struct tegra_point *points;
	size_t n;
	unsigned int merged; /* samples in one point */
	struct tegra_point pending;
	unsigned int pending_n;
};

#define SERIES_LIMIT 32768 /* points */

/* Returns 0 or -ENOMEM. */
int series_add(struct tegra_series *series, const struct tegra_point *point);

/* Makes a point of the samples that wait to be merged. Returns 0 or -ENOMEM. */
int series_flush(struct tegra_series *series);
void series_free(struct tegra_series *series);

struct tegra_summary {
	enum tegra_state state;
	char source[128]; /* "tegrastats --interval 100", "log PATH": sanitised */
	char note[256];	  /* one sentence on what went wrong; empty when nothing did */
	int64_t samples;
	int64_t rejected;	 /* lines that were no record */
	int64_t left_aside;	 /* samples of other tegrastats in the same log */
	double interval_ms;	 /* mean time between samples; NAN with fewer than two */
	struct sampled gpu_busy; /* share 0-1 */
	struct sampled gpu_clock_mhz;
	struct sampled emc_busy; /* share 0-1 of the present EMC clock */
	struct sampled emc_clock_mhz;
	struct sampled ram_used_mb;
	double ram_total_mb;
	struct sampled swap_used_mb;
	double swap_total_mb;
	struct sampled cpu_busy_max; /* busiest online core of each line, share 0-1 */
	int cpus_off;		     /* cores printed "off" on the last line; -1 unknown */
	struct named_sampled temps_c[SESSION_SENSORS];
	int temps;
	struct named_sampled power_mw[SESSION_SENSORS];
	int rails;
};

struct host_info {
	char kernel[96];
	char arch[32];
	int cpus;	     /* online */
	int64_t page_bytes;  /* 0 unknown */
	char module[96];     /* device-tree model; empty = unknown */
	char power_mode[64]; /* empty = unknown */
};

struct missing_capability {
	char what[64];
	char why[192]; /* reason and, where there is one, the remedy */
};

#define SESSION_MISSING 16

struct capability {
	char rung[16]; /* "btf", "raw", "tracepoint", "perf", "proc" */
	struct missing_capability missing[SESSION_MISSING];
	int nmissing;
};

#define THROTTLE_OC 3

/* What held clocks back during the window, as the kernel counts it. */
struct throttle_summary {
	int64_t oc_events
		[THROTTLE_OC];	  /* over-current events OC1-OC3; what each means differs by SoC */
	int cooling_active;	  /* cooling devices bound to clocks that were active; -1 unknown */
	char cooling_name[32];	  /* one of them; empty without */
	int64_t cpu_measurements; /* of CPU clocks; 0: this board does not measure them */
	double cpu_clock_share;	  /* mean of measured / asked for, at most 1; NAN unknown */
	char cpu_slowest[16];	  /* with the lowest such mean: "cpu3" */
	double margin_c;	  /* of the zone nearest to its throttle trip; NAN unknown */
	double trip_c;
	char margin_zone[32];
};

/* Counted losses: 0 is a measured 0. */
struct session_losses {
	int64_t threads_untracked; /* born while every slot was taken or unseen, or beyond pid_max */
	int64_t gaps_switch_out;   /* switch-out of a thread that was not on a CPU */
	int64_t gaps_switch_in;	   /* on a CPU again without a wakeup */
	int64_t wakes_without_waker;
	int64_t edges_dropped;	  /* waits whose cause was not kept: the table was full */
	int64_t stacks_dropped;	  /* stacks that were due and not kept */
	int64_t holders_dropped;  /* run-queue delays whose cause was not kept */
	int64_t events_lost;	  /* scheduler events of any task that a full ring did not take */
	int64_t clamped;	  /* events older than the one before */
	int64_t block_unmatched;  /* requests completed whose issue was not seen; may be unknown */
	int64_t block_unfinished; /* issued, and not seen to complete for the rest of the window */
	int64_t block_dropped;	  /* requests or rows that a full or busy table did not take */
	int64_t samples_dropped;
	int64_t faults_dropped; /* faults whose mapping was not kept; they are counted */
	int64_t timeline_lost;	/* events not in the timeline; unknown without one */
	int64_t tegra_rejected;
	int64_t identity_violations; /* threads whose sums differ from wall; must be 0 */
};

struct overhead {
	int64_t events; /* program runs in the window, from a sample; or events that we handled */
	double ns_per_switch; /* mean run time of the switch program; NAN when unknown */
	double cpu_share;     /* of one CPU, all programs and tegratrace itself; not the kernel's
				 part of the rung perf */
	int64_t rss_bytes;    /* peak */
	int64_t attach_ns;    /* from the start of tegratrace to the window's begin */
};

/* Everything unknown, no samples. */
void tegra_summary_init(struct tegra_summary *summary);

enum end_reason { END_DURATION, END_INTERRUPT, END_TARGET_EXIT };

#define SESSION_TARGETS 64

struct target_info {
	pid_t pid;
	char comm[16]; /* raw bytes */
};

/* What the user says the inference computes; NAN and empty unknown. */
struct workload {
	double flop_per_item;
	double batch;
	double latency_s;	    /* of one batch */
	double items_per_s;	    /* when the latency is not known */
	double bytes_per_item;	    /* DRAM traffic; else it is taken from the EMC load */
	double peak_flops, peak_bw; /* ceilings of a board that no table knows */
	char precision[16];
	char model[32]; /* its name in the table of models; its work is in flop_per_item too */
};

void workload_init(struct workload *workload);

struct session {
	int64_t start_ns, end_ns; /* [start, end) */
	int64_t started_unix_ns;  /* wall clock at start, for people */
	enum end_reason ended_by;
	struct target_info targets[SESSION_TARGETS];
	int ntargets;	    /* may exceed SESSION_TARGETS; only that many are kept */
	int command_status; /* waitpid status of a started command; -1 = none or still running */
	struct host_info host;
	struct capability capability;
	struct thread_account *threads;
	size_t nthreads;
	struct wait_edge *edges; /* largest first */
	size_t nedges;
	struct wait_stack *stacks; /* largest first */
	size_t nstacks;
	struct wait_coverage waits;
	struct block_row *block; /* largest delay first */
	size_t nblock;
	bool block_known;	  /* false: not measured */
	struct oncpu_site *oncpu; /* most samples first */
	size_t noncpu;
	struct oncpu_stack *oncpu_stacks; /* likewise; only with whole user stacks */
	size_t noncpu_stacks;
	int oncpu_hz; /* samples a second of CPU time; 0 = none were taken */
	struct fault_summary faults;
	int64_t threads_seen; /* threads accounted, exited and folded ones included */
	struct cpu_account *cpus;
	size_t ncpus;
	struct cpu_holder *cpu_holders; /* by waiter, largest first; NULL: not measured, or none */
	size_t ncpu_holders;
	bool cpu_holders_measured;
	struct top_process top_processes[TOP_PROCESSES]; /* largest first */
	int ntop_processes;				 /* -1: not measured */
	struct pressure pressure;
	struct workload workload;
	struct tegra_summary tegra;
	struct tegra_series series;
	struct host_series host_series;
	struct board_info board; /* in a log, only what the lines give away */
	struct throttle_summary throttle;
	struct cuda_summary cuda;
	struct timeline timeline;
	bool board_guessed; /* from the lines of a log */
	struct session_losses losses;
	struct overhead overhead;
};

void session_init(struct session *session);
void session_free(struct session *session);

/* Length of the window; UNKNOWN_NS when it is empty, as in a session that is only a log. */
int64_t session_duration_ns(const struct session *session);

/*
 * The new account, valid until the next is added: the parts of the identity 0, what a source may
 * not know (GPU spin, wait classes, switches, faults, schedstat) unknown. NULL when out of memory.
 */
struct thread_account *session_add_thread(struct session *session);

/* Sum of the six parts of the identity minus wall: 0 on a sound account. */
int64_t thread_identity_error_ns(const struct thread_account *thread);

/* Add `from` to a row: times, counts and histogram; unknown swallows known. */
void thread_account_merge(struct thread_account *into, const struct thread_account *from);

/* Whether there is a timeline to add to; and more that it lacks, of a probe's own count. */
bool session_keeps_timeline(const struct session *session);
void session_add_timeline_lost(struct session *session, uint64_t events);

/* Zeroed but for `stack` = -1, valid until the next is added; NULL when out of memory. */
struct wait_edge *session_add_edge(struct session *session);
struct wait_stack *session_add_stack(struct session *session);

/* Zeroed, valid until the next is added; NULL when out of memory. */
struct block_row *session_add_block(struct session *session);

/*
 * The groups, largest on-CPU + run-queue time first. Returns a malloc'd array (free it) and its
 * length in *n; NULL with *n = 0 when there are none or out of memory.
 */
struct thread_group *session_groups(const struct session *session, size_t *n);

void sampled_init(struct sampled *s);
void sampled_add(struct sampled *s, double value);

#endif
