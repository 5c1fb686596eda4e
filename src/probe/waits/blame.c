/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/blame.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/procfs.h"

#define HOLDERS_KEPT 8	 /* of one waiter */
#define WAITERS_KEPT 256 /* rows grow no further with thousands of threads */

/* What /proc told of a task, once. */
struct holder {
	pid_t tid, pid;
	enum holder_kind kind;
	char name[64], process[64]; /* sanitised */
	int policy, rt_priority;
};

struct waiter {
	pid_t pid, tid;
	char group[32];
	int64_t ns;	   /* of all its entries */
	int64_t waited_ns; /* by its account */
};

struct hold {
	struct waiter *waiter;
	const struct holder *holder;
	int64_t ns, count;
};

struct blame {
	blame_target_fn is_target;
	void *ctx;
	void *holders, *waiters, *entries;
	const struct hold **list; /* all entries */
	size_t n, capacity;
};

struct blame *blame_new(blame_target_fn is_target, void *ctx)
{
	struct blame *blame = calloc(1, sizeof(*blame));

	if (blame) {
		blame->is_target = is_target;
		blame->ctx = ctx;
	}
	return blame;
}

void blame_free(struct blame *blame)
{
	if (!blame)
		return;
	tdestroy(blame->entries, free);
	tdestroy(blame->waiters, free);
	tdestroy(blame->holders, free);
	free(blame->list);
	free(blame);
}

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_holder(const void *a, const void *b)
{
	return order(((const struct holder *)a)->tid, ((const struct holder *)b)->tid);
}

static int by_waiter(const void *a, const void *b)
{
	const struct waiter *x = a, *y = b;
	int diff = order(x->pid, y->pid);

	if (!diff)
		diff = order(x->tid, y->tid);
	return diff || x->tid ? diff : strcmp(x->group, y->group);
}

static int by_entry(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;
	int diff = order((intptr_t)x->waiter, (intptr_t)y->waiter);

	return diff ? diff : order((intptr_t)x->holder, (intptr_t)y->holder);
}

/* The node equal to `key`, made from a copy of it if need be; NULL when out of memory. */
static void *find_or_add(void **tree, const void *key, size_t size, bool *added,
			 int (*compare)(const void *, const void *))
{
	void **found = tfind(key, tree, compare);
	void *copy;

	*added = false;
	if (found)
		return *found;
	copy = malloc(size);
	if (!copy)
		return NULL;
	memcpy(copy, key, size);
	if (!tsearch(copy, tree, compare)) {
		free(copy);
		return NULL;
	}
	*added = true;
	return copy;
}

static void name_process(struct holder *holder)
{
	char comm[PROCFS_COMM_SIZE];
	int length = procfs_comm(holder->pid, PROCFS_PROCESS, comm, sizeof(comm));

	if (length > 0)
		text_sanitize(holder->process, sizeof(holder->process), comm, (size_t)length);
}

/* Full names of kernel threads are longer than what the scheduler knows: "kworker/0:1H-kblockd". */
static void name_kernel_thread(struct holder *holder, const char *seen, size_t length)
{
	char comm[PROCFS_COMM_SIZE];
	int n = procfs_comm(holder->tid, PROCFS_PROCESS, comm, sizeof(comm));

	if (n > 0 && !strncmp(comm, seen, length))
		text_sanitize(holder->name, sizeof(holder->name), comm, (size_t)n);
}

/* A tid that is no process has no entry in /proc to be listed, but can be asked for. */
static void ask(struct blame *blame, struct holder *holder, const char *seen, size_t length)
{
	struct procfs_status status;
	struct procfs_stat stat;

	holder->kind = HOLDER_ENDED;
	if (procfs_task_stat(holder->tid, PROCFS_PROCESS, &stat))
		return;
	holder->policy = stat.policy;
	holder->rt_priority = stat.rt_priority;
	/* What was seen may be from before its exec; only of a kernel thread is it the same. */
	if (!length || !procfs_is_kthread(&stat))
		text_sanitize(holder->name, sizeof(holder->name), stat.comm, strlen(stat.comm));
	if (procfs_is_kthread(&stat)) {
		holder->kind = HOLDER_KERNEL;
		name_kernel_thread(holder, seen, length);
		return;
	}
	if (procfs_status(holder->tid, PROCFS_PROCESS, &status))
		return;
	holder->pid = status.tgid;
	holder->kind = blame->is_target(blame->ctx, holder->pid) ? HOLDER_OWN : HOLDER_PROCESS;
	name_process(holder);
}

static const struct holder *holder_of(struct blame *blame, pid_t tid, const char comm[16])
{
	size_t length = strnlen(comm, 16);
	struct holder key = {.tid = tid, .kind = HOLDER_IDLE, .policy = -1, .rt_priority = -1};
	struct holder *holder;
	bool added;

	holder = find_or_add(&blame->holders, &key, sizeof(key), &added, by_holder);
	if (!holder || !added)
		return holder;
	if (!tid) {
		strcpy(holder->name, "idle");
		return holder;
	}
	text_sanitize(holder->name, sizeof(holder->name), comm, length);
	ask(blame, holder, comm, length);
	return holder;
}

