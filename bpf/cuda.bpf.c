/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of the CUDA driver library. Entry: one program where a link holds many probes with a cookie
 * each, else one for each kind of call and place of the byte count. Return: one for all, since the
 * thread's record says which call it is in. No CO-RE relocation may remain: this loads without BTF.
 *
 * Nothing is stored once the window has ended: what is open then is closed by the loader.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "uprobe_regs.h"
#include "target.h"
#include "timeline_ring.h"
#include "records.h"
#include "cuda_abi.h"

/* By slot. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tt_cuda);
} cuda_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TT_CUDA_SERIES);
	__type(key, __u32);
	__type(value, struct tt_cuda_series);
} cuda_series SEC(".maps");

/* Zeroed series, filled by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, TT_CUDA_SERIES);
	__type(value, __u32);
} free_series SEC(".maps");

/* What marks an iteration: a probe that the user named, else the return of a call that waits. */
const volatile bool iter_by_probe;

__u64 timeline_lost;

struct here {
	struct tt_cuda *cuda;
	struct tt_thread *thread;
	__u64 now;
};

static __always_inline bool find(struct here *h)
{
	__u32 slot = slot_of((__u32)bpf_get_current_pid_tgid());

	if (!slot)
		return false;
	h->cuda = bpf_map_lookup_elem(&cuda_threads, &slot);
	h->thread = bpf_map_lookup_elem(&threads, &slot);
	if (!h->cuda || !h->thread)
		return false;
	h->now = bpf_ktime_get_ns();
	return h->now < window.end_ns;
}

/*
 * The record is the running thread's own, but this program may be preempted (since 6.0, when it
 * no longer runs with preemption off): then the record moved under the reading, and t_last_ns with
 * it.
 */
static __always_inline __u64 oncpu_now(struct here *h)
{
	struct tt_thread *t = h->thread;
	__u64 last = *(volatile __u64 *)&t->t_last_ns, sum;

	sum = tt_oncpu_here(h->cuda, t, h->now, window.begin_ns);
	if (last != *(volatile __u64 *)&t->t_last_ns) {
		h->now = bpf_ktime_get_ns();
		sum = tt_oncpu_here(h->cuda, t, h->now, window.begin_ns);
	}
	return sum;
}

static __always_inline void boundary(struct tt_cuda *c, __u64 now)
{
	struct tt_cuda_series *s;
	__u32 index;

	if (now < window.begin_ns)
		return;
	if (!c->series) {
		if (bpf_map_pop_elem(&free_series, &index)) {
			c->series_lost++;
			return;
		}
		c->series = index;
	}
	index = c->series;
	s = bpf_map_lookup_elem(&cuda_series, &index);
	if (s)
		tt_series_add(s, now);
}

static __always_inline void put_call(__u64 start_ns, __u64 ns, __u64 bytes, __u32 kind, __u32 calls)
{
	struct tt_event_call *event = timeline_reserve(sizeof(*event), &timeline_lost);

	if (!event)
		return;
	timeline_head(&event->head, start_ns, ns, bpf_get_current_pid_tgid(), TT_EVENT_CALL);
	event->bytes = bytes;
	event->kind = kind;
	event->calls = calls;
	timeline_submit(event);
}

static __noinline int keep_polls(struct tt_cuda *c)
{
	if (c->polls)
		put_call(c->polls_start_ns, c->polls_end_ns - c->polls_start_ns, 0, TT_CUDA_QUERY,
			 c->polls);
	c->polls = 0;
	return 0;
}

/*
 * `ns` of it lie in the window. A loop of queries is one event, since there may be a million a
 * second: what it has gathered when the thread ends, or the window, is the loader's to keep.
 */
