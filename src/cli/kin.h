/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What descends from the commands that this process starts, so that one that is ended leaves nothing
 * running beside the next. Whatever descends from a command counts, also in a session of its own.
 */
#ifndef TEGRATRACE_KIN_H
#define TEGRATRACE_KIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/command.h"
#include "probe/targets/targets.h"

struct kin_member;

/* All zero is one that knows nobody. */
struct kin {
	bool adopts; /* orphans become our children, so none is lost */
	bool blind;  /* /proc numbers processes otherwise than kill() does */
	struct kin_member *members;
	int n, capacity;
};

/* Those found alive: how many, and "12 (infer), 34 (python3) and 5 more". */
struct kin_left {
	int n;
	char list[TARGETS_LIST_SIZE];
};

/* Before the first command is started. */
void kin_open(struct kin *kin);
void kin_close(struct kin *kin);

/* Waits for orphans that have ended, so that no zombies gather; not for two children of our own, or 0. */
void kin_reap(const struct kin *kin, pid_t command, pid_t other);

/* What lives now, from earlier commands, is not the next one's and stays when that is ended. */
void kin_spare(struct kin *kin, struct kin_left *left);

/*
 * SIGTERM to a command, or NULL, and to all that descends from it; after grace_ns, with by_force, SIGKILL.
 * Returns when all have ended, or cannot be made to: *left tells which.
 */
void kin_end(struct kin *kin, struct command *command, int64_t grace_ns, bool by_force,
	     struct kin_left *left);

#endif
