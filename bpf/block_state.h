/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of a block request, from the events of the block layer: allocated by its submitter
 * (block_getrq), issued to the device, completed. No kernel call: the BPF program and the unit
 * tests run the same code over what they define before they include it, NULL standing for none:
 *
 *   struct tt_block_request *block_find(const struct tt_block_key *key);
 *   void block_put(const struct tt_block_key *key, const struct tt_block_request *request);
 *   void block_drop(const struct tt_block_key *key);
 *   struct tt_block_row *block_row(__u32 dev, __u32 op, bool target);
 *   struct tt_block_io *block_io(__u32 slot);
 *   struct tt_block_losses *block_losses(void);
 *
 * Counts and bytes are taken when a request is issued, delays when it completes: completions come
 * in interrupts, and one that interrupts a program of the same kind is skipped by the kernel.
 */
#ifndef __TEGRATRACE_BLOCK_STATE_H
#define __TEGRATRACE_BLOCK_STATE_H

#include "block.h"
#include "thread_state.h"

/*
 * The first two characters of an event's rwbs text (blk_fill_rwbs in kernel/trace/blktrace.c): F
 * for a flush before it, the operation, then flags. F as the operation is the flush itself.
 */
static __always_inline void tt_block_decode(struct tt_block_event *e, char first, char second)
{
	e->preflush = first == 'F' && (second == 'W' || second == 'R' || second == 'D');
	if (e->preflush)
		first = second;
	switch (first) {
	case 'R':
		e->op = TT_BLOCK_READ;
		break;
	case 'W':
		e->op = TT_BLOCK_WRITE;
		break;
	case 'F':
		e->op = TT_BLOCK_FLUSH;
		break;
	case 'D':
		e->op = TT_BLOCK_DISCARD;
		break;
	default:
		e->op = TT_BLOCK_OTHER;
	}
}

/*
 * A write of nothing asks for a flush and never reaches the device: the flush machinery issues a
 * request of its own, then completes the asker, and a write that carried the wish once more.
 */
static __always_inline bool tt_block_is_empty(const struct tt_block_event *e)
{
	return !e->bytes && (e->op == TT_BLOCK_READ || e->op == TT_BLOCK_WRITE);
}

static __always_inline struct tt_block_key tt_block_key(const struct tt_block_event *e)
{
	return (struct tt_block_key){.dev = e->dev, .op = e->op, .sector = e->sector};
}

static __always_inline void tt_block_delay_add(struct tt_block_delay *delay, __u64 ns)
{
	__u64 i = tt_hist_index(ns);

	/* else clang, which knows the bound, compares a copy, and 5.10 does not see that it is one */
	asm volatile("" : "+r"(i));
	if (i >= TT_HIST_BUCKETS)
		return;
	delay->hist[i]++;
	delay->count++;
	delay->sum_ns += ns;
	if (ns > delay->max_ns)
		delay->max_ns = ns;
}

/* Of another CPU's clock, so it may lie a little ahead. */
static __always_inline __u64 tt_block_since(__u64 then, __u64 now)
{
	return now > then ? now - then : 0;
}

static __always_inline bool tt_block_queued_inside(const struct tt_block_request *r, __u64 begin)
{
	return r->t_queue_ns >= begin;
}

static __always_inline struct tt_block_io *tt_block_submitter(const struct tt_block_request *r,
							      __u32 op)
{
	struct tt_block_io *io;

	if (!r->slot || (op != TT_BLOCK_READ && op != TT_BLOCK_WRITE))
		return 0;
	io = block_io(r->slot);
	return io && io->tid == r->tid ? io : 0;
}

/* In the submitter's context; all events from before the window are followed too. */
static __always_inline void tt_block_queued(const struct tt_block_event *e, __u64 now, __u32 slot,
					    __u32 tid, __u32 tgid)
{
	struct tt_block_request r = {.t_queue_ns = now, .slot = slot, .tid = tid, .tgid = tgid};
	struct tt_block_key key = tt_block_key(e);
	struct tt_block_io *io = slot ? block_io(slot) : 0;

	if (io)
		io->tid = tid;
	if (!tt_block_is_empty(e))
		block_put(&key, &r);
	if (!e->preflush)
		return;
	key.op = TT_BLOCK_FLUSH_WAITING;
	key.sector = 0;
	if (!block_find(&key))
		block_put(&key, &r);
}

static __always_inline void tt_block_count(const struct tt_block_event *e,
					   const struct tt_block_request *r)
{
	struct tt_block_row *row = block_row(e->dev, e->op, r->slot != 0);
	struct tt_block_io *io = tt_block_submitter(r, e->op);

	if (row) {
		row->count++;
		row->bytes += e->bytes;
	}
	if (!io)
		return;
	if (e->op == TT_BLOCK_READ) {
		__sync_fetch_and_add(&io->reads, 1);
		__sync_fetch_and_add(&io->read_bytes, e->bytes);
	} else {
		__sync_fetch_and_add(&io->writes, 1);
		__sync_fetch_and_add(&io->write_bytes, e->bytes);
	}
}

static __always_inline void tt_block_first_issue(const struct tt_block_event *e,
						 struct tt_block_request *r, __u64 now, __u64 begin)
{
	r->t_issue_ns = now;
	r->bytes = r->left = e->bytes;
	if (now >= begin)
		tt_block_count(e, r);
}

