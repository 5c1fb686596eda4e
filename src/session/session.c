/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS 16

/* The last bucket is open: it holds every longer delay too. */
static double bucket_end(int bucket, int64_t max_ns)
{
	double end = (double)(512ULL << bucket);

	if (bucket == SESSION_HIST_BUCKETS - 1 && (double)max_ns > end)
		return (double)max_ns;
	return end;
}

int64_t runq_quantile_ns(const struct runq_delay *runq, double q)
{
	double below = 0, total = 0, target, start, end, ns;
	int bucket;

	for (bucket = 0; bucket < SESSION_HIST_BUCKETS; bucket++)
		total += runq->hist[bucket];
	if (total == 0 || isnan(q))
		return UNKNOWN_NS;

	target = fmin(fmax(q, 0), 1) * total;
	for (bucket = 0; bucket < SESSION_HIST_BUCKETS; bucket++) {
		double n = runq->hist[bucket];

		if (n > 0 && below + n >= target)
			break;
		below += n;
	}

	/* no rounding can leave the loop at its end: the last non-empty bucket reaches the total */
	start = bucket ? (double)(256ULL << bucket) : 0;
	end = bucket_end(bucket, runq->max_ns);
	ns = start + (end - start) * (target - below) / runq->hist[bucket];

	/* also keeps the conversion in range: a double above INT64_MAX would be undefined */
	if (runq->max_ns >= 0 && ns >= (double)runq->max_ns)
		return runq->max_ns;
	return (int64_t)(ns + 0.5);
}

void tegra_summary_init(struct tegra_summary *summary)
{
	memset(summary, 0, sizeof(*summary));
	summary->interval_ms = NAN;
	summary->ram_total_mb = NAN;
	summary->swap_total_mb = NAN;
	summary->cpus_off = -1;
	sampled_init(&summary->gpu_busy);
	sampled_init(&summary->gpu_clock_mhz);
	sampled_init(&summary->emc_busy);
	sampled_init(&summary->emc_clock_mhz);
	sampled_init(&summary->ram_used_mb);
	sampled_init(&summary->swap_used_mb);
	sampled_init(&summary->cpu_busy_max);
}

void workload_init(struct workload *workload)
{
	memset(workload, 0, sizeof(*workload));
	workload->flop_per_item = workload->batch = NAN;
	workload->latency_s = workload->items_per_s = workload->bytes_per_item = NAN;
	workload->peak_flops = workload->peak_bw = NAN;
}

void session_init(struct session *session)
{
	memset(session, 0, sizeof(*session));
	session->command_status = -1;
	workload_init(&session->workload);
	board_info_init(&session->board);
	for (int i = 0; i < THROTTLE_OC; i++)
		session->throttle.oc_events[i] = UNKNOWN_COUNT;
	session->throttle.cooling_active = -1;
	session->ntop_processes = -1;
	pressure_init(&session->pressure);
	session->throttle.cpu_clock_share = NAN;
	session->throttle.margin_c = session->throttle.trip_c = NAN;
	tegra_summary_init(&session->tegra);
	cuda_summary_init(&session->cuda);
	session->overhead.events = UNKNOWN_COUNT;
	session->overhead.ns_per_switch = NAN;
	session->overhead.cpu_share = NAN;
	session->overhead.attach_ns = UNKNOWN_NS;
	session->overhead.rss_bytes = UNKNOWN_COUNT;
	session->losses.block_unmatched = UNKNOWN_COUNT;
	session->losses.block_unfinished = UNKNOWN_COUNT;
	session->losses.block_dropped = UNKNOWN_COUNT;
	session->losses.timeline_lost = UNKNOWN_COUNT;
	session->faults.rss_growth_bytes = UNKNOWN_COUNT;
}

void session_free(struct session *session)
{
	for (size_t i = 0; i < session->nstacks; i++)
		free(session->stacks[i].frames);
	free(session->stacks);
	for (size_t i = 0; i < session->noncpu_stacks; i++)
		free(session->oncpu_stacks[i].frames);
	free(session->oncpu_stacks);
	free(session->oncpu);
	free(session->faults.sites);
	free(session->faults.series);
	free(session->edges);
	free(session->block);
	free(session->threads);
	free(session->cpus);
	free(session->cpu_holders);
	timeline_free(&session->timeline);
	pressure_free(&session->pressure);
	series_free(&session->series);
	host_series_free(&session->host_series);
	session_init(session);
}

int64_t session_duration_ns(const struct session *session)
{
	int64_t ns;

	if (session->start_ns == UNKNOWN_NS || session->end_ns == UNKNOWN_NS ||
	    __builtin_sub_overflow(session->end_ns, session->start_ns, &ns) || ns <= 0)
		return UNKNOWN_NS;
	return ns;
}

/*
 * Room for one more in an array that holds FIRST_ROWS, then the next power of two: it is full at
 * exactly those counts. Returns the array, moved or not, or NULL.
 */
