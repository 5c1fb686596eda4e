/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/samples/faults.h"

#include <errno.h>
#include <linux/bpf_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/msg.h"
#include "fault_events.skel.h"
#include "probe/machine/environment.h"
#include "probe/samples/faults_internal.h"
#include "probe/rungs/rung.h"

/* An ended thread with fewer is shown with its group. */
#define KEEP_FAULTS 4096

#define SECOND_NS 1000000000LL
#define WHAT	  "page faults by mapping"

static int load(struct faults *faults, char reason[RUNG_REASON_LEN])
{
	struct fault_events *skel = fault_events__open();
	int err = skel ? 0 : -errno;

	faults->skeleton = skel;
	if (!err) {
		skel->rodata->off_addr = offsetof(struct bpf_perf_event_data, addr);
		err = bpf_map__reuse_fd(skel->maps.tid_slots, tracer_tid_slots_fd(faults->tracer));
	}
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.fault_counts,
					       tracer_slots_max(faults->tracer));
	if (!err)
		err = tracer_share_timeline(faults->tracer, skel->maps.timeline,
					    &skel->rodata->keep_timeline);
	if (!err && skel->rodata->keep_timeline)
		err = bpf_map__set_max_entries(skel->maps.fault_bursts,
					       tracer_slots_max(faults->tracer));
	if (!err)
		err = fault_events__load(skel);
	if (!err)
		err = flip_open(&faults->flip, skel->obj, (__u32 *)&skel->bss->flip_active);
	if (err)
		rung_explain_load(err, reason);
	return err;
}

static size_t pages_of(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

/* NULL when it cannot be. */
static void *share_map(const struct bpf_map *map, size_t size)
{
	void *p =
		mmap(NULL, pages_of(size), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return p == MAP_FAILED ? NULL : p;
}

static void unshare_map(void *p, size_t size)
{
	if (p)
		munmap(p, pages_of(size));
}

static int make_tables(struct faults *faults)
{
	uint32_t slots = tracer_slots_max(faults->tracer);
	bool keep = faults->skeleton->rodata->keep_timeline;

	faults->counts_size = slots * sizeof(*faults->counts);
	faults->counts = share_map(faults->skeleton->maps.fault_counts, faults->counts_size);
	faults->bursts_size = slots * sizeof(*faults->bursts);
	if (keep)
		faults->bursts =
			share_map(faults->skeleton->maps.fault_bursts, faults->bursts_size);
	faults->tally = tally_new(slots, KEEP_FAULTS);
	faults->series = calloc(1, sizeof(*faults->series));
	return faults->counts && (faults->bursts || !keep) && faults->tally && faults->series
		       ? 0
		       : -ENOMEM;
}

static int attach(struct faults *faults, char reason[RUNG_REASON_LEN])
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR,
	};
	struct fault_events *skel = faults->skeleton;
	int err = cpu_events_attach(&faults->minor_events, &attr, skel->progs.minor_fault, reason);

	attr.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ;
	return err ? err
		   : cpu_events_attach(&faults->major_events, &attr, skel->progs.major_fault,
				       reason);
}

/* The minor faults that were still being gathered: see keep_fault() in bpf/fault_events.bpf.c. */
static void keep_last_burst(struct faults *faults, uint32_t slot,
			    const struct thread_account *account)
{
	struct tt_fault_burst *burst = faults->bursts ? &faults->bursts[slot] : NULL;
	struct timeline_fault fault = {.pid = account->pid, .tid = account->tid};

	if (!burst || !burst->count)
		return;
	fault.start_ns = (int64_t)burst->start_ns - faults->session->start_ns;
	fault.ns = (int64_t)(burst->last_ns - burst->start_ns);
	fault.count = burst->count;
	timeline_add_fault(&faults->session->timeline, &fault);
	*burst = (struct tt_fault_burst){0};
}

