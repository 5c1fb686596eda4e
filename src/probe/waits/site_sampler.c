/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/site_sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "probe/procfs.h"
#include "probe/waits/wait_rules.h"

#define PASS_BUDGET_NS 500000 /* 0.5 % of a CPU at ten passes a second, on any machine */
#define PASS_READS     128
#define KEPT_PASSES    100 /* of a thread that has gone */
#define FIRST_ENTRIES  128

struct entry {
	pid_t tid; /* 0: free */
	pid_t pid;
	uint64_t pass;	   /* in which it was listed last */
	uint64_t since_ns; /* of the sleep that `latest` is of */
	uint32_t pending;  /* passes in which it slept and was not looked at */
	int8_t latest;	   /* index of its present site; -1 none */
	int8_t n;
	struct site_count sites[SITES_PER_THREAD];
};

/* Open addressing; `size` is a power of two and never more than half full. */
struct site_sampler {
	struct entry *entries;
	size_t size, used;
	size_t next; /* thread of the list to look at first */
	struct site_cost cost;
};

/* "NUMBER ARG0 .. ARG5 SP PC", "-1 SP PC" or "running" (fs/proc/base.c, proc_pid_syscall) */
static int parse_site(const char *text, struct site_count *site)
{
	unsigned long long args[3];
	int number;
	int n = sscanf(text, "%d %llx %llx %llx", &number, &args[0], &args[1], &args[2]);

	if (n < 1)
		return -EAGAIN;
	*site = (struct site_count){.syscall = number};
	if (number < 0)
		return 0;
	if (n < 4)
		return -EBADMSG;
	if (number == SYS_futex || wait_syscall_takes_fd(number))
		site->arg = (uint32_t)args[0];
	if (number == SYS_futex)
		site->flags = wait_futex_flags(args[1], args[2]);
	return 0;
}

static int read_site(pid_t pid, pid_t tid, struct site_count *site)
{
	char text[256];
	int length = procfs_task_text(pid, tid, "syscall", text, sizeof(text));

	return length < 0 ? length : parse_site(text, site);
}

struct site_sampler *site_sampler_new(void)
{
	struct site_sampler *sampler = calloc(1, sizeof(*sampler));

	if (!sampler)
		return NULL;
	sampler->size = FIRST_ENTRIES;
	sampler->entries = calloc(sampler->size, sizeof(*sampler->entries));
	if (sampler->entries)
		return sampler;
	free(sampler);
	return NULL;
}

void site_sampler_free(struct site_sampler *sampler)
{
	if (!sampler)
		return;
	free(sampler->entries);
	free(sampler);
}

/* The thread's entry, or the free one where it belongs. */
static struct entry *place_of(struct entry *entries, size_t size, pid_t tid)
{
	size_t at = (uint32_t)tid * 2654435769u & (size - 1);

	while (entries[at].tid && entries[at].tid != tid)
		at = (at + 1) & (size - 1);
	return &entries[at];
}

static bool is_kept(const struct site_sampler *sampler, const struct entry *entry)
{
	return entry->tid && entry->pass + KEPT_PASSES >= sampler->cost.passes;
}

/* Leaves out the threads that have gone long ago; makes room for as many as there are now. */
static int rebuild(struct site_sampler *sampler)
{
	size_t kept = 0, size = FIRST_ENTRIES;
	struct entry *entries;

	for (size_t i = 0; i < sampler->size; i++)
		kept += is_kept(sampler, &sampler->entries[i]);
	while (size < 4 * kept)
		size *= 2;
	entries = calloc(size, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < sampler->size; i++) {
		const struct entry *entry = &sampler->entries[i];

		if (is_kept(sampler, entry))
			*place_of(entries, size, entry->tid) = *entry;
	}
	free(sampler->entries);
	sampler->entries = entries;
	sampler->size = size;
	sampler->used = kept;
	return 0;
}

