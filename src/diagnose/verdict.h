/* SPDX-License-Identifier: GPL-2.0-only */
/* The verdict: one class, how sure, why, what it could gain, what to do next. */
#ifndef TEGRATRACE_VERDICT_H
#define TEGRATRACE_VERDICT_H

#include <stdbool.h>
#include <sys/types.h>

#include "diagnose/roofline.h"
#include "session/session.h"

enum verdict_class {
	VERDICT_INSUFFICIENT_DATA,
	VERDICT_COMPUTE_BOUND,
	VERDICT_THERMAL_THROTTLED,
	VERDICT_POWER_THROTTLED,
	VERDICT_CLOCK_CAPPED,
	VERDICT_MEMORY_BANDWIDTH_BOUND,
	VERDICT_CPU_BOUND,
	VERDICT_CPU_STARVED,
	VERDICT_IO_BOUND,
	VERDICT_MEMORY_PRESSURE,
	VERDICT_LOCK_BOUND,
	VERDICT_LAUNCH_BOUND,
	VERDICT_INPUT_LIMITED,
	VERDICT_NO_GPU_USE,
	VERDICT_BALANCED,
	VERDICT_CLASSES,
};

/* "cpu-bound" and so on: verdict.class in the JSON. */
const char *verdict_class_name(enum verdict_class class);

#define VERDICT_EVIDENCE 12
#define VERDICT_STEPS	 6
#define VERDICT_THREADS	 8
#define VERDICT_RULES	 64

struct evidence {
	char text[200];	 /* a sentence with its numbers */
	char source[64]; /* "scheduler", "tegrastats", "/proc/stat", ... */
};

/* How one rule of the table came out; for --explain. */
struct rule_outcome {
	const char *name;
	const char *reason; /* why the threshold is what it is */
	double value;	    /* NAN: its input was unknown */
	double threshold;
	bool at_least; /* fires at value >= threshold; else at value < threshold */
	bool fired;
};

/* One phase of the run with its own class. Times from the window's begin; UNKNOWN_NS undated. */
struct phase_verdict {
	const char *name; /* "idle", "work", "gpu", "warm-up"; the headline's is "steady" */
	int64_t start_ns, end_ns;
	int64_t samples;
	double power_mw;     /* mean input power, the lag of its sensor corrected */
	double power_raw_mw; /* as printed */
	enum verdict_class class;
};

#define VERDICT_PHASES 24

/* One line of the checklist. */
enum check_result { CHECK_PASS, CHECK_FAIL, CHECK_UNKNOWN };

struct check {
	const char *name;
	enum check_result result;
	char text[200];
};

#define VERDICT_CHECKS 8

struct verdict {
	enum verdict_class class;
	double confidence; /* 0-1 */
	char raise[200];   /* what would raise the confidence; empty when nothing would */
	char headline[320];
	struct evidence evidence[VERDICT_EVIDENCE];
	int nevidence;
	double share;	     /* of the window that the limiting path takes; NAN unknown */
	double gain_bound;   /* speed-up if that vanished, Amdahl; NAN unknown */
	char gain_limit[64]; /* what would limit then: "the GPU"; empty unknown */
	char next_steps[VERDICT_STEPS][200];
	int nsteps;
	enum verdict_class contributing[VERDICT_CLASSES];
	int ncontributing;
	pid_t threads[VERDICT_THREADS]; /* tids of the limiting threads */
	int nthreads;
	struct rule_outcome rules[VERDICT_RULES];
	int nrules;
	struct phase_verdict phases[VERDICT_PHASES];
	bool has_roofline; /* false: the workload was not given */
	struct roofline_input roofline_input;
	struct roofline_point roofline_point;
	struct roofline_notes roofline_notes; /* wrong figures given, and the right ones */
	struct check checks[VERDICT_CHECKS];
	int nchecks;
	int nphases; /* 0 when the run was not told apart */
};

/* Pure: reads the session only. All text is sanitised. */
void diagnose(const struct session *session, struct verdict *verdict);

#endif
