/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When the threads slept, by kind of sleep: what each kind has grown by is noted while the run goes
 * on, and becomes wait classes by time when the kinds are judged at the end. Private to src/probe.
 *
 * The kernel adds a sleep to its kind when it is over. What a thread slept until the last look and had
 * not been told of then is so the beginning of a sleep that ended since: it is laid back to just before
 * that look, where it was. Between two looks the rest is spread evenly. So sums are exact and a moment is
 * right within the time between two looks.
 */
#ifndef TEGRATRACE_WAIT_SERIES_H
#define TEGRATRACE_WAIT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "abi.h"
#include "probe/waits/raw_waits.h"
#include "session/host_series.h"

struct wait_series;

/* What the caller found out about a kind while it grew. */
struct kind_note {
	int class;		   /* -1: not judged */
	bool file_asked;	   /* what its descriptor is */
	char file[WAIT_FILE_SIZE]; /* empty = closed by then */
};

/* A kind of sleep of one thread at a look, or when its thread ended. */
struct wait_grown {
	const struct tt_edge_key *key;
	int64_t ns; /* all of it in the window so far */
	int64_t row; /* it has become part of that raw wait and does not grow any more; -1: it does */
	int64_t inside_ns;	/* out: of it slept since the last look, as far as is known */
	struct kind_note *note; /* out: the caller's; NULL when it does not grow */
};

/* NULL when out of memory. */
struct wait_series *wait_series_new(void);
void wait_series_free(struct wait_series *series);

/* The window begins: times are from here on. */
void wait_series_begin(struct wait_series *series, int64_t begin_ns);

/* The kinds of one thread, all at once, up to a time that no look is later than. 0 or -ENOMEM. */
int wait_series_take(struct wait_series *series, uint32_t slot, struct wait_grown *rows, size_t n,
		     int64_t now_ns);

/* NULL when it was never seen to grow. Valid until the next kinds are taken. */
const struct kind_note *wait_series_note(const struct wait_series *series,
					 const struct tt_edge_key *key);

/* Who is, or was last, in a slot, and how long it has slept so far. */
struct slot_sleep {
	uint32_t tid; /* 0: none yet */
	uint64_t birth_ns;
	int64_t off_ns;
};

/* After those of all threads: a look is over. */
void wait_series_look(struct wait_series *series, int64_t now_ns,
		      struct slot_sleep (*sleep_of)(const void *ctx, uint32_t slot),
		      const void *ctx, uint32_t slots);

/* A sleep that was not over at the end. 0 or -ENOMEM. */
int wait_series_last(struct wait_series *series, size_t row, int64_t asleep_ns, int64_t end_ns);

/* Puts the classes of the raw waits, judged by now, into the points. What none tells of is "other". */
void wait_series_fill(const struct wait_series *series, const struct raw_waits *waits,
		      struct host_series *points);

#endif
