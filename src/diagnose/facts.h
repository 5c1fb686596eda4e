/* SPDX-License-Identifier: GPL-2.0-only */
/* The numbers that the rules look at, derived from a session. Unknown is NAN. */
#ifndef TEGRATRACE_FACTS_H
#define TEGRATRACE_FACTS_H

#include "diagnose/phases.h"
#include "diagnose/wait_path.h"
#include "session/session.h"

/* GR3D is one 16.7 ms reading a line: the mean of fewer samples of a live run says nothing. */
#define GPU_SAMPLES_MIN 10

struct facts {
	double window_s;
	int cpus;
	/*
	 * The critical thread: most time wanting a CPU (on-CPU + run queue) over the whole window;
	 * NULL without a thread. Shares are of the window.
	 */
	const struct thread_account *critical;
	double critical_oncpu, critical_runq;
	double critical_work;  /* critical_oncpu less spinning for the GPU, where that is known */
	double second_oncpu;   /* on-CPU share of the busiest other thread; 0 without one */
	double target_cpu;     /* on-CPU time of all threads, as a share of all online CPUs */
	double system_cpu;     /* busy share of all online CPUs */
	double activity;       /* of the target, its feeder's path or the GPU: the largest */
	double gpu_samples;    /* in the window; 0 without a source */
	double gpu_busy;       /* NAN with too few samples to speak of */
	double gpu_idle;       /* 1 - gpu_busy */
	double gpu_busy_error; /* half width of the mean's 95 % range */
	double emc_busy;
	double turns;	     /* critical_work + gpu_busy: 1 when they take turns without a gap */
	double cpu_over_gpu; /* critical_oncpu / gpu_busy */
	/* From the samples of one phase; the board's ceilings are a guess when read from a log. */
	double core_max;	/* mean load of the busiest core */
	double cores_used;	/* mean sum of the core loads: 1 = one core's worth */
	double gpu_work;	/* busy share x clock / largest clock: 1 = all the GPU could do */
	double gpu_mhz;		/* mean clock over points with load */
	double gpu_clock_share; /* mean clock / what the power mode allows */
	double mode_headroom;	/* what the hardware could do / what the power mode allows */
	double emc_clock_share, emc_headroom; /* the same of the memory clock */
	double clock_headroom; /* what the GPU could do at its largest clock with all SMs / now */
	double sm_share;       /* of the module's SMs: left on by the power mode */
	double hot_clock_loss; /* part of the clock lost while the hottest zone is at its trip */
	double hottest_c;
	double trip_c; /* software throttle point: of the zone; of a log's module, the highest */
	double lowest_trip_c; /* of a log's module */
	double power_mw;      /* input, the lag of the sensor corrected */
	double power_raw_mw;  /* as printed */
	double clock_spread;  /* (largest - smallest) / largest clock under full load */
	/* Of a live run with a GPU source; n is 0 when it was not told apart. */
	struct phases phases;
	double steady_differs; /* GPU busy share of the steady phase and of the window, apart */
	/* Events a window; NAN where the board does not count them. */
	double under_voltage, power_limit;
	double under_voltage_10s, power_limit_10s; /* per 10 s; of a shorter window, all */
	double event_clock_loss; /* part of the loaded GPU's clock lost, with such an event */
	double oc3_loss;	 /* share of the time lost to instantaneous over-current */
	double cpu_clock_loss;	 /* part of the CPU clock asked for that was not there */
	double cooling;		 /* clock-bound cooling devices active at the trip point */
	/* What the thread that feeds the GPU waits for in the end. */
	struct wait_path path;
	double path_cpu_over_gpu; /* its computing / its GPU waits */
	double launch_share;	  /* of the feeder's computing: inside the GPU's library */
	double gpu_unused;	  /* 1 - gpu_busy, while no thread waits for the GPU */
	double refault_share;	  /* of the pages read in: had been evicted a while before */
	double critical_unknown;  /* share of the critical thread's time that could not be told */
};

/* Everything unknown. */
void facts_init(struct facts *facts);

/* Of a run with threads: the whole window. */
void facts_gather(const struct session *session, struct facts *facts);

/* Of a log: its points [from, to). */
void facts_gather_log(const struct session *session, size_t from, size_t to, struct facts *facts);

#endif
