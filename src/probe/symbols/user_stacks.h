/* SPDX-License-Identifier: GPL-2.0-only */
/* User stacks that BPF programs kept (bpf/stacks.h), as numbers of user symbols. */
#ifndef TEGRATRACE_USER_STACKS_H
#define TEGRATRACE_USER_STACKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "probe/symbols/user_symbols.h"

struct user_stacks;

/* `stacks_fd`: the map. Keeps the pointer. NULL when out of memory. */
struct user_stacks *user_stacks_new(int stacks_fd, struct user_symbols *symbols);
void user_stacks_free(struct user_stacks *stacks);

/* Place the frames of a stack: call during the run, while the process lives. */
void user_stacks_note(struct user_stacks *stacks, pid_t pid, uint64_t key);

/* Symbol numbers of a noted stack, innermost first. Returns how many; 0 = not known. */
size_t user_stacks_frames(const struct user_stacks *stacks, pid_t pid, uint64_t key,
			  const int **numbers);

/* The same as text, outermost first, ";" between; nothing for a stack that is not known. */
void user_stacks_fold(const struct user_stacks *stacks, pid_t pid, uint64_t key, FILE *out);

#endif
