/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits on a futex that ran into their timeout. That is no sleep: the thread came back for the same
 * futex, and who ends its other waits there is who it waited for. Private to src/probe.
 */
#ifndef TEGRATRACE_WAIT_FUTEX_H
#define TEGRATRACE_WAIT_FUTEX_H

#include <stddef.h>

#include "probe/waits/raw_waits.h"
#include "probe/waits/wait_rules.h"

/*
 * order[from .. to): the waits of one row. Returns the time (ns) of those judged anew, which is an
 * estimate.
 */
int64_t wait_futex_timeouts(struct raw_waits *raw, struct wait_judgement *judged,
			    const size_t *order, size_t from, size_t to);

#endif
