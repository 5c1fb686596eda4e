/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Readers of /proc that allocate nothing. Formats: proc(5) and, for exact fields, fs/proc/array.c
 * and fs/proc/stat.c of Linux.
 *
 * Return: 0 (or a stated value) on success, else a negative errno, the same for all readers:
 *   -ESRCH	the process or thread does not exist, or ended while it was read
 *   -EACCES, -EPERM	not allowed
 *   -EINVAL	a pid below 1
 *   -EBADMSG	the file is there but is not of the documented form
 * A number that the kernel does not give is PROCFS_UNKNOWN, never 0.
 *
 * Names (comm) are raw bytes as the kernel gives them: pass them through text_sanitize().
 */
#ifndef TEGRATRACE_PROCFS_H
#define TEGRATRACE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCFS_UNKNOWN	   (-1)
#define PROCFS_MAX_CPUS	   1024
#define PROCFS_MAX_PID	   4194304     /* PID_MAX_LIMIT of 64-bit kernels */
#define PROCFS_COMM_SIZE   64	       /* 15 bytes for user threads, kworkers give more */
#define PROCFS_MAX_NESTING 33	       /* MAX_PID_NS_LEVEL and the initial one */
#define PROCFS_INIT_PID_NS 0xeffffffcu /* PROC_PID_INIT_INO: the initial PID namespace */

/* Stands for the process, rather than one thread, where a tid is asked for. */
#define PROCFS_PROCESS 0

/* /proc/PID/stat (sums over the threads) or /proc/PID/task/TID/stat */
struct procfs_stat {
	char comm[PROCFS_COMM_SIZE];
	char state;	/* R S D Z T t X x K W P I */
	pid_t ppid;	/* 0: none, a fact */
	uint32_t flags; /* PF_* */
	int64_t minflt;
	int64_t majflt;
	int64_t utime_ticks; /* units of 1/sysconf(_SC_CLK_TCK) s */
	int64_t stime_ticks;
	int64_t num_threads;
	uint64_t starttime_ticks;  /* since boot; with the pid it names a process for good */
	int processor;		   /* where it ran last */
	int rt_priority;	   /* 1-99 of real-time policies, 0 for others */
	int policy;		   /* SCHED_* */
	int64_t blkio_delay_ticks; /* 0 also where delay accounting is off: procfs_delayacct() */
};

/* /proc/PID/status (of its leader) or /proc/PID/task/TID/status */
struct procfs_status {
	pid_t pid;
	pid_t tgid;
	pid_t ppid;
	int64_t uid; /* real */
	int64_t euid;
	int nspid_count; /* PROCFS_UNKNOWN: none given; above 1: in a nested PID namespace */
	pid_t nspid[PROCFS_MAX_NESTING]; /* outermost first */
	int64_t voluntary_switches;
	int64_t nonvoluntary_switches;
};

/* One line of /proc/stat, ticks since boot; user includes guest, nice includes guest_nice */
struct procfs_cpu {
	int id; /* -1: the sum of all */
	int64_t user, nice, system, idle, iowait, irq, softirq, steal;
};

/* About 72 KiB: not for the stack */
struct procfs_cpu_totals {
	struct procfs_cpu all;
	int n;
	int dropped;				/* online CPUs beyond PROCFS_MAX_CPUS, left out */
	struct procfs_cpu cpu[PROCFS_MAX_CPUS]; /* online ones, ids ascend with gaps */
};

/*
 * Reads below @root ("/proc" if NULL), for fixtures. Not to be called while other threads read.
 * -ENAMETOOLONG if it is too long.
 */
int procfs_set_root(const char *root);

/* Path of a file of a process or thread. -EINVAL, -ENAMETOOLONG. */
int procfs_path(char *path, size_t size, pid_t pid, pid_t tid, const char *name);

/* Our own pid as this procfs numbers it; getpid() where it does not tell. */
pid_t procfs_self(void);

int procfs_task_stat(pid_t pid, pid_t tid, struct procfs_stat *st);
bool procfs_is_kthread(const struct procfs_stat *st);
/* Has ended, and no other thread of it lives (a leader may end before its threads do) */
bool procfs_is_dead(const struct procfs_stat *st);

/*
 * Time on a CPU, time waiting for one (ns) and number of slices. With PROCFS_PROCESS these are
 * of the leader thread only. -EOPNOTSUPP where the kernel keeps no such books.
 */
int procfs_schedstat(pid_t pid, pid_t tid, uint64_t *oncpu_ns, uint64_t *runq_ns, uint64_t *slices);

int procfs_status(pid_t pid, pid_t tid, struct procfs_status *st);

/* The text of a small file of a thread, cut to @size and ended by a NUL; returns its length. */
int procfs_task_text(pid_t pid, pid_t tid, const char *name, char *buf, size_t size);

/* Raw name without the closing newline; returns its length. */
int procfs_comm(pid_t pid, pid_t tid, char *buf, size_t size);

/*
 * First word of the command line; returns its length. -ENODATA: there is none (kernel thread,
 * zombie); -ENAMETOOLONG: does not fit in @size.
 */
int procfs_argv0(pid_t pid, char *buf, size_t size);

/*
 * Calls @cb for every process, or every thread of a process. It stops at the first call that
 * does not return 0, and returns that value.
 */
typedef int (*procfs_pid_fn)(void *ctx, pid_t pid);
typedef int (*procfs_task_fn)(void *ctx, pid_t pid, pid_t tid);
int procfs_for_each_pid(procfs_pid_fn cb, void *ctx);
int procfs_for_each_task(pid_t pid, procfs_task_fn cb, void *ctx);

int procfs_cpu_totals(struct procfs_cpu_totals *totals);

/* Inode that names the PID namespace of @pid; 0 asks for our own. */
int procfs_ns_pid_inode(pid_t pid, uint64_t *inode);

/* Is delay accounting on: 1, 0, or -ENOENT before Linux 5.14, where it is on if built in. */
int procfs_delayacct(void);

#endif
