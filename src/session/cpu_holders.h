/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who had the CPU: while threads of the target waited for one, and over the window on the whole
 * machine. Filled by src/probe/waits/blame.c and src/probe/machine/top_processes.c.
 */
#ifndef TEGRATRACE_CPU_HOLDERS_H
#define TEGRATRACE_CPU_HOLDERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum holder_kind {
	HOLDER_OWN,	/* a thread of the target */
	HOLDER_PROCESS, /* a thread outside */
	HOLDER_KERNEL,	/* a kernel thread; a threaded interrupt's name begins with "irq/" */
	HOLDER_IDLE,	/* nobody: the quota was used up, or the CPU was just waking up */
	HOLDER_ENDED,	/* a task that had ended when it was asked for: only its name is known */
	HOLDER_OTHERS,	/* the rest of one waiter's holders, added up */
};

/* "own", "process", "kernel", "idle", "ended", "others" */
const char *holder_kind_name(enum holder_kind kind);

/* All text is sanitised. */
struct cpu_holder {
	pid_t pid; /* of the waiter */
	pid_t tid; /* 0: exited threads of this group */
	char group[32];
	enum holder_kind kind;
	pid_t holder_pid, holder_tid; /* 0 unknown or none */
	char name[64];		      /* of the thread; of others "7 more" */
	char process[64];	      /* of its process; empty unknown or none */
	int policy;		      /* SCHED_*; -1 unknown */
	int rt_priority;	      /* 1-99; 0 none, -1 unknown */
	int64_t ns, count;	      /* time waited for it, and how often */
	int64_t waited_ns;	      /* the waiter for a CPU in all: its list may be less */
	double share;		      /* ns of waited_ns */
};

/* "other", "fifo", "rr", "batch", "idle", "deadline", "ext"; NULL unknown. */
const char *sched_policy_name(int policy);

/* A process outside the target that used much CPU time. */
struct top_process {
	pid_t pid;
	char comm[64];	  /* sanitised */
	double cpu_share; /* of one CPU over the window: 2 = two CPUs */
};

#define TOP_PROCESSES 5

#endif
