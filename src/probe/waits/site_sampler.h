/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In which system call threads sleep, by looking now and then: for rungs that see neither system
 * call numbers nor arguments. A thread's samples are in proportion to its time
 * asleep at each site; short sleeps are missed.
 */
#ifndef TEGRATRACE_SITE_SAMPLER_H
#define TEGRATRACE_SITE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SITE_PASS_MS 100 /* between two passes */

struct site_thread {
	pid_t pid, tid;
	bool asleep;
	uint64_t since_ns; /* of its state: the same sleep is looked at only once */
};

struct site_count {
	int32_t syscall; /* its number; -1: an exception, such as a page fault */
	uint32_t arg;	 /* descriptor, or low half of a futex address; 0 where it is neither */
	uint32_t flags;	 /* TT_SITE_FUTEX_* */
	uint32_t count;	 /* samples */
};

#define SITES_PER_THREAD 8

struct site_sampler;

/* NULL when out of memory. */
struct site_sampler *site_sampler_new(void);
void site_sampler_free(struct site_sampler *sampler);

/*
 * One pass over all traced threads, those not asleep too. It takes at most about 0.5 ms and goes on
 * next time where it stopped. A thread not in the list any more is kept for a while, so that it can
 * be asked for when its account is closed. Returns 0 or -ENOMEM.
 */
int site_sampler_pass(struct site_sampler *sampler, const struct site_thread *threads, size_t n);

/*
 * The sites of a thread, most samples first; returns their number, 0 for none. More sites than
 * there is room for are left out.
 */
int site_sampler_lookup(const struct site_sampler *sampler, pid_t tid,
			struct site_count sites[SITES_PER_THREAD]);

/* Files read so far, and what that took. */
struct site_cost {
	uint64_t passes, reads;
	int64_t ns;
};

struct site_cost site_sampler_cost(const struct site_sampler *sampler);

#endif