static __noinline int keep_call(struct tt_cuda *c, const struct tt_cuda_call *call, __u64 ns,
				__u32 kind, __u32 result)
{
	__u64 start_ns = call->start_ns;

	if (start_ns < window.begin_ns)
		start_ns = window.begin_ns;
	if (kind != TT_CUDA_QUERY) {
		put_call(start_ns, ns, call->bytes, kind, 1);
		return 0;
	}
	if (!c->polls)
		c->polls_start_ns = start_ns;
	c->polls_end_ns = start_ns + ns;
	c->polls++;
	if (result != TT_CUDA_NOT_READY)
		keep_polls(c);
	return 0;
}

/*
 * The time between two queries of a loop is waiting too. A query that jumps to another is entered twice,
 * and the gap was before the first.
 */
static __always_inline void add_poll_gap(struct here *h, __u64 oncpu_ns)
{
	struct tt_cuda *c = h->cuda;
	__u64 ran_ns = tt_ran(oncpu_ns, c->poll_oncpu_ns);

	if (!c->poll_since_ns || (c->again && c->poll_since_ns >= c->call.start_ns))
		return;
	if (h->now - c->poll_since_ns > TT_CUDA_POLL_GAP_NS &&
	    (ran_ns > TT_CUDA_POLL_GAP_NS || h->thread->switches_voluntary != c->poll_sleeps)) {
		if (keep_timeline)
			keep_polls(c);
		return;
	}
	tt_cuda_close(&c->sum[TT_CUDA_QUERY], c->poll_since_ns, h->now, ran_ns, window.begin_ns,
		      window.end_ns);
	c->poll_since_ns = h->now;
	if (keep_timeline)
		c->polls_end_ns = h->now;
}

static __always_inline int enter(struct pt_regs *ctx, __u32 kind, __u64 bytes)
{
	struct tt_cuda_call *call;
	__u64 sp = PT_REGS_SP(ctx);
	struct tt_cuda *c;
	struct here h;

	if (!find(&h))
		return 0;
	c = h.cuda;
	if (c->sp && sp < c->sp) {
		c->nested++;
		return 0;
	}
	if (c->sp == sp) {
		c->again++;
		c->again_return = return_address(ctx);
		call = &c->again_call;
	} else {
		if (c->sp)
			c->lost += 1 + c->again;
		c->again = 0;
		c->sp = sp;
		call = &c->call;
	}
	call->kind = kind;
	call->bytes = bytes;
	if (kind <= TT_CUDA_QUERY)
		call->start_oncpu_ns = oncpu_now(&h);
	if (kind == TT_CUDA_QUERY)
		add_poll_gap(&h, call->start_oncpu_ns);
	if (!c->again)
		h.thread->in_gpu_call = tt_cuda_waits(kind);
	call->start_ns = h.now;
	return 0;
}

/* The call that returns, out of those entered with its stack pointer. */
static __always_inline struct tt_cuda_call *returning(struct tt_cuda *c, struct pt_regs *ctx)
{
	__u32 again = c->again;

	c->sp = 0;
	c->again = 0;
	if (!again)
		return &c->call;
	if (PT_REGS_IP(ctx) == c->again_return) {
		c->lost += again;
		return &c->again_call;
	}
	c->nested += again;
	return &c->call;
}

/* True when the query ends a wait: the GPU was busy at the one before, and is done. */
static __always_inline bool after_query(struct here *h, __u64 oncpu_ns, __u32 result)
{
	struct tt_cuda *c = h->cuda;
	bool busy = result == TT_CUDA_NOT_READY, was_busy = c->poll_since_ns;

	c->poll_since_ns = busy ? h->now : 0;
	c->poll_oncpu_ns = oncpu_ns;
	c->poll_sleeps = h->thread->switches_voluntary;
	return was_busy && !busy;
}

