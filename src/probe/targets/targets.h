/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the words a user types to the root processes of a trace. Nothing here prints: a failure
 * leaves one line in @err (what failed, on what, why, what to do), and what the user should know
 * about a success goes to the set's note callback. Both are safe for a terminal.
 */
#ifndef TEGRATRACE_TARGETS_H
#define TEGRATRACE_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/procfs.h"

/* A good size for @err and the longest note. */
#define TARGETS_LINE_SIZE 1024

/* Of the processes found, so many are named. */
#define TARGETS_LISTED	  8
#define TARGETS_LIST_SIZE (TARGETS_LISTED * 96)

struct target {
	pid_t pid;		     /* of the process (tgid), as /proc numbers it */
	char comm[PROCFS_COMM_SIZE]; /* raw bytes */
	uint64_t starttime;	     /* ticks since boot: tells a reused pid from this one */
};

typedef void (*targets_note_fn)(void *ctx, const char *line);

/* All zero is an empty set without notes. */
struct target_set {
	struct target *items;
	int n;
	int capacity;
	targets_note_fn note; /* may be NULL */
	void *note_ctx;
};

void targets_free(struct target_set *set);

/* Still there: its pid is no other's, and it is no zombie. */
bool target_lives(const struct target *target);

/* Adds one that was found otherwise, unless it is there. Return: 0 or -ENOMEM. */
int targets_add(struct target_set *set, const struct target *target);

/* "12 (infer), 34 (python3) and 5 more"; TARGETS_LIST_SIZE is enough. */
void targets_list(const struct target_set *set, char *text, size_t size);

/* Adds a process that is traced already, for targets_descendants(). Returns 0 or a negative errno. */
int targets_add_traced(struct target_set *set, pid_t pid);

/*
 * Adds the processes of a list of PIDs, separated by commas or blanks. A thread id stands for
 * its process. A PID that does not exist here, or is a kernel thread, is looked for in nested PID
 * namespaces. One already in the set is not added again. Kernel threads, zombies and ourselves
 * are refused. On failure the set is as before.
 * Return: 0, -EINVAL (not a PID), -ESRCH (no such process), -EPERM (refused), -ENOTUNIQ (several
 * containers have it), or another negative errno.
 */
int targets_add_pids(struct target_set *set, const char *list, char *err, size_t errsize);

/*
 * Adds every process whose comm, or whose base name of the first command line word, is @name.
 * What exceeds 15 bytes of @name is not compared with comm, which holds no more. Left out: kernel
 * threads, zombies, ourselves and the sudo that started us.
 * Return: 0, -EINVAL (no name), -ESRCH (none found), or another negative errno.
 */
int targets_add_name(struct target_set *set, const char *name, char *err, size_t errsize);

/*
 * Adds every process that @match says yes to; it is not asked about kernel threads, zombies,
 * ourselves and the sudo that started us. @n and @list tell of those found, which may be none.
 * Return: 0, or a negative errno with the set as before.
 */
struct targets_scan {
	bool (*match)(struct targets_scan *scan, pid_t pid, const struct procfs_stat *st);
	const void *ctx;
	int n;
	char list[TARGETS_LIST_SIZE]; /* "12 (infer), 34 (python3) and 5 more" */
};
int targets_add_matching(struct target_set *set, struct targets_scan *scan, char *err,
			 size_t errsize);

/*
 * The kernel's ids are those of the initial PID namespace: fails with -EXDEV outside of it.
 * Call it before the others.
 */
int targets_check_own_namespace(char *err, size_t errsize);

/*
 * Calls @cb for each living descendant of the set's processes, parents first, until it returns
 * other than 0, which is passed on. Scans /proc until a scan finds nothing new. A descendant
 * whose parent has already ended belongs to init and is not found. Left out, with what they
 * started: ourselves and the sudo that started us.
 * Return: 0, what @cb returned, or a negative errno.
 */
typedef int (*targets_child_fn)(void *ctx, const struct target *child, pid_t parent);
int targets_descendants(const struct target_set *set, targets_child_fn cb, void *ctx);

#endif