static void *room_for_one(void *rows, size_t n, size_t size)
{
	bool full = n == 0 || (n >= FIRST_ROWS && (n & (n - 1)) == 0);

	return full ? reallocarray(rows, n ? 2 * n : FIRST_ROWS, size) : rows;
}

static void thread_account_init(struct thread_account *thread)
{
	memset(thread, 0, sizeof(*thread));
	thread->folded = 1;
	thread->gpu_spin_ns = UNKNOWN_NS;
	for (int i = 0; i < WAIT_CLASSES; i++)
		thread->wait_ns[i] = UNKNOWN_NS;
	thread->switches_voluntary = UNKNOWN_COUNT;
	thread->switches_involuntary = UNKNOWN_COUNT;
	thread->minor_faults = UNKNOWN_COUNT;
	thread->major_faults = UNKNOWN_COUNT;
	oncpu_samples_init(&thread->oncpu_samples);
	thread->schedstat_oncpu_ns = UNKNOWN_NS;
	thread->schedstat_runq_ns = UNKNOWN_NS;
	thread->io_reads = thread->io_writes = UNKNOWN_COUNT;
	thread->io_read_bytes = thread->io_write_bytes = UNKNOWN_COUNT;
	thread->io_queue_ns = thread->io_device_ns = UNKNOWN_NS;
	cuda_account_init(&thread->cuda);
}

struct thread_account *session_add_thread(struct session *session)
{
	struct thread_account *rows =
		room_for_one(session->threads, session->nthreads, sizeof(*rows));

	if (!rows)
		return NULL;
	session->threads = rows;
	rows += session->nthreads++;
	thread_account_init(rows);
	return rows;
}

bool session_keeps_timeline(const struct session *session)
{
	return session->losses.timeline_lost != UNKNOWN_COUNT;
}

void session_add_timeline_lost(struct session *session, uint64_t events)
{
	if (session_keeps_timeline(session))
		session->losses.timeline_lost += (int64_t)events;
}

struct wait_edge *session_add_edge(struct session *session)
{
	struct wait_edge *rows = room_for_one(session->edges, session->nedges, sizeof(*rows));

	if (!rows)
		return NULL;
	session->edges = rows;
	rows += session->nedges++;
	*rows = (struct wait_edge){.stack = -1};
	return rows;
}

struct wait_stack *session_add_stack(struct session *session)
{
	struct wait_stack *rows = room_for_one(session->stacks, session->nstacks, sizeof(*rows));

	if (!rows)
		return NULL;
	session->stacks = rows;
	rows += session->nstacks++;
	*rows = (struct wait_stack){0};
	return rows;
}

struct block_row *session_add_block(struct session *session)
{
	struct block_row *rows = room_for_one(session->block, session->nblock, sizeof(*rows));

	if (!rows)
		return NULL;
	session->block = rows;
	rows += session->nblock++;
	*rows = (struct block_row){0};
	return rows;
}

/* Above INT64_MIN at any input, which is kept for "unknown". */
static int64_t clamp_known(__int128 value)
{
	if (value > INT64_MAX)
		return INT64_MAX;
	if (value <= INT64_MIN)
		return INT64_MIN + 1;
	return (int64_t)value;
}

int64_t thread_identity_error_ns(const struct thread_account *thread)
{
	__int128 sum = 0;

	sum += thread->oncpu_ns;
	sum += thread->runq_wake_ns;
	sum += thread->runq_preempt_ns;
	sum += thread->offcpu_ns;
	sum += thread->stopped_ns;
	sum += thread->unknown_ns;
	return clamp_known(sum - thread->wall_ns);
}

static void add_known(int64_t *into, int64_t from)
{
	if (*into == UNKNOWN_NS || from == UNKNOWN_NS)
		*into = UNKNOWN_NS;
	else
		*into = clamp_known((__int128)*into + from);
}

static void runq_merge(struct runq_delay *into, const struct runq_delay *from)
{
	add_known(&into->count, from->count);
	if (into->max_ns == UNKNOWN_NS || from->max_ns == UNKNOWN_NS)
		into->max_ns = UNKNOWN_NS;
	else if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	for (int i = 0; i < SESSION_HIST_BUCKETS; i++)
		if (__builtin_add_overflow(into->hist[i], from->hist[i], &into->hist[i]))
			into->hist[i] = UINT32_MAX;
}

