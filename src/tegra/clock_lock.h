/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Power mode and clocks for the time of a run, by the board's own programs, and back. What was there
 * before is on disk (clock_state.h) before anything is changed, so that whatever ends the process,
 * the next one can put it back. The caller blocks signals meanwhile.
 */
#ifndef TEGRATRACE_TEGRA_CLOCK_LOCK_H
#define TEGRATRACE_TEGRA_CLOCK_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "tegra/clock_state.h"

struct clock_wish {
	bool lock;		/* jetson_clocks: every clock at the largest that its mode allows */
	const char *power_mode; /* id or name of this board's nvpmodel.conf; NULL: as it is */
};

struct clock_lock;

/*
 * Returns 0, or -errno with one sentence in `line` and nothing changed. *lock is NULL when there was
 * nothing to do. -EPERM: not root. -ENOENT: no such program. -EINVAL: no such mode, or one that wants
 * a reboot. -EWOULDBLOCK: another run has changed them. `left` says that clocks which an earlier run
 * had left were put back first.
 */
int clocks_lock(struct clock_lock **lock, const struct clock_wish *wish, bool *left, char *line,
		size_t size);

/* What was changed, for people: "power mode MAXN_SUPER, clocks locked". */
const char *clocks_changed(const struct clock_lock *lock);

/*
 * Puts back and frees; NULL is fine. Returns 0, or -errno with one sentence: then the file stays for
 * clocks_repair().
 */
int clocks_restore(struct clock_lock *lock, char *line, size_t size);

/* Only forgets its descriptors, in a forked child: the parent puts back. NULL is fine. */
void clocks_leave(struct clock_lock *lock);

enum clocks_found {
	CLOCKS_OWN,   /* nothing is changed, or a run that goes on has */
	CLOCKS_LEFT,  /* a run that was killed left them; `line` says how */
	CLOCKS_DOUBT, /* what stands there is not trusted; `line` says why */
};

/* Only looks. */
enum clocks_found clocks_look(char *line, size_t size);

/*
 * Puts back what a killed run left. Returns 1 when there was something, 0 when not (also while a run
 * goes on), or -errno with one sentence.
 */
int clocks_repair(char *line, size_t size);

#endif
