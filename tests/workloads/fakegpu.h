/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A GPU that is only a book: a job makes it busy from the end of the last one (or from now) for so
 * many nanoseconds. The book is a small file that the pipeline writes and fake_tegrastats reads, so
 * the GPU load that is printed is true by construction, over any interval and to the nanosecond.
 *
 * The file is FAKE_GPU_STATE in the environment, or /tmp/tegratrace-fakegpu.UID.
 */
#ifndef __FAKEGPU_H
#define __FAKEGPU_H

#include "workload.h"

#define FAKEGPU_MAGIC 0x31757067656b6166ULL

struct fakegpu {
	_Atomic uint64_t magic;
	atomic_uint seq;		/* odd while it is being written */
	_Atomic uint64_t busy_until_ns; /* CLOCK_MONOTONIC */
	_Atomic uint64_t submitted_ns;	/* of all jobs ever, also of what is yet to run */
	_Atomic uint64_t jobs;
};

static inline const char *fakegpu_path(char *buf, size_t size)
{
	const char *env = getenv("FAKE_GPU_STATE");

	if (env && *env)
		return env;
	snprintf(buf, size, "/tmp/tegratrace-fakegpu.%u", (unsigned int)getuid());
	return buf;
}

/* The clock starts anew with the machine, the file may not: no queue is ever so long. */
static inline void fakegpu_check(struct fakegpu *g)
{
	if (atomic_load(&g->magic) == FAKEGPU_MAGIC &&
	    atomic_load(&g->busy_until_ns) < wl_now() + 60 * WL_NSEC)
		return;
	atomic_store(&g->busy_until_ns, 0);
	atomic_store(&g->submitted_ns, 0);
	atomic_store(&g->jobs, 0);
	atomic_store(&g->seq, 0);
	atomic_store(&g->magic, FAKEGPU_MAGIC);
}

static inline struct fakegpu *fakegpu_open(void)
{
	char buf[64];
	const char *path = fakegpu_path(buf, sizeof(buf));
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct fakegpu *g = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof(*g)))
		g = mmap(NULL, sizeof(*g), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (g == MAP_FAILED)
		wl_die(WL_FAIL, "%s: %s", path, strerror(errno));
	close(fd);
	fakegpu_check(g);
	return g;
}

/* Returns when the job will be done. */
static inline uint64_t fakegpu_submit(struct fakegpu *g, uint64_t ns)
{
	unsigned int seq = atomic_load(&g->seq) & ~1U;
	uint64_t now, until;

	while (!atomic_compare_exchange_weak(&g->seq, &seq, seq + 1))
		seq &= ~1U;
	now = wl_now();
	until = atomic_load(&g->busy_until_ns);
	until = (until > now ? until : now) + ns;
	atomic_store(&g->busy_until_ns, until);
	atomic_fetch_add(&g->submitted_ns, ns);
	atomic_fetch_add(&g->jobs, 1);
	atomic_store(&g->seq, seq + 2);
	return until;
}

/*
 * How long it had been busy in all by *now. The clock is read inside: a job submitted a moment
 * later than the clock would be counted wrongly.
 */
static inline uint64_t fakegpu_busy(struct fakegpu *g, uint64_t *now)
{
	uint64_t until, total;
	unsigned int seq, tries;

	for (tries = 0; tries < 1000003; tries++) {
		seq = atomic_load(&g->seq);
		until = atomic_load(&g->busy_until_ns);
		total = atomic_load(&g->submitted_ns);
		*now = wl_now();
		if (!(seq & 1) && atomic_load(&g->seq) == seq)
			break;
	}
	return until > *now ? total - (until - *now) : total;
}

static inline void fakegpu_wait_spinning(uint64_t fence)
{
	while (wl_now() < fence)
		wl_chunk();
}

static inline void fakegpu_wait_blocking(uint64_t fence)
{
	wl_sleep_until(fence);
}

#endif /* __FAKEGPU_H */