void thread_account_merge(struct thread_account *into, const struct thread_account *from)
{
	if (__builtin_add_overflow(into->folded, from->folded, &into->folded))
		into->folded = UINT32_MAX;
	into->tid = 0;
	into->exited = into->exited && from->exited;

	add_known(&into->wall_ns, from->wall_ns);
	add_known(&into->oncpu_ns, from->oncpu_ns);
	add_known(&into->gpu_spin_ns, from->gpu_spin_ns);
	add_known(&into->runq_wake_ns, from->runq_wake_ns);
	add_known(&into->runq_preempt_ns, from->runq_preempt_ns);
	add_known(&into->offcpu_ns, from->offcpu_ns);
	add_known(&into->stopped_ns, from->stopped_ns);
	add_known(&into->unknown_ns, from->unknown_ns);
	for (int i = 0; i < WAIT_CLASSES; i++)
		add_known(&into->wait_ns[i], from->wait_ns[i]);

	add_known(&into->switches_voluntary, from->switches_voluntary);
	add_known(&into->switches_involuntary, from->switches_involuntary);
	runq_merge(&into->runq, &from->runq);
	add_known(&into->minor_faults, from->minor_faults);
	add_known(&into->major_faults, from->major_faults);
	add_known(&into->oncpu_samples.total, from->oncpu_samples.total);
	add_known(&into->oncpu_samples.kernel, from->oncpu_samples.kernel);
	add_known(&into->oncpu_samples.gpu_spin, from->oncpu_samples.gpu_spin);
	add_known(&into->oncpu_samples.spin, from->oncpu_samples.spin);
	add_known(&into->schedstat_oncpu_ns, from->schedstat_oncpu_ns);
	add_known(&into->schedstat_runq_ns, from->schedstat_runq_ns);
	add_known(&into->io_reads, from->io_reads);
	add_known(&into->io_writes, from->io_writes);
	add_known(&into->io_read_bytes, from->io_read_bytes);
	add_known(&into->io_write_bytes, from->io_write_bytes);
	add_known(&into->io_queue_ns, from->io_queue_ns);
	add_known(&into->io_device_ns, from->io_device_ns);
	cuda_account_merge(&into->cuda, &from->cuda);
	add_known(&into->gaps, from->gaps);
}

static int compare_group_key(const struct thread_account *a, const struct thread_account *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return strncmp(a->group, b->group, sizeof(a->group));
}

static int compare_rows(const void *a, const void *b)
{
	const struct thread_account *x = *(const struct thread_account *const *)a;
	const struct thread_account *y = *(const struct thread_account *const *)b;
	int order = compare_group_key(x, y);

	/* the first row gives a group its comm: let that not depend on qsort */
	return order ? order : (x->tid > y->tid) - (x->tid < y->tid);
}

static int64_t busy_ns(const struct thread_account *thread)
{
	const int64_t parts[] = {thread->oncpu_ns, thread->runq_wake_ns, thread->runq_preempt_ns};
	int64_t sum = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i] != UNKNOWN_NS)
			add_known(&sum, parts[i]);
	return sum;
}

static int compare_groups(const void *a, const void *b)
{
	const struct thread_group *x = a, *y = b;
	int64_t x_ns = busy_ns(&x->sum), y_ns = busy_ns(&y->sum);

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return compare_group_key(&x->sum, &y->sum);
}

static void group_add(struct thread_group *group, const struct thread_account *row)
{
	if (group->threads == 0) {
		group->pid = row->pid;
		memcpy(group->name, row->group, sizeof(group->name));
		group->name[sizeof(group->name) - 1] = 0;
		group->sum = *row;
		group->busiest_ns = UNKNOWN_NS;
	} else {
		thread_account_merge(&group->sum, row);
	}
	group->threads += row->folded;
	if (row->folded == 1 && row->oncpu_ns > group->busiest_ns) {
		group->busiest_ns = row->oncpu_ns;
		group->busiest_tid = row->tid;
	}
}

/* One group for each run of equal keys in the sorted rows; returns how many. */
static size_t build_groups(struct thread_group *groups, const struct thread_account **rows,
			   size_t nrows)
{
	size_t n = 0;

	for (size_t i = 0; i < nrows; i++) {
		if (i == 0 || compare_group_key(rows[i - 1], rows[i]))
			n++;
		group_add(&groups[n - 1], rows[i]);
	}
	return n;
}

struct thread_group *session_groups(const struct session *session, size_t *n)
{
	size_t nrows = session->nthreads;
	const struct thread_account **rows;
	struct thread_group *groups;

	*n = 0;
	if (nrows == 0)
		return NULL;
	rows = calloc(nrows, sizeof(const struct thread_account *));
	groups = calloc(nrows, sizeof(*groups));
	if (rows && groups) {
		for (size_t i = 0; i < nrows; i++)
			rows[i] = &session->threads[i];
		qsort(rows, nrows, sizeof(*rows), compare_rows);
		*n = build_groups(groups, rows, nrows);
		qsort(groups, *n, sizeof(*groups), compare_groups);
	} else {
		free(groups);
		groups = NULL;
	}
	free(rows);
	return groups;
}

void sampled_init(struct sampled *s)
{
	*s = (struct sampled){.mean = NAN, .min = NAN, .max = NAN, .last = NAN};
}

void sampled_add(struct sampled *s, double value)
{
	if (!isfinite(value))
		return;
	s->last = value;
	if (s->n++ == 0) {
		s->mean = s->min = s->max = value;
		return;
	}
	/* the mean of the sum, without a sum that could overflow */
	s->mean += (value - s->mean) / (double)s->n;
	s->min = fmin(s->min, value);
	s->max = fmax(s->max, value);
}
