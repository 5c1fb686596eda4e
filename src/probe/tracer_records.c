/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/tracer_internal.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *map_array(int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static size_t page_align(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

/* Returns 0, -ENOSPC without a free one. */
static int take_slot(const struct tracer *tracer, __u32 *slot)
{
	if (!tracer->records)
		return bpf_map_lookup_and_delete_elem(tracer->free_fd, NULL, slot) ? -ENOSPC : 0;
	pthread_mutex_lock(&tracer->records->lock);
	*slot = records_take_slot(tracer->records);
	pthread_mutex_unlock(&tracer->records->lock);
	return *slot ? 0 : -ENOSPC;
}

static void give_slot(const struct tracer *tracer, __u32 slot)
{
	if (!tracer->records) {
		bpf_map_update_elem(tracer->free_fd, NULL, &slot, BPF_ANY);
		return;
	}
	pthread_mutex_lock(&tracer->records->lock);
	records_give_slot(tracer->records, slot);
	pthread_mutex_unlock(&tracer->records->lock);
}

static int map_slots(struct tracer *tracer)
{
	size_t lines = (tracer->pid_max + TT_TIDS_PER_LINE - 1) / TT_TIDS_PER_LINE;

	tracer->free_fd = tracer_map_fd(tracer, "free_slots");
	tracer->threads_size = page_align(tracer->slots * sizeof(struct tt_thread));
	tracer->threads = map_array(tracer_map_fd(tracer, "threads"), tracer->threads_size);
	tracer->lines_size = page_align(lines * sizeof(struct tt_slot_line));
	tracer->lines = map_array(tracer_map_fd(tracer, "tid_slots"), tracer->lines_size);
	if (!tracer->threads || !tracer->lines)
		return -ENOMEM;
	/* The lowest ends on top, so the slots in use stay a dense range from 1. */
	for (__u32 slot = tracer->slots - 1; slot > 0; slot--) {
		if (bpf_map_update_elem(tracer->free_fd, NULL, &slot, BPF_ANY))
			return -errno;
	}
	return 0;
}

int tracer_set_up_slots(struct tracer *tracer)
{
	tracer->seen_dead = calloc(tracer->slots, 1);
	if (!tracer->seen_dead)
		return -ENOMEM;
	if (!tracer->records)
		return map_slots(tracer);
	tracer->threads = tracer->records->threads;
	tracer->lines = tracer->records->lines;
	return 0;
}

static __u16 *slot_ref(const struct tracer *tracer, pid_t tid)
{
	if (tid <= 0 || (__u32)tid >= tracer->pid_max)
		return NULL;
	return &tracer->lines[tid >> TT_TID_SHIFT].slot[tid & (TT_TIDS_PER_LINE - 1)];
}

bool tracer_traces(const struct tracer *tracer, pid_t tid)
{
	__u16 *ref = slot_ref(tracer, tid);

	return ref && __atomic_load_n(ref, __ATOMIC_RELAXED);
}

/*
 * The programs may be creating the same record this moment (a birth), so the slot is entered only
 * where none is.
 */
static int enter(struct tracer *tracer, const struct tt_thread *record)
{
	__u16 *ref = slot_ref(tracer, (pid_t)record->tid), none = 0;
	__u32 slot;

	if (!ref)
		return -ERANGE;
	if (__atomic_load_n(ref, __ATOMIC_RELAXED))
		return -EEXIST;
	if (take_slot(tracer, &slot))
		return -ENOSPC;
	tracer->threads[slot] = *record;
	if (!__atomic_compare_exchange_n(ref, &none, (__u16)slot, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED)) {
		memset(&tracer->threads[slot], 0, sizeof(*record));
		give_slot(tracer, slot);
		return -EEXIST;
	}
	if (slot > tracer->used)
		tracer->used = slot;
	return (int)slot;
}

int tracer_seed(struct tracer *tracer, pid_t tgid, pid_t tid)
{
	const struct tt_thread record = {.tid = (__u32)tid, .tgid = (__u32)tgid};

	return enter(tracer, &record);
}

void tracer_note_dead(struct tracer *tracer, uint32_t slot)
{
	tracer->threads[slot].bucket = TT_DEAD;
}

int tracer_adopt(struct tracer *tracer, const struct missed_thread *missed)
{
	struct tt_thread record = {
		.tid = (__u32)missed->tid,
		.tgid = (__u32)missed->tgid,
		.bucket = missed->bucket,
		.t_last_ns = (__u64)missed->found_ns,
		.t_birth_ns = (__u64)missed->birth_ns,
		.flags = TT_FLAG_BORN,
	};

	record.ns[TT_UNKNOWN] = record.t_last_ns - record.t_birth_ns;
	return enter(tracer, &record);
}

static void note_used(struct tracer *tracer)
{
	while (tracer->used + 1 < tracer->slots && tracer->threads[tracer->used + 1].tid)
		tracer->used++;
}

/* The programs replace the slot of a tid that is born again; only our own entry is cleared. */
static void recycle(struct tracer *tracer, __u32 slot)
{
	struct tt_thread *t = &tracer->threads[slot];
	__u16 *ref = slot_ref(tracer, t->tid), ours = (__u16)slot;

	if (ref)
		__atomic_compare_exchange_n(ref, &ours, 0, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	memset(t, 0, sizeof(*t));
	tracer->seen_dead[slot] = 0;
	give_slot(tracer, slot);
}

/* Its process may live on, and exec by another thread would go on under this tid. */
static bool is_zombie_leader(const struct tracer *tracer, __u32 slot)
{
	const struct tt_thread *t = &tracer->threads[slot];
	const __u16 *ref = slot_ref(tracer, t->tid);
	char path[32];

	if (t->tid != t->tgid || !ref || *ref != slot)
		return false;
	snprintf(path, sizeof(path), "/proc/%u", t->tid);
	return !access(path, F_OK);
}

/* The closed record whose thread went on, after an exec, in `slot`; 0 = none. */
static __u32 predecessor_of(const struct tracer *tracer, __u32 slot)
{
	for (__u32 p = 1; p <= tracer->used; p++) {
		const struct tt_thread *t = &tracer->threads[p];

		if (t->flags & TT_FLAG_RENAMED && t->successor == slot)
			return p;
	}
	return 0;
}

static void add_predecessor(struct tt_thread *t, const struct tt_thread *p)
{
	for (int i = 0; i < TT_BUCKETS; i++)
		t->ns[i] += p->ns[i];
	for (int i = 0; i < TT_HIST_BUCKETS; i++)
		t->runq_hist[i] += p->runq_hist[i];
	if (p->runq_max_ns > t->runq_max_ns)
		t->runq_max_ns = p->runq_max_ns;
	t->runq_count += p->runq_count;
	t->wakes += p->wakes;
	t->switches_voluntary += p->switches_voluntary;
	t->switches_involuntary += p->switches_involuntary;
	t->gap_switch_out += p->gap_switch_out;
	t->gap_switch_in += p->gap_switch_in;
	t->gap_waker += p->gap_waker;
	t->clamped += p->clamped;
	t->spurious_wakes += p->spurious_wakes;
	t->t_birth_ns = p->t_birth_ns;
	t->flags |= p->flags & TT_FLAG_BORN;
}

/* One thread to the caller, however many records exec made of it. */
static void visit(struct tracer *tracer, __u32 slot, tracer_record_fn fn, void *ctx, bool take)
{
	struct tt_thread merged = tracer->threads[slot];
	struct tracer_slots slots = {.slot = slot};

	if (merged.flags & TT_FLAG_SUCCEEDS)
		slots.predecessor = predecessor_of(tracer, slot);
	if (slots.predecessor)
		add_predecessor(&merged, &tracer->threads[slots.predecessor]);
	fn(ctx, &slots, &merged);
	if (!take)
		return;
	if (slots.predecessor)
		recycle(tracer, slots.predecessor);
	recycle(tracer, slot);
}

void tracer_drain(struct tracer *tracer, tracer_record_fn fn, void *ctx)
{
	note_used(tracer);
	for (__u32 slot = 1; slot <= tracer->used; slot++) {
		const struct tt_thread *t = &tracer->threads[slot];

		if (t->bucket != TT_DEAD || t->flags & TT_FLAG_RENAMED)
			continue;
		if (!tracer->seen_dead[slot]) {
			tracer->seen_dead[slot] = 1;
			continue;
		}
		if (!is_zombie_leader(tracer, slot))
			visit(tracer, slot, fn, ctx, true);
	}
}

void tracer_for_each(struct tracer *tracer, tracer_record_fn fn, void *ctx)
{
	note_used(tracer);
	for (__u32 slot = 1; slot <= tracer->used; slot++) {
		const struct tt_thread *t = &tracer->threads[slot];

		if (t->tid && !(t->flags & TT_FLAG_RENAMED))
			visit(tracer, slot, fn, ctx, false);
	}
}

uint32_t tracer_slots_used(const struct tracer *tracer)
{
	return tracer->used;
}

uint32_t tracer_slots_max(const struct tracer *tracer)
{
	return tracer->slots;
}

const struct tt_thread *tracer_record(const struct tracer *tracer, uint32_t slot)
{
	return &tracer->threads[slot];
}
