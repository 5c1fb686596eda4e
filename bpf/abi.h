/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF programs and the loader share: record layouts, buckets and limits. Included by both
 * sides and by the unit tests; the includer provides __u8..__u64 (vmlinux.h or linux/types.h).
 */
#ifndef __TEGRATRACE_ABI_H
#define __TEGRATRACE_ABI_H

#define TT_COMM_LEN 16

/*
 * Where a nanosecond of a thread's life goes. The value is at once the thread's present state and
 * the index of the sum that grows while it stays there, so a transition is one addition.
 */
enum tt_bucket {
	TT_UNKNOWN = 0, /* no event seen yet; the first one decides the past */
	TT_ONCPU,
	TT_RUNQ_WAKE,	 /* runnable since a wakeup */
	TT_RUNQ_PREEMPT, /* runnable since an involuntary switch-out */
	TT_STOPPED,	 /* SIGSTOP, ptrace, freezer */
	TT_DEAD,	 /* account closed; its sum stays 0 */
	TT_OFF_DISK,	 /* in_iowait at the switch-out */
	TT_OFF_OTHER,	 /* any other sleep: not yet told apart */
	TT_BUCKETS,
};

#define TT_OFF_FIRST TT_OFF_DISK

/* Power of two, so that BPF can mask an index for the verifier. */
#define TT_BUCKET_SLOTS 8

/* How the task going out leaves the CPU; decided by the rung, from its own data. */
enum tt_switch_out {
	TT_OUT_RUNNABLE, /* preempted or yielded: still queued */
	TT_OUT_SLEEP,
	TT_OUT_DISK,
	TT_OUT_STOPPED,
	TT_OUT_DEAD,
	TT_OUT_UNTOLD, /* runnable or frozen: a record of Linux 6.1 to 6.12 calls both running */
};

/* Run-queue delay histogram: bucket 0 is < 512 ns, bucket i holds [256 << i, 512 << i), last open. */
#define TT_HIST_BUCKETS 28
#define TT_HIST_SHIFT	8

#define TT_FLAG_BORN	 0x1u  /* created inside the window, not seeded */
#define TT_FLAG_EXITING	 0x2u  /* sched_process_exit seen in time; runs on until the DEAD switch */
#define TT_FLAG_RENAMED	 0x4u  /* closed because exec gave this thread another tid: see successor */
#define TT_FLAG_REUSED	 0x8u  /* closed because its tid was born again without a DEAD switch */
#define TT_FLAG_EXECED	 0x10u /* exec seen; the name changed */
#define TT_FLAG_SUCCEEDS 0x20u /* continues a RENAMED record */
#define TT_FLAG_LOST	 0x40u /* events may be missing since t_last: what it did since is unknown */
#define TT_FLAG_OUTLIVED 0x80u	 /* seen after the window: what it held was right to the end */
#define TT_FLAG_UNTOLD	 0x1000u /* went out as TT_OUT_UNTOLD */

/* In the flags too: how many sleeps are walked before they are judged short again. */
#define TT_LONG_SHIFT 8
#define TT_LONG_MASK  0xf00u
#define TT_LONG_KEPT  8u

/* And there: 1 + the CPU in whose run queue it waits; 0 = in none. */
#define TT_CPU_SHIFT 16

/* No TT_WAKER has this bit. */
#define TT_PEND 0x80000000u

/*
 * Sleeps like the thread's last one, whose edge the map has: they are added to it when another kind
 * follows, or by the loader. A thread waits for the same again and again, and a look into the map is
 * a third of what a wakeup costs.
 */
struct tt_repeat {
	__u32 used;
	__u32 count;
	/* tt_edge_key without the slot */
	__u32 waker;
	__u32 via;
	__u32 arg;
	__u16 syscall;
	__u16 flags;
	__u64 kernel_stack;
	__u64 user_stack;
	__u64 ns;
	__u64 max_ns;
};

/*
 * One traced thread. One writer at a time: switch and wakeup of a task run under its run-queue
 * lock, waking under its pi_lock (and writes pend only). So plain stores suffice.
 */