static struct entry *entry_of(struct site_sampler *sampler, const struct site_thread *thread)
{
	struct entry *entry = place_of(sampler->entries, sampler->size, thread->tid);

	if (entry->tid && entry->pid == thread->pid)
		return entry;
	if (!entry->tid && 2 * sampler->used >= sampler->size) {
		if (rebuild(sampler))
			return NULL;
		entry = place_of(sampler->entries, sampler->size, thread->tid);
	}
	sampler->used += !entry->tid;
	*entry = (struct entry){.tid = thread->tid, .pid = thread->pid, .latest = -1};
	return entry;
}

/* Adds to a site; the one with the fewest samples gives way when all are taken. */
static void count_site(struct entry *entry, const struct site_count *site, uint32_t samples)
{
	struct site_count *fewest = entry->sites;
	struct site_count *count = NULL;

	for (int i = 0; i < entry->n && !count; i++) {
		struct site_count *at = &entry->sites[i];

		if (at->syscall == site->syscall && at->arg == site->arg &&
		    at->flags == site->flags)
			count = at;
		if (at->count < fewest->count)
			fewest = at;
	}
	if (!count) {
		count = entry->n < SITES_PER_THREAD ? &entry->sites[entry->n++] : fewest;
		*count = (struct site_count){site->syscall, site->arg, site->flags, 0};
	}
	count->count += samples;
	entry->latest = (int8_t)(count - entry->sites);
}

/* A thread that has meanwhile woken up has no site: that is no sample. */
static void look_at(struct entry *entry, const struct site_thread *thread)
{
	uint32_t samples = entry->pending;
	struct site_count site;

	entry->pending = 0;
	entry->latest = -1;
	entry->since_ns = thread->since_ns;
	if (!read_site(thread->pid, thread->tid, &site))
		count_site(entry, &site, samples);
}

/* Notes who sleeps; the sleeps that are known already are counted at no cost. */
static int note_all(struct site_sampler *sampler, const struct site_thread *threads, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct entry *entry = entry_of(sampler, &threads[i]);

		if (!entry)
			return -ENOMEM;
		entry->pass = sampler->cost.passes;
		if (!threads[i].asleep || entry->since_ns != threads[i].since_ns)
			entry->latest = -1;
		if (!threads[i].asleep)
			entry->pending = 0;
		else if (entry->latest >= 0)
			entry->sites[entry->latest].count++;
		else
			entry->pending++;
	}
	return 0;
}

int site_sampler_pass(struct site_sampler *sampler, const struct site_thread *threads, size_t n)
{
	int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int64_t left_ns = PASS_BUDGET_NS;
	size_t i, reads = 0;
	int err = 0;

	if (++sampler->cost.passes % KEPT_PASSES == 0)
		err = rebuild(sampler);
	if (!err)
		err = note_all(sampler, threads, n);
	if (err)
		return err;
	for (i = 0; i < n && reads < PASS_READS && left_ns > 0; i++) {
		const struct site_thread *thread = &threads[(sampler->next + i) % n];
		struct entry *entry = place_of(sampler->entries, sampler->size, thread->tid);

		if (!entry->pending)
			continue;
		look_at(entry, thread);
		reads++;
		left_ns = begin_ns + PASS_BUDGET_NS - clock_ns(CLOCK_MONOTONIC);
	}
	sampler->next = n ? (sampler->next + i) % n : 0;
	sampler->cost.reads += reads;
	sampler->cost.ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct site_count *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

int site_sampler_lookup(const struct site_sampler *sampler, pid_t tid,
			struct site_count sites[SITES_PER_THREAD])
{
	const struct entry *entry = place_of(sampler->entries, sampler->size, tid);

	if (!entry->tid)
		return 0;
	memcpy(sites, entry->sites, sizeof(entry->sites));
	qsort(sites, entry->n, sizeof(*sites), by_count);
	return entry->n;
}

struct site_cost site_sampler_cost(const struct site_sampler *sampler)
{
	return sampler->cost;
}
