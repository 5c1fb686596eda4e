/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why threads slept: evidence, summed up in the kernel by all that tells one kind of sleep from
 * another. Nothing is judged here. And who had the CPU while they waited for it.
 */
#ifndef __TEGRATRACE_BPF_WAITS_H
#define __TEGRATRACE_BPF_WAITS_H

#include "stacks.h"
#include "thread_state.h"

/* Preallocated, so an insertion in a scheduler hook takes no memory. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TT_MAX_EDGES);
	__type(key, struct tt_edge_key);
	__type(value, struct tt_edge);
} edges SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TT_MAX_HOLDERS);
	__type(key, struct tt_holder_key);
	__type(value, struct tt_holder);
} holders SEC(".maps");

const volatile bool kernel_stacks = true;
const volatile bool user_stacks = false;

struct tt_losses losses;

static __always_inline void add_to_edge(struct tt_edge *e, __u64 ns, __u64 max_ns, __u32 count)
{
	e->ns += ns;
	e->count += count;
	if (max_ns > e->max_ns)
		e->max_ns = max_ns;
}

static __always_inline void flush_repeat(__u32 slot, struct tt_repeat *r)
{
	struct tt_edge_key key = {.slot = slot,
				  .waker = r->waker,
				  .via = r->via,
				  .arg = r->arg,
				  .syscall = r->syscall,
				  .flags = r->flags,
				  .kernel_stack = r->kernel_stack,
				  .user_stack = r->user_stack};
	struct tt_edge *e = bpf_map_lookup_elem(&edges, &key);

	if (e)
		add_to_edge(e, r->ns, r->max_ns, r->count);
	else
		__sync_fetch_and_add(&losses.edges, r->count);
}

static __always_inline void begin_repeat(struct tt_repeat *r, const struct tt_edge_key *key)
{
	r->used = 1;
	r->count = 0;
	r->waker = key->waker;
	r->via = key->via;
	r->arg = key->arg;
	r->syscall = key->syscall;
	r->flags = key->flags;
	r->kernel_stack = key->kernel_stack;
	r->user_stack = key->user_stack;
	r->ns = 0;
	r->max_ns = 0;
}

/* A sleeper's edges are only written under its run-queue lock: plain additions suffice. */
static __always_inline void keep_edge(struct tt_thread *t, const struct tt_edge_key *key, __u64 ns)
{
	struct tt_repeat *r = &t->repeat;
	struct tt_edge *e;

	if (tt_repeats(r, key)) {
		r->ns += ns;
		r->count++;
		if (ns > r->max_ns)
			r->max_ns = ns;
		return;
	}
	if (r->count)
		flush_repeat(key->slot, r);
	r->used = 0;
	e = bpf_map_lookup_elem(&edges, key);
	if (e) {
		add_to_edge(e, ns, ns, 1);
		begin_repeat(r, key);
		return;
	}
	struct tt_edge first = {.ns = ns, .max_ns = ns, .count = 1};
	__u64 current = bpf_get_current_pid_tgid();

	/* A waker that dies before the report keeps its name; a remote wake has another current. */
	if (key->waker == TT_WAKER(TT_WAKER_TASK, (__u32)current)) {
		first.waker_tgid = current >> 32;
		bpf_get_current_comm(first.waker_comm, sizeof(first.waker_comm));
	}
	if (bpf_map_update_elem(&edges, key, &first, BPF_ANY))
		__sync_fetch_and_add(&losses.edges, 1);
	else
		begin_repeat(r, key);
}

/* The stacks of the task that is about to sleep, on its own CPU; into `s`, which is then free again. */
static __always_inline void take_kernel_stack(void *ctx, struct tt_thread *t, struct tt_stack *s)
{
	t->site_kernel_stack = keep_stack(s, bpf_get_stack(ctx, s, sizeof(*s), 0));
	if (!t->site_kernel_stack)
		__sync_fetch_and_add(&losses.stacks, 1);
}

static __always_inline void take_user_stack(void *ctx, struct tt_thread *t, struct tt_stack *s)
{
	t->site_user_stack = keep_stack(s, bpf_get_stack(ctx, s, sizeof(*s), BPF_F_USER_STACK));
}

static __always_inline void take_own_stacks(void *ctx, struct tt_thread *t, bool kernel)
{
	struct tt_stack *s = scratch_stack();

	t->site_kernel_stack = 0;
	t->site_user_stack = 0;
	if (!s || !tt_wants_stack(t))
		return;
	if (kernel)
		take_kernel_stack(ctx, t, s);
	if (user_stacks)
		take_user_stack(ctx, t, s);
}

static __always_inline void keep_holder(__u32 slot, __u32 tid, const char *comm, __u64 ns)
{
	struct tt_holder_key key = {.slot = slot, .tid = tid};
	struct tt_holder *h = bpf_map_lookup_elem(&holders, &key);

	if (h) {
		h->ns += ns;
		h->count++;
		return;
	}
	struct tt_holder first = {.ns = ns, .count = 1};

	bpf_probe_read_kernel(first.comm, sizeof(first.comm), comm);
	if (bpf_map_update_elem(&holders, &key, &first, BPF_ANY))
		__sync_fetch_and_add(&losses.holders, 1);
}

#endif /* __TEGRATRACE_BPF_WAITS_H */