/* /proc forgets a thread that ended; where it remembers, its books count. */
static void close_account(void *ctx, uint32_t slot, struct thread_account *account)
{
	struct faults *faults = ctx;
	struct tt_fault_count *count = &faults->counts[slot];

	tally_close(faults->tally, slot, account, NULL);
	if (account->exited) {
		if (account->minor_faults == UNKNOWN_COUNT)
			account->minor_faults = account->major_faults = 0;
		account->minor_faults += (int64_t)count->minor;
		account->major_faults += (int64_t)count->major;
	}
	faults->closed.minor += count->minor;
	faults->closed.major += count->major;
	*count = (struct tt_fault_count){0};
	keep_last_burst(faults, slot, account);
}

struct faults *faults_open(struct tracer *tracer, struct accounts *accounts,
			   struct mappings *mappings, struct session *session)
{
	struct faults *faults = calloc(1, sizeof(*faults));
	char reason[RUNG_REASON_LEN] = "out of memory";
	int err = faults ? 0 : -ENOMEM;

	if (!err) {
		faults->tracer = tracer;
		faults->mappings = mappings;
		faults->session = session;
		err = load(faults, reason);
	}
	if (!err)
		err = make_tables(faults);
	if (!err)
		err = attach(faults, reason);
	if (!err)
		err = accounts_on_close(accounts, close_account, faults);
	if (err) {
		capability_add(&session->capability, WHAT, reason);
		faults_close(faults);
		return NULL;
	}
	/* Last: both keep a pointer. */
	if (tracer_add_object(tracer, faults->skeleton->obj,
			      (struct tt_window *)&faults->skeleton->data->window))
		capability_add(&session->capability, WHAT, "too many probes");
	return faults;
}

/* Resident memory in bytes; UNKNOWN_COUNT once the process is gone. */
static int64_t read_rss(pid_t pid)
{
	long long size, resident = 0;
	char path[32];
	FILE *file;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	file = fopen(path, "re");
	if (file) {
		n = fscanf(file, "%lld %lld", &size, &resident);
		fclose(file);
	}
	return n == 2 && resident ? resident * sysconf(_SC_PAGESIZE) : UNKNOWN_COUNT;
}

void faults_begin(struct faults *faults, const struct target_set *targets, int64_t now_ns)
{
	if (!faults)
		return;
	faults->series->interval_ns = SECOND_NS;
	faults->point_ns = now_ns;
	for (int i = 0; i < targets->n && i < SESSION_TARGETS; i++) {
		faults->targets[i] = targets->items[i].pid;
		faults->rss_begin[i] = read_rss(faults->targets[i]);
		faults->rss_last[i] = UNKNOWN_COUNT;
		faults->ntargets++;
	}
}

static struct tt_fault_count sum_counts(const struct faults *faults)
{
	struct tt_fault_count sum = faults->closed;
	uint32_t used = tracer_slots_used(faults->tracer);

	for (uint32_t slot = 1; slot <= used; slot++) {
		sum.minor += faults->counts[slot].minor;
		sum.major += faults->counts[slot].major;
	}
	return sum;
}

/* Neighbours are added up, so that memory is bounded and the sum stays. */
static void halve(struct fault_series *series)
{
	for (size_t i = 0; i < series->n / 2; i++) {
		series->points[i].minor =
			series->points[2 * i].minor + series->points[2 * i + 1].minor;
		series->points[i].major =
			series->points[2 * i].major + series->points[2 * i + 1].major;
	}
	series->n /= 2;
	series->interval_ns *= 2;
}

static void add_point(struct faults *faults)
{
	struct fault_series *series = faults->series;
	struct tt_fault_count now = sum_counts(faults);

	series->points[series->n].minor = (int64_t)(now.minor - faults->at_point.minor);
	series->points[series->n++].major = (int64_t)(now.major - faults->at_point.major);
	faults->at_point = now;
	if (series->n == FAULT_SERIES_LIMIT)
		halve(series);
}

/*
 * Part of a region's faults, those of the pages of one mapping: exact but where pages of a region
 * that mappings share faulted twice. What is counted leaves `left`, so the sum stays.
 */