SEC("uretprobe")
int leave(struct pt_regs *ctx)
{
	__u64 sp = PT_REGS_SP(ctx) - CALL_PUSHES, oncpu_ns = 0, kind;
	struct tt_cuda_call *call;
	struct tt_cuda *c;
	struct here h;
	bool waited;

	if (!find(&h))
		return 0;
	c = h.cuda;
	if (!c->sp || sp < c->sp)
		return 0;
	h.thread->in_gpu_call = 0;
	if (sp > c->sp) {
		c->lost += 1 + c->again;
		c->sp = c->again = 0;
		return 0;
	}
	call = returning(c, ctx);
	kind = call->kind;
	if (kind <= TT_CUDA_QUERY)
		oncpu_ns = oncpu_now(&h);
	if (h.now < window.begin_ns)
		return 0;
	waited = tt_cuda_waits(kind);
	/* The verifier must see the bound: see tt_runq_sample. */
	asm volatile("" : "+r"(kind));
	if (kind < TT_CUDA_KINDS) {
		struct tt_cuda_sum *sum = &c->sum[kind];
		__u64 ns;

		sum->calls++;
		sum->bytes += call->bytes;
		ns = tt_cuda_close(sum, call->start_ns, h.now,
				   kind <= TT_CUDA_QUERY ? tt_ran(oncpu_ns, call->start_oncpu_ns)
							 : 0,
				   window.begin_ns, window.end_ns);
		if (keep_timeline)
			keep_call(c, call, ns, kind, (__u32)PT_REGS_RC(ctx));
	}
	if (kind == TT_CUDA_QUERY)
		waited = after_query(&h, oncpu_ns, (__u32)PT_REGS_RC(ctx));
	if (waited && !iter_by_probe)
		boundary(c, h.now);
	return 0;
}

/* Read from a constant place, which the verifier wants; the assembly keeps clang from merging. */
#define ARGUMENT(n)                                  \
	({                                           \
		__u64 value_ = PT_REGS_PARM##n(ctx); \
		asm volatile("" : "+r"(value_));     \
		value_;                              \
	})

/* With attach cookies (uprobe_multi, 6.6): one program for all calls. */
SEC("uprobe")
int any_call(struct pt_regs *ctx)
{
	__u64 third = ARGUMENT(3), fourth = ARGUMENT(4), fifth = ARGUMENT(5);
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u32 counts = TT_CUDA_COOKIE_BYTES(cookie);

	return enter(ctx, TT_CUDA_COOKIE_KIND(cookie),
		     counts == 3   ? third
		     : counts == 4 ? fourth
		     : counts == 5 ? fifth
				   : 0);
}

#define ENTER(name, kind, bytes)                \
	SEC("uprobe")                           \
	int name(struct pt_regs *ctx)           \
	{                                       \
		return enter(ctx, kind, bytes); \
	}

/* Named as src/probe/cuda/cuda_calls.c does: kind, and the argument that counts bytes. */
ENTER(stream_sync, TT_CUDA_STREAM_SYNC, 0)
ENTER(ctx_sync, TT_CUDA_CTX_SYNC, 0)
ENTER(event_sync, TT_CUDA_EVENT_SYNC, 0)
ENTER(query, TT_CUDA_QUERY, 0)
ENTER(copy_sync, TT_CUDA_COPY_SYNC, 0)
ENTER(copy_sync_3, TT_CUDA_COPY_SYNC, PT_REGS_PARM3(ctx))
ENTER(copy_sync_4, TT_CUDA_COPY_SYNC, PT_REGS_PARM4(ctx))
ENTER(copy_sync_5, TT_CUDA_COPY_SYNC, PT_REGS_PARM5(ctx))
ENTER(launch, TT_CUDA_LAUNCH, 0)
ENTER(graph_launch, TT_CUDA_GRAPH_LAUNCH, 0)
ENTER(copy_async, TT_CUDA_COPY_ASYNC, 0)
ENTER(copy_async_3, TT_CUDA_COPY_ASYNC, PT_REGS_PARM3(ctx))
ENTER(copy_async_4, TT_CUDA_COPY_ASYNC, PT_REGS_PARM4(ctx))
ENTER(copy_async_5, TT_CUDA_COPY_ASYNC, PT_REGS_PARM5(ctx))
ENTER(other, TT_CUDA_OTHER, 0)

SEC("uprobe")
int iteration(struct pt_regs *ctx)
{
	struct here h;

	if (find(&h))
		boundary(h.cuda, h.now);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
