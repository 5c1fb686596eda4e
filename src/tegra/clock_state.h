/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What must be put back, on disk before anything is changed: a small text file in a folder that only
 * root can write to. Both are hostile until looked at, since root acts on what they say.
 */
#ifndef TEGRATRACE_TEGRA_CLOCK_STATE_H
#define TEGRATRACE_TEGRA_CLOCK_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CLOCK_STATE_LINE 512 /* of the messages below */
#define CLOCK_BOOT_ID	 37

struct clock_state {
	char boot_id[CLOCK_BOOT_ID]; /* locked clocks do not survive a boot, the power mode does */
	pid_t pid;		     /* of the run */
	int mode_before, mode_set;   /* ids of nvpmodel.conf; -1: the power mode is left as it is */
};

/* Returns the length, or -EINVAL when it does not fit. */
int clock_state_format(const struct clock_state *state, char *text, size_t size);

/* Returns 0, or -EBADMSG when it is not to the letter what clock_state_format() makes. */
int clock_state_parse(struct clock_state *state, const char *text);

/* Of the kernel that runs; empty when unknown. */
void clock_state_boot_id(char boot_id[CLOCK_BOOT_ID]);

/* The folder's path, for messages and for programs. False when it is too long. */
bool clock_state_folder(char *path, size_t size);

/* All of these return 0 or -errno with one sentence in `line`; fds are -1 then. */

/* -ENOENT when it is not there, unless it is to be made; -EPERM when others may write to it. */
int clock_state_open(bool make, int *folder, char *line, size_t size);

/* -ENOENT: there is none. -EPERM: not a file of root's alone. -EBADMSG: not ours. */
int clock_state_read(int folder, struct clock_state *state, char *line, size_t size);

/* On the disk when it returns. */
int clock_state_write(int folder, const struct clock_state *state, char *line, size_t size);

/* With the settings that jetson_clocks stored. */
int clock_state_remove(int folder, char *line, size_t size);

/* Name in the folder of what jetson_clocks stores. */
#define CLOCK_STATE_STORED "jetson_clocks.conf"

/* Brings it to the disk, after looking that it is a file of root's alone and holds something. */
int clock_state_keep_stored(int folder, char *line, size_t size);

/*
 * One run at a time: the descriptor to keep, by the kernel given back at the end of whatever
 * process holds it. -EWOULDBLOCK: a run has it. -EACCES: not root.
 */
int clock_state_lock(int folder, int *lock);

#endif
