/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page faults of traced threads, by perf's software events: they exist on every architecture, and a
 * fault that is retried counts once. exceptions:page_fault_user is x86 only.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "flip.h"
#include "perf_abi.h"
#include "target.h"
#include "timeline_ring.h"

FLIP_MAPS(struct tt_region_key, struct tt_region, TT_MAX_REGIONS);

/* By slot; sized by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tt_fault_count);
} fault_counts SEC(".maps");

/* By slot, for the timeline; sized by the loader with it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tt_fault_burst);
} fault_bursts SEC(".maps");

__u64 regions_dropped;
__u64 timeline_lost;

/* Of struct bpf_perf_event_data: it lies behind the registers, whose number differs. */
const volatile __u32 off_addr;

#define ADDR_AT_X86   176
#define ADDR_AT_ARM64 280

#define LOAD(off) asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(value) : "r"(ctx), "i"(off))

static __always_inline __u64 fault_address(const void *ctx)
{
	__u64 value = 0;

	if (off_addr == ADDR_AT_X86)
		LOAD(ADDR_AT_X86);
	else if (off_addr == ADDR_AT_ARM64)
		LOAD(ADDR_AT_ARM64);
	return value;
}

/* Plain stores: a thread takes its faults one after the other. */
static __always_inline void count_region(__u32 slot, __u64 id, __u64 address, bool major)
{
	struct tt_region_key key = {.slot = slot, .region = address >> TT_REGION_SHIFT};
	__u16 page = 1 << (address >> TT_REGION_PAGE_SHIFT & (TT_REGION_PAGES - 1));
	struct tt_region first = {.tid = (__u32)id, .tgid = id >> 32};
	void *map = flip_map();
	struct tt_region *region = bpf_map_lookup_elem(map, &key);
	struct tt_region *into = region ? region : &first;

	if (major) {
		into->major++;
		into->major_pages |= page;
	} else {
		into->minor++;
		into->minor_pages |= page;
	}
	if (!region && bpf_map_update_elem(map, &key, &first, BPF_ANY))
		__sync_fetch_and_add(&regions_dropped, 1);
}

static __always_inline void keep_faults(__u64 id, __u64 start_ns, __u64 ns, __u32 count, bool major)
{
	struct tt_event_faults *event = timeline_reserve(sizeof(*event), &timeline_lost);

	if (!event)
		return;
	timeline_head(&event->head, start_ns, ns, id, TT_EVENT_FAULTS);
	event->count = count;
	event->major = major;
	timeline_submit(event);
}

/* The burst that is left when the thread ends, or the window, is the loader's to keep. */
static __noinline int keep_fault(__u32 slot, __u64 id, __u64 now, bool major)
{
	struct tt_fault_burst *burst;

	if (major) {
		keep_faults(id, now, 0, 1, true);
		return 0;
	}
	burst = bpf_map_lookup_elem(&fault_bursts, &slot);
	if (!burst)
		return 0;
	if (burst->count && now - burst->start_ns >= TT_FAULT_BURST_NS) {
		keep_faults(id, burst->start_ns, burst->last_ns - burst->start_ns, burst->count,
			    false);
		burst->count = 0;
	}
	if (!burst->count)
		burst->start_ns = now;
	burst->last_ns = now > burst->start_ns ? now : burst->start_ns;
	burst->count++;
	return 0;
}

static __always_inline int count_fault(const void *ctx, bool major)
{
	__u64 id = bpf_get_current_pid_tgid(), now;
	__u32 slot = slot_of((__u32)id);
	struct tt_fault_count *count;

	if (!slot)
		return 0;
	now = bpf_ktime_get_ns();
	if (!in_window(now))
		return 0;
	count = bpf_map_lookup_elem(&fault_counts, &slot);
	if (!count)
		return 0;
	if (major)
		count->major++;
	else
		count->minor++;
	count_region(slot, id, fault_address(ctx), major);
	if (keep_timeline)
		keep_fault(slot, id, now, major);
	return 0;
}

SEC("perf_event")
int minor_fault(void *ctx)
{
	return count_fault(ctx, false);
}

SEC("perf_event")
int major_fault(void *ctx)
{
	return count_fault(ctx, true);
}

char LICENSE[] SEC("license") = "GPL";