struct tt_thread {
	__u64 t_last_ns; /* of the last transition, CLOCK_MONOTONIC; 0 = still at the window's begin */
	__u32 tid;
	__u32 tgid;
	__u32 bucket; /* enum tt_bucket */
	__u32 flags;
	__u32 pend;	  /* TT_PEND | TT_WAKER of a wake not yet committed; 0 = none */
	__u32 last_waker; /* TT_WAKER */
	__u64 runq_max_ns;
	__u32 runq_count;
	__u32 wakes;
	__u32 switches_voluntary;
	__u32 switches_involuntary;

	__u64 ns[TT_BUCKET_SLOTS];

	__u32 runq_hist[TT_HIST_BUCKETS];

	__u64 t_birth_ns; /* 0 = before the window */
	__u64 t_death_ns; /* 0 = alive */

	/* Gaps: each is an event that did not fit the state held. The sums stay exact. */
	__u32 gap_switch_out; /* switched out while not on the CPU: a switch-in was missed */
	__u32 gap_switch_in;  /* on the CPU or woken while not asleep: a switch-out was missed */
	__u32 gap_waker;      /* a wakeup without a waking before it */
	__u32 clamped;	      /* event older than the last transition, taken as 0 ns */
	__u32 spurious_wakes; /* wake of a thread that was running or queued */
	__u32 successor;      /* slot of the record that continues a RENAMED one */

	char comm[TT_COMM_LEN]; /* filled at death or exec; the living are asked in /proc */

	__u32 in_gpu_call; /* inside a CUDA synchronisation call; written by the thread itself */
	__u32 cause;	   /* of the last wake, as a `via` for those that it wakes; 0 */
	__u64 woken_ns;	   /* when that was, later by what it has been in the run queue since */
	__u64 site_kernel_stack; /* of the sleep under way, where it is taken at the switch-out */
	__u64 site_user_stack;
	__u32 site_arg; /* as tt_edge_key's, likewise */
	__u16 site_syscall;
	__u16 site_flags;
	struct tt_repeat repeat;
};

_Static_assert(sizeof(struct tt_thread) == 384, "record layout, six cache lines");
_Static_assert(TT_BUCKETS <= TT_BUCKET_SLOTS, "a bucket without a sum");

/* tid -> slot, 32 tids to a cache line; slot 0 = not traced. */
#define TT_TIDS_PER_LINE 32
#define TT_TID_SHIFT	 5

struct tt_slot_line {
	__u16 slot[TT_TIDS_PER_LINE];
};

#define TT_MAX_SLOTS 65535

/*
 * Who ended a wait: a kind and, in the low bits, its id. A task by its tid; an interrupt is never
 * blamed on the task that it interrupted.
 */
#define TT_WAKER_KIND_SHIFT 28
#define TT_WAKER_ID_MASK    0x0fffffffu
enum tt_waker_kind {
	TT_WAKER_TASK = 0, /* by tid; 0 is an interrupt, not told which, over the idle task */
	TT_WAKER_IRQ = 1,  /* hard interrupt, by number */
	TT_WAKER_SOFTIRQ = 2,
	TT_WAKER_TIMER = 3, /* a high-resolution timer ran out */
	TT_WAKER_DISK = 4,  /* only as `via`: the waker itself had waited for a block device */
	TT_WAKER_UNSEEN = 5,
};

#define TT_WAKER(kind, id) (((__u32)(kind) << TT_WAKER_KIND_SHIFT) | ((id)&TT_WAKER_ID_MASK))

#define TT_SITE_IOWAIT	   0x1u /* in_iowait at the switch-out */
#define TT_SITE_GPU_CALL   0x2u /* inside a CUDA synchronisation call */
#define TT_SITE_FUTEX_LOCK 0x4u /* futex wait as a contended mutex does it */
#define TT_SITE_FIRST	   0x8u /* asleep since the window's begin */
#define TT_SITE_FUTEX_MAYBE \
	0x10u /* futex wait as a contended read-write lock does it, and others now and then */

/* tt_edge_key.syscall: 0 = the rung cannot see it */
#define TT_SYSCALL(nr)	((__u16)((nr) + 1))
#define TT_SYSCALL_NONE 0xffffu /* entered by an exception: a page fault */

/* Sleeps that looked alike. The loader names the class from this (src/probe/waits/wait_rules.c). */
struct tt_edge_key {
	__u32 slot;
	__u32 waker;
	__u32 via; /* TT_WAKER of the waker's own last wake, a moment ago; 0 = none, or a traced thread */
	__u32 arg; /* first argument of the syscall, low half: descriptor or futex address */
	__u16 syscall;
	__u16 flags;	    /* TT_SITE_* */
	__u32 pad;	    /* 0 */
	__u64 kernel_stack; /* key of `stacks`; 0 = none taken */
	__u64 user_stack;
};

