/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads waited for: the classes, the edges waiter <- waker, and the kernel and user stacks of
 * the longer waits. Filled by src/probe/waits/waits.c.
 */
#ifndef TEGRATRACE_WAITS_H
#define TEGRATRACE_WAITS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum wait_class {
	WAIT_GPU,     /* the GPU or another engine: driver wait, sync fence, CUDA call */
	WAIT_DISK,    /* block I/O, fsync */
	WAIT_FAULT,   /* page fault that had to read: file mapping, swap */
	WAIT_LOCK,    /* a contended lock */
	WAIT_THREAD,  /* another traced thread: condition variable, pipe, queue */
	WAIT_PROCESS, /* a thread outside the target */
	WAIT_NET,
	WAIT_DEVICE, /* camera, sound, terminal, another driver */
	WAIT_TIMER,  /* a sleep or a timeout */
	WAIT_CHILD,
	WAIT_EVENT, /* poll or epoll, and the waker does not tell for what */
	WAIT_OTHER, /* not told apart; named by its innermost kernel function where one is known */
	WAIT_CLASSES,
};

/* "gpu", "disk", ...: the keys of threads[].wait in the JSON. */
const char *wait_class_name(enum wait_class wait);

enum waker_kind {
	WAKER_NONE,    /* not seen, or the wait did not end in the window */
	WAKER_THREAD,  /* of the target */
	WAKER_PROCESS, /* a thread outside */
	WAKER_KERNEL,  /* a kernel thread: kworker, threaded interrupt */
	WAKER_IRQ,
	WAKER_SOFTIRQ,
	WAKER_TIMER,
	WAKER_KINDS,
};

/* "none", "thread", ...: edges[].waker.kind in the JSON. */
const char *waker_kind_name(enum waker_kind kind);

/* All text is sanitised. */
struct wait_edge {
	pid_t pid; /* of the waiter */
	pid_t tid; /* 0: exited threads of this group */
	char group[32];
	enum waker_kind waker_kind;
	pid_t waker_pid, waker_tid; /* 0 unknown or no task */
	char waker[48];		    /* "preproc-3", "irq 37 nvme0q1", "softirq NET_RX"; empty */
	char via[48];		    /* what had woken the waker, where that gave the class; empty */
	enum wait_class class;
	char site
		[64]; /* "futex", "ioctl /dev/nvhost-ctrl", "page fault", a kernel function; empty */
	int64_t ns, count, max_ns;
	int stack; /* of session.stacks; -1 = none */
};

/* Time by stack, outermost frame first, ";" between; kernel frames end in "_[k]". */
struct wait_stack {
	pid_t pid, tid; /* tid 0: exited threads */
	char group[32];
	enum wait_class class;
	char *frames; /* malloc'd, sanitised */
	int64_t ns, count;
};

/* How well the causes of the sleep of all threads are founded. */
struct wait_coverage {
	int64_t ns;	       /* sleep that has an edge */
	int64_t with_stack_ns; /* of it with a kernel stack */
	int64_t estimated_ns;  /* of it judged by other sleeps of the same thread and waker */
};

#endif
