/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel says about held-back clocks during a window: over-current counters, cooling
 * devices bound to clocks, zones with their trip points, clocks with their caps. Facts only; the
 * judgement is made elsewhere. All paths lie below TEGRATRACE_ROOT when that is set.
 *
 * Unknown is UNKNOWN_COUNT / NAN, never 0.
 */
#ifndef TEGRATRACE_TEGRA_THROTTLE_H
#define TEGRATRACE_TEGRA_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "tegra/line.h"

#define THROTTLE_COUNTERS 4
#define THROTTLE_DEVICES  32
#define THROTTLE_ZONES	  32
#define THROTTLE_CLOCKS	  34 /* GPU, EMC, CPUs */
#define THROTTLE_RAILS	  8

/* The firmware publishes over-current counts in bursts this far apart: a window is that blurred. */
#define THROTTLE_OC_BLUR_NS INT64_C(2000000000)

/* ocN_event_cnt: N and what it stands for differ by SoC; counts since boot. */
struct throttle_counter {
	int id; /* N */
	int64_t begin, end;
	int64_t delta;	 /* unknown when the counter went back */
	int64_t enabled; /* ocN_throt_en: whether the event holds back clocks */
};

/* A cooling device that is bound to clocks; fans and surface notices are not listed. */
struct throttle_device {
	char type[TEGRA_NAME_SIZE]; /* "devfreq-17000000.gpu" */
	int64_t begin, end, max_seen;
	int64_t max_state;     /* the strongest it has */
	int64_t polls, active; /* readings, and those with a state above 0 */
};

struct throttle_zone {
	char name[TEGRA_NAME_SIZE]; /* as in tegrastats */
	double begin_c, end_c, max_c;
	double trip_c;	   /* the lowest at which the kernel holds back a clock */
	bool trip_bound;   /* seen bound to such a device; else the zone's highest passive trip */
	double critical_c; /* shutdown */
};

/* Hz. A cap is what the power mode, a cooling device or a person allows. */
struct throttle_clock {
	char name[TEGRA_NAME_SIZE]; /* "GPU", "EMC", "cpu0" */
	int64_t begin, end, min_seen, max_seen;
	double mean;
	int64_t polls;
	int64_t cap_begin, cap_end, cap_min_seen;
	int64_t floor;	  /* lower limit at the end; == cap: locked */
	int64_t hardware; /* last operating point */
	/* Of the measured and the requested clock; over-current halving shows only here (CPU). */
	double measured_ratio_min, measured_ratio_mean;
	int64_t measurements;
};

/* A rail with a limit of current, mA. */
struct throttle_rail {
	char name[TEGRA_NAME_SIZE];
	int64_t max_seen;
	int64_t warn, critical;
};

struct throttle_window {
	int64_t begin_ns, end_ns;
	int counters; /* 0: this board does not count */
	int devices, zones, clocks, rails;
	int devices_ignored; /* cooling devices that hold back no clock */
	struct throttle_counter counter[THROTTLE_COUNTERS];
	struct throttle_device device[THROTTLE_DEVICES];
	struct throttle_zone zone[THROTTLE_ZONES];
	struct throttle_clock clock[THROTTLE_CLOCKS];
	struct throttle_rail rail[THROTTLE_RAILS];
};

struct throttle;

/* Probes and keeps the files open; NULL when out of memory. */
struct throttle *throttle_open(void);
void throttle_close(struct throttle *throttle);

/*
 * now_ns is CLOCK_MONOTONIC. Polling more often than 10 times a second reads nothing; the
 * over-current counters, each a firmware message, are read at most twice a second.
 */
void throttle_begin(struct throttle *throttle, int64_t now_ns);
void throttle_poll(struct throttle *throttle, int64_t now_ns);
void throttle_end(struct throttle *throttle, int64_t now_ns, struct throttle_window *out);

/* Cooling devices with a state above 0 at any time of the window. */
int throttle_devices_active(const struct throttle_window *window);

/* NULL when there is none of that name or number. */
const struct throttle_clock *throttle_clock_named(const struct throttle_window *window,
						  const char *name);
const struct throttle_counter *throttle_counter_of(const struct throttle_window *window, int id);

/* Whether a cooling device of that type holds back clocks. */
bool throttle_type_is_clock(const char *type);

#endif