/* Whoever waits for a flush, the one issued next is theirs. */
static __always_inline void tt_block_flush_issued(const struct tt_block_event *e, __u64 now,
						  __u64 begin)
{
	struct tt_block_key key = {.dev = e->dev, .op = TT_BLOCK_FLUSH_WAITING};
	struct tt_block_request *waiting = block_find(&key), r = {};
	struct tt_block_key issued = {.dev = e->dev, .op = TT_BLOCK_FLUSH};

	if (waiting) {
		r = *waiting;
		block_drop(&key);
	}
	tt_block_first_issue(e, &r, now, begin);
	for (int i = 0; i < TT_BLOCK_FLUSHES; i++) {
		issued.sector = i;
		if (!block_find(&issued)) {
			block_put(&issued, &r);
			return;
		}
	}
}

static __always_inline void tt_block_issued(const struct tt_block_event *e, __u64 now, __u64 begin)
{
	struct tt_block_key key = tt_block_key(e);
	struct tt_block_request *known, r = {};

	if (tt_block_is_empty(e))
		return;
	if (e->op == TT_BLOCK_FLUSH) {
		tt_block_flush_issued(e, now, begin);
		return;
	}
	known = block_find(&key);
	if (!known) {
		tt_block_first_issue(e, &r, now, begin);
		block_put(&key, &r);
	} else if (!known->bytes) {
		tt_block_first_issue(e, known, now, begin);
	} else if (known->left == known->bytes) {
		known->t_issue_ns = now;
	}
}

/* Whoever includes this may keep each request that is accounted. */
#ifndef TT_KEEP_REQUEST
#define TT_KEEP_REQUEST(e, r, now, begin)
#endif

/* What the device did not take waits in the queue again. The count stands, and so does a part done. */
static __always_inline void tt_block_requeued(const struct tt_block_event *e)
{
	struct tt_block_key key = tt_block_key(e);
	struct tt_block_request *r = block_find(&key);

	if (r && r->left == r->bytes)
		r->t_issue_ns = 0;
}

static __always_inline void tt_block_account(const struct tt_block_event *e,
					     const struct tt_block_request *r, __u64 now,
					     __u64 begin)
{
	__u64 device_ns = tt_block_since(r->t_issue_ns, now);
	__u64 queue_ns = tt_block_since(r->t_queue_ns, r->t_issue_ns);
	struct tt_block_row *row = block_row(e->dev, e->op, r->slot != 0);
	struct tt_block_io *io = tt_block_submitter(r, e->op);
	bool queued_inside = tt_block_queued_inside(r, begin);

	if (row) {
		tt_block_delay_add(&row->device, device_ns);
		if (queued_inside)
			tt_block_delay_add(&row->queue, queue_ns);
	}
	if (io) {
		__sync_fetch_and_add(&io->device_ns, device_ns);
		if (queued_inside)
			__sync_fetch_and_add(&io->queue_ns, queue_ns);
	}
}

static __always_inline bool tt_block_is_under_way(const struct tt_block_key *key)
{
	struct tt_block_request *r = block_find(key);

	return r && r->t_issue_ns;
}

/* A part of a request is done: the events to come name the sector where the rest begins. */
static __always_inline void tt_block_advance(struct tt_block_key *key,
					     const struct tt_block_request *r, __u32 bytes)
{
	struct tt_block_request rest = *r;

	rest.left -= bytes;
	block_drop(key);
	key->sector += bytes >> TT_BLOCK_SECTOR_SHIFT;
	block_put(key, &rest);
}

static __always_inline void tt_block_completed(const struct tt_block_event *e, __u64 now,
					       __u64 begin)
{
	struct tt_block_key key = tt_block_key(e);
	struct tt_block_request *r;

	if (tt_block_is_empty(e))
		return;
	if (e->op == TT_BLOCK_FLUSH) {
		key.sector = 0;
		for (int i = 1; i < TT_BLOCK_FLUSHES; i++) {
			if (!tt_block_is_under_way(&key))
				key.sector = i;
		}
	}
	r = block_find(&key);
	if (!r || !r->t_issue_ns) {
		/* a command that was passed through may complete under another sector */
		if (now >= begin && e->op != TT_BLOCK_OTHER)
			__sync_fetch_and_add(&block_losses()->unmatched, 1);
		return;
	}
	if (e->bytes && e->bytes < r->left && e->op != TT_BLOCK_OTHER) {
		tt_block_advance(&key, r, e->bytes);
		return;
	}
	if (r->t_issue_ns >= begin) {
		TT_KEEP_REQUEST(e, r, now, begin);
		tt_block_account(e, r, now, begin);
	}
	block_drop(&key);
}

/* A bio was put in front of a request in the queue, which now begins where the bio does. */
static __always_inline void tt_block_front_merged(const struct tt_block_event *bio)
{
	struct tt_block_key key = tt_block_key(bio);
	struct tt_block_request *known, r;

	key.sector += bio->bytes >> TT_BLOCK_SECTOR_SHIFT;
	known = block_find(&key);
	if (!known)
		return;
	r = *known;
	block_drop(&key);
	key.sector = bio->sector;
	block_put(&key, &r);
}

/* A request went into the one before it. */
static __always_inline void tt_block_merged_away(const struct tt_block_event *e)
{
	struct tt_block_key key = tt_block_key(e);

	block_drop(&key);
}

#endif /* __TEGRATRACE_BLOCK_STATE_H */