struct tt_edge {
	__u64 ns;
	__u64 max_ns;
	__u32 count;
	__u32 waker_tgid; /* 0 unknown */
	char waker_comm[TT_COMM_LEN];
};

_Static_assert(sizeof(struct tt_edge_key) == 40, "no padding: it is hashed");

/* A sleep at least this long pays for a stack; in the middle of what a walk costs (2 us) x 50. */
#define TT_STACK_MIN_NS 100000
/* A shorter one in so many, where the stack must be taken before the length is known. */
#define TT_STACK_SAMPLE 32

/* What woke the waker counts as the cause of a wake by it while it runs no longer than that. */
#define TT_VIA_NS 10000000

/* Who had the CPU just before a traced thread got it, after a run-queue delay of this length. */
#define TT_HOLDER_MIN_NS 10000
#define TT_MAX_HOLDERS	 8192

struct tt_holder_key {
	__u32 slot; /* of the thread that waited */
	__u32 tid;  /* of the holder; 0 = idle */
};

struct tt_holder {
	__u64 ns;
	__u32 count;
	__u32 pad;
	char comm[TT_COMM_LEN];
};

/* Return addresses, innermost first, 0 after the last. */
#define TT_STACK_DEPTH 48
struct tt_stack {
	__u64 frame[TT_STACK_DEPTH];
};

#define TT_MAX_STACKS 8192
#define TT_MAX_EDGES  16384

/* [begin, end) of the window; programs ignore events outside. Published in the future. */
struct tt_window {
	volatile __u64 begin_ns;
	volatile __u64 end_ns;
};

#define TT_WINDOW_CLOSED (~0ULL)

/* CPUs beyond this share entries: only the rung without type data uses them, to bound a gap. */
#define TT_MAX_CPUS 512

/* Losses that belong to no thread. */
struct tt_losses {
	__u64 no_slot;	 /* thread born while every slot was taken */
	__u64 tid_range; /* tid beyond the table made for pid_max */
	__u64 unknown; /* thread of a traced process that ended and has no record, those two included */
	__u64 edges;   /* wait whose edge could not be kept */
	__u64 stacks;  /* stack that was due and could not be taken or kept */
	__u64 holders; /* run-queue delay whose holder could not be kept */
	__u64 events;  /* of the scheduler, of any task, that did not fit into the ring */
	__u64 slices;  /* of the timeline, that did not fit into its ring */
};

/*
 * One interval that a thread spent in one state, as it was added to its sums: nothing else has to be
 * known to place it, so a lost one costs itself alone. And the head of what other probes put into
 * the same ring, which is likewise what they added to theirs.
 */
struct tt_slice {
	__u64 start_ns;
	__u64 ns;
	__u32 tid;
	__u32 tgid;
	__u32 waker;  /* TT_WAKER that ended it; 0 unless it is a sleep that a wakeup ended */
	__u16 cpu;    /* where it ended */
	__u16 bucket; /* enum tt_bucket, or TT_EVENT_* */
};

#define TT_EVENT_BLOCK	(TT_BUCKET_SLOTS + 0)
#define TT_EVENT_FAULTS (TT_BUCKET_SLOTS + 1)
#define TT_EVENT_CALL	(TT_BUCKET_SLOTS + 2)

#define TT_QUEUE_UNKNOWN (~0ULL)

/* A block request: the head is its time in the device, from the issue on. */
struct tt_event_block {
	struct tt_slice head;
	__u64 queue_ns; /* before it; TT_QUEUE_UNKNOWN: from before the window */
	__u32 dev;
	__u32 op; /* enum tt_block_op */
	__u32 bytes;
	__u32 pad;
};

/* Page faults of one thread: a major one, 0 ns long, or minor ones, from the first to the last. */
struct tt_event_faults {
	struct tt_slice head;
	__u32 count;
	__u32 major;
};

/* A call; or the queries of a loop, with the time between them. */
struct tt_event_call {
	struct tt_slice head;
	__u64 bytes;
	__u32 kind; /* enum tt_cuda_kind */
	__u32 calls;
};

#endif /* __TEGRATRACE_ABI_H */
