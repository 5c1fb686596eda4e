/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of threads by a key. A probe reads the counts of a slot a little later than they were
 * made, and slots are used again: this keeps them with the right thread. Threads that end having
 * counted little are added up by process and group, so memory does not grow with the number of
 * threads that ever lived.
 */
#ifndef TEGRATRACE_TALLY_H
#define TEGRATRACE_TALLY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/session.h"

#define TALLY_KEY    4
#define TALLY_COUNTS 2

/* Entries; what comes beyond is counted under TALLY_REST. */
#define TALLY_LIMIT (1u << 17)
#define TALLY_REST  UINT64_MAX /* every word of the key */

struct tally_owner {
	pid_t pid, tid; /* tid 0: ended threads of the group */
	char group[32];
	int64_t counts[TALLY_COUNTS];
	uint32_t first; /* private: entries, threads on the free list */
};

struct tally;

/*
 * `slots`: as the tracer has. An ended thread stays on its own from `keep` counts on, while there
 * are few such. NULL when out of memory.
 */
struct tally *tally_new(uint32_t slots, int64_t keep);
void tally_free(struct tally *tally);

/* Add what thread `tid` counted in a slot. Out of memory, it is lost. */
void tally_add(struct tally *tally, uint32_t slot, pid_t pid, pid_t tid,
	       const uint64_t key[TALLY_KEY], const int64_t counts[TALLY_COUNTS]);

/* The slot's account is closed. `counts`, unless NULL, gets the sums of the thread. */
void tally_close(struct tally *tally, uint32_t slot, const struct thread_account *account,
		 int64_t counts[TALLY_COUNTS]);

typedef void (*tally_fn)(void *ctx, const struct tally_owner *owner, const uint64_t key[TALLY_KEY],
			 const int64_t counts[TALLY_COUNTS]);
void tally_for_each(const struct tally *tally, tally_fn fn, void *ctx);

#endif