static int make_room(struct blame *blame)
{
	size_t capacity = blame->capacity ? 2 * blame->capacity : 64;
	const struct hold **list;

	if (blame->n < blame->capacity)
		return 0;
	list = reallocarray(blame->list, capacity, sizeof(*list));
	if (!list)
		return -ENOMEM;
	blame->list = list;
	blame->capacity = capacity;
	return 0;
}

int blame_add(struct blame *blame, pid_t waiter_pid, pid_t waiter_tid, const char *waiter_group,
	      pid_t holder_tid, const char comm[16], int64_t ns, int64_t count)
{
	struct waiter waiter_key = {.pid = waiter_pid, .tid = waiter_tid};
	struct waiter *waiter;
	struct hold key = {0};
	struct hold *entry;
	bool added;

	snprintf(waiter_key.group, sizeof(waiter_key.group), "%s", waiter_group);
	waiter = find_or_add(&blame->waiters, &waiter_key, sizeof(waiter_key), &added, by_waiter);
	key.waiter = waiter;
	key.holder = holder_of(blame, holder_tid, comm);
	if (!waiter || !key.holder)
		return -ENOMEM;
	if (make_room(blame))
		return -ENOMEM;
	entry = find_or_add(&blame->entries, &key, sizeof(key), &added, by_entry);
	if (!entry)
		return -ENOMEM;
	if (added)
		blame->list[blame->n++] = entry;
	entry->ns += ns;
	entry->count += count;
	waiter->ns += ns;
	return 0;
}

/* Waiters with the longest waits first and together; of one waiter the longest first. */
static int by_time(const void *a, const void *b)
{
	const struct hold *x = *(const struct hold *const *)a;
	const struct hold *y = *(const struct hold *const *)b;
	int diff = order(y->waiter->waited_ns, x->waiter->waited_ns);

	if (!diff)
		diff = by_waiter(x->waiter, y->waiter);
	if (!diff)
		diff = order(y->ns, x->ns);
	return diff ? diff : by_holder(x->holder, y->holder);
}

static void fill_waiter(struct cpu_holder *row, const struct hold *entry)
{
	const struct waiter *waiter = entry->waiter;

	row->pid = waiter->pid;
	row->tid = waiter->tid;
	memcpy(row->group, waiter->group, sizeof(row->group));
	row->ns = entry->ns;
	row->count = entry->count;
	row->waited_ns = waiter->waited_ns;
	row->share = waiter->waited_ns > 0 ? (double)entry->ns / (double)waiter->waited_ns : NAN;
}

static void fill_holder(struct cpu_holder *row, const struct holder *holder)
{
	row->kind = holder->kind;
	row->holder_pid = holder->pid;
	row->holder_tid = holder->tid;
	memcpy(row->name, holder->name, sizeof(row->name));
	memcpy(row->process, holder->process, sizeof(row->process));
	row->policy = holder->policy;
	row->rt_priority = holder->rt_priority;
}

static void fill_others(struct cpu_holder *row, const struct hold *const *entries, size_t n)
{
	struct hold sum = {.waiter = entries[0]->waiter};

	for (size_t i = 0; i < n; i++) {
		sum.ns += entries[i]->ns;
		sum.count += entries[i]->count;
	}
	fill_waiter(row, &sum);
	row->kind = HOLDER_OTHERS;
	row->policy = row->rt_priority = -1;
	snprintf(row->name, sizeof(row->name), "%zu more", n);
}

/* What its account says; a wait that is not over at the end, or a very short one, has no holder. */
static int64_t waited_ns(const struct session *session, const struct waiter *waiter)
{
	int64_t ns = 0;

	for (size_t i = 0; i < session->nthreads; i++) {
		const struct thread_account *thread = &session->threads[i];

		if (thread->pid == waiter->pid && thread->tid == waiter->tid &&
		    (waiter->tid || !strcmp(thread->group, waiter->group)))
			ns += thread->runq_wake_ns + thread->runq_preempt_ns;
	}
	return ns > waiter->ns ? ns : waiter->ns;
}

static void fill_rows(const struct blame *blame, struct session *session)
{
	int waiters = 0;

	for (size_t i = 0, n; i < blame->n && waiters++ < WAITERS_KEPT; i += n) {
		size_t kept;

		for (n = 1;
		     i + n < blame->n && blame->list[i + n]->waiter == blame->list[i]->waiter;)
			n++;
		kept = n <= HOLDERS_KEPT ? n : HOLDERS_KEPT - 1;
		for (size_t k = 0; k < kept; k++) {
			struct cpu_holder *row = &session->cpu_holders[session->ncpu_holders++];

			fill_waiter(row, blame->list[i + k]);
			fill_holder(row, blame->list[i + k]->holder);
		}
		if (kept < n)
			fill_others(&session->cpu_holders[session->ncpu_holders++],
				    blame->list + i + kept, n - kept);
	}
}

int blame_finish(struct blame *blame, struct session *session)
{
	size_t n = blame->n;

	session->cpu_holders_measured = true;
	if (!n)
		return 0;
	session->cpu_holders = calloc(n, sizeof(*session->cpu_holders));
	if (!session->cpu_holders)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct waiter *waiter = blame->list[i]->waiter;

		if (!waiter->waited_ns)
			waiter->waited_ns = waited_ns(session, waiter);
	}
	qsort(blame->list, n, sizeof(*blame->list), by_time);
	fill_rows(blame, session);
	return 0;
}
