/* SPDX-License-Identifier: GPL-2.0-only */
/* Kinds of sleep as the kernel told them apart, by row of the session. Private to src/probe. */
#ifndef TEGRATRACE_RAW_WAITS_H
#define TEGRATRACE_RAW_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "abi.h"
#include "probe/waits/sleep_site.h"
#include "probe/waits/wakers.h"

#define WAIT_FILE_SIZE 64

struct raw_wait {
	size_t row;
	struct tt_edge_key key; /* slot 0 */
	int64_t ns, max_ns, count;
	struct waker waker;
	struct waker via;
	char file[WAIT_FILE_SIZE]; /* what descriptor key.arg is; empty = no or unknown */
	bool python;		   /* its process runs CPython */
	bool sampled;		   /* key.arg is what most samples of the thread had */
	struct sleep_site *site;   /* read from /proc; NULL = not */
	enum wait_class class;	   /* once it is judged */
	int64_t next;		   /* of the same row; -1 = last */
};

struct raw_waits {
	struct raw_wait *rows;
	size_t n;
	int64_t *heads; /* by session row: its last raw wait, -1 = none */
	size_t nheads;
};

/*
 * Add one, or add it to an equal one: all but times and site equal, and for a row that several
 * threads share (`folded`) futex addresses and tids of wakers do not count. Takes over `site`.
 * *place is then its index. Returns 0 or -ENOMEM.
 */
int raw_waits_add(struct raw_waits *waits, const struct raw_wait *wait, bool folded, size_t *place);
void raw_waits_free(struct raw_waits *waits);

#endif