static int64_t take_pages(__u32 *left, __u16 *left_pages, unsigned int mask)
{
	int n = __builtin_popcount(*left_pages & mask), all = __builtin_popcount(*left_pages);
	int64_t count = n ? (int64_t)*left * n / all : 0;

	*left -= (__u32)count;
	*left_pages &= (__u16)~mask;
	return count;
}

/* From page `first` to the end of its mapping or of the region; returns the page behind. */
static int take_mapping(struct faults *faults, const struct tt_region_key *key,
			struct tt_region *left, int first)
{
	uint64_t base = key->region << TT_REGION_SHIFT;
	uint64_t address = base + ((uint64_t)first << TT_REGION_PAGE_SHIFT);
	struct mapping_place place =
		mappings_find(faults->mappings, left->tgid, address, MAPPING_NAME);
	uint64_t tally_key[TALLY_KEY] = {[FAULT_OBJECT] = (uint64_t)(place.object + 1)};
	int64_t counts[TALLY_COUNTS];
	int end = TT_REGION_PAGES;
	unsigned int mask;

	if (place.object < 0)
		end = first + 1;
	else if (place.end - base < 1ULL << TT_REGION_SHIFT)
		end = (int)((place.end - base) >> TT_REGION_PAGE_SHIFT);
	mask = (1u << end) - (1u << first);
	counts[FAULT_MINOR] = take_pages(&left->minor, &left->minor_pages, mask);
	counts[FAULT_MAJOR] = take_pages(&left->major, &left->major_pages, mask);
	tally_add(faults->tally, key->slot, left->tgid, left->tid, tally_key, counts);
	return end;
}

static void take(void *ctx, const void *key, const void *value)
{
	struct tt_region left = *(const struct tt_region *)value;

	for (int page = 0; page < TT_REGION_PAGES;) {
		if ((left.minor_pages | left.major_pages) & 1u << page)
			page = take_mapping(ctx, key, &left, page);
		else
			page++;
	}
}

static void read_all_rss(struct faults *faults)
{
	for (int i = 0; i < faults->ntargets; i++) {
		int64_t rss = read_rss(faults->targets[i]);

		/* What it had last, once it is gone. */
		if (rss != UNKNOWN_COUNT)
			faults->rss_last[i] = rss;
	}
}

static void follow_cpus(struct faults *faults)
{
	int minor = cpu_events_follow(&faults->minor_events);
	int major = cpu_events_follow(&faults->major_events);

	if (minor || major)
		msg_debug("no page faults of a CPU that came online: %s",
			  strerror(minor ? -minor : -major));
}

void faults_tick(struct faults *faults, int64_t now_ns)
{
	int err = faults ? flip_tick(&faults->flip, take, faults) : 0;

	if (err)
		msg_debug("cannot read the page faults: %s", strerror(-err));
	if (faults)
		follow_cpus(faults);
	if (!faults || now_ns < faults->point_ns + faults->series->interval_ns)
		return;
	faults->point_ns += faults->series->interval_ns;
	add_point(faults);
	read_all_rss(faults);
}

void faults_stop(struct faults *faults, int64_t end_ns)
{
	int err;

	if (!faults)
		return;
	cpu_events_detach(&faults->minor_events);
	cpu_events_detach(&faults->major_events);
	read_all_rss(faults);
	err = flip_finish(&faults->flip, take, faults);
	if (err)
		msg_warn("cannot read the page faults: %s", strerror(-err));
	if (end_ns > faults->point_ns)
		add_point(faults); /* the last one is of less than a whole interval */
}

void faults_add_losses(const struct faults *faults, struct session *session)
{
	session->losses.faults_dropped += (int64_t)faults->skeleton->bss->regions_dropped;
	session_add_timeline_lost(session, faults->skeleton->bss->timeline_lost);
}

void faults_close(struct faults *faults)
{
	if (!faults)
		return;
	cpu_events_detach(&faults->minor_events);
	cpu_events_detach(&faults->major_events);
	unshare_map(faults->counts, faults->counts_size);
	unshare_map(faults->bursts, faults->bursts_size);
	fault_events__destroy(faults->skeleton);
	tally_free(faults->tally);
	free(faults->series);
	free(faults);
}
