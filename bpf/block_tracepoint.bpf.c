/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block I/O, for both rungs: the raw events changed their arguments within stable series, the
 * records of the classic ones say where everything is. Keyed by device and sector for that reason.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "target.h"
#include "timeline_ring.h"
#include "block.h"

/* Set by the loader. */
const volatile struct tt_block_fields at_getrq;
const volatile struct tt_block_fields at_issue;
const volatile struct tt_block_fields at_complete;
const volatile struct tt_block_fields at_requeue;
const volatile struct tt_block_fields at_frontmerge;
const volatile struct tt_block_fields at_merge;

/* Least recently used: where an event was missed a request would stay for ever. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TT_BLOCK_REQUESTS);
	__type(key, struct tt_block_key);
	__type(value, struct tt_block_request);
} requests SEC(".maps");

/* A copy for each CPU, so that plain stores do: programs of this kind do not nest on a CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, TT_BLOCK_ROWS);
	__type(key, struct tt_block_row_key);
	__type(value, struct tt_block_row);
} rows SEC(".maps");

/* Sized by the loader: the number of slots. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tt_block_io);
} slot_io SEC(".maps");

struct tt_block_losses losses;
__u64 timeline_lost;

static const struct tt_block_row empty_row;

static __always_inline struct tt_block_losses *block_losses(void)
{
	return &losses;
}

static __always_inline struct tt_block_request *block_find(const struct tt_block_key *key)
{
	return bpf_map_lookup_elem(&requests, key);
}

static __always_inline void block_put(const struct tt_block_key *key,
				      const struct tt_block_request *request)
{
	if (bpf_map_update_elem(&requests, key, request, BPF_ANY))
		__sync_fetch_and_add(&losses.dropped, 1);
}

static __always_inline void block_drop(const struct tt_block_key *key)
{
	bpf_map_delete_elem(&requests, key);
}

static __always_inline struct tt_block_row *block_row(__u32 dev, __u32 op, bool target)
{
	struct tt_block_row_key key = {.dev = dev, .op = op, .target = target};
	struct tt_block_row *row = bpf_map_lookup_elem(&rows, &key);

	if (row)
		return row;
	bpf_map_update_elem(&rows, &key, &empty_row, BPF_NOEXIST);
	row = bpf_map_lookup_elem(&rows, &key);
	if (!row)
		__sync_fetch_and_add(&losses.dropped, 1);
	return row;
}

static __always_inline struct tt_block_io *block_io(__u32 slot)
{
	return bpf_map_lookup_elem(&slot_io, &slot);
}

static int keep_request(const struct tt_block_request *r, __u32 dev, __u32 op, __u64 now,
			__u64 begin);

/* No pointer to the event, which then need not lie on the stack. */
#define TT_KEEP_REQUEST(e, r, now, begin)                               \
	do {                                                            \
		if (keep_timeline && (r)->slot)                         \
			keep_request(r, (e)->dev, (e)->op, now, begin); \
	} while (0)

#include "block_state.h"

/* Beside tt_block_account(), and not in it: without a timeline that stays as easy to verify. */
static __noinline int keep_request(const struct tt_block_request *r, __u32 dev, __u32 op, __u64 now,
				   __u64 begin)
{
	struct tt_event_block *event = timeline_reserve(sizeof(*event), &timeline_lost);

	if (!event)
		return 0;
	timeline_head(&event->head, r->t_issue_ns, tt_block_since(r->t_issue_ns, now),
		      (__u64)r->tgid << 32 | r->tid, TT_EVENT_BLOCK);
	event->queue_ns = tt_block_queued_inside(r, begin)
				  ? tt_block_since(r->t_queue_ns, r->t_issue_ns)
				  : TT_QUEUE_UNKNOWN;
	event->dev = dev;
	event->op = op;
	event->bytes = r->bytes;
	event->pad = 0;
	timeline_submit(event);
	return 0;
}

/* The record, once; then loads whose offsets the verifier knows, as the constants are read-only. */
static __always_inline struct tt_block_event
read_event(const void *ctx, const volatile struct tt_block_fields *at, __u32 size_shift)
{
	struct tt_block_event e = {};
	__u64 record[TT_BLOCK_RECORD_BYTES / sizeof(__u64)];
	const char *bytes = (const char *)record;

	bpf_probe_read_kernel(record, sizeof(record), ctx);
	e.dev = *(const __u32 *)(bytes + at->dev);
	e.sector = *(const __u64 *)(bytes + at->sector);
	e.bytes = *(const __u32 *)(bytes + at->size) << size_shift;
	tt_block_decode(&e, bytes[at->rwbs], bytes[at->rwbs + 1]);
	return e;
}

SEC("tracepoint/block/block_getrq")
int block_getrq(void *ctx)
{
	struct tt_block_event e = read_event(ctx, &at_getrq, TT_BLOCK_SECTOR_SHIFT);
	__u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();

	if (now < window.end_ns)
		tt_block_queued(&e, now, slot_of((__u32)id), (__u32)id, id >> 32);
	return 1;
}

SEC("tracepoint/block/block_rq_issue")
int block_rq_issue(void *ctx)
{
	struct tt_block_event e = read_event(ctx, &at_issue, 0);
	__u64 now = bpf_ktime_get_ns();

	if (now < window.end_ns)
		tt_block_issued(&e, now, window.begin_ns);
	return 1;
}

SEC("tracepoint/block/block_rq_complete")
int block_rq_complete(void *ctx)
{
	struct tt_block_event e = read_event(ctx, &at_complete, TT_BLOCK_SECTOR_SHIFT);
	__u64 now = bpf_ktime_get_ns();

	if (now < window.end_ns)
		tt_block_completed(&e, now, window.begin_ns);
	return 1;
}

SEC("tracepoint/block/block_rq_requeue")
int block_rq_requeue(void *ctx)
{
	struct tt_block_event e = read_event(ctx, &at_requeue, TT_BLOCK_SECTOR_SHIFT);

	tt_block_requeued(&e);
	return 1;
}

SEC("tracepoint/block/block_bio_frontmerge")
int block_bio_frontmerge(void *ctx)
{
	struct tt_block_event e = read_event(ctx, &at_frontmerge, TT_BLOCK_SECTOR_SHIFT);

	tt_block_front_merged(&e);
	return 1;
}

SEC("tracepoint/block/block_rq_merge")
int block_rq_merge(void *ctx)
{
	struct tt_block_event e = read_event(ctx, &at_merge, TT_BLOCK_SECTOR_SHIFT);

	tt_block_merged_away(&e);
	return 1;
}

char LICENSE[] SEC("license") = "GPL";
