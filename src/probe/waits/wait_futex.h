/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits on futexes, judged beside each other. Private to src/probe. */
#ifndef TEGRATRACE_WAIT_FUTEX_H
#define TEGRATRACE_WAIT_FUTEX_H

#include <stddef.h>

#include "probe/waits/raw_waits.h"
#include "probe/waits/wait_rules.h"
#include "session/session.h"

/*
 * Before they are judged: which waits that look like a lock's are (TT_SITE_FUTEX_LOCK stays or is
 * set). A word on which its process waits in another way too is none: a counter that had a lock's
 * value just then, a barrier's round. TT_SITE_FUTEX_MAYBE is believed where a thread waited so again
 * and again, and threads ended it: a counter would have moved on. Returns 0 or -ENOMEM.
 */
int wait_futex_locks(struct raw_waits *raw, const struct session *session);

/*
 * Waits that ran into their timeout. That is no sleep: the thread came back for the same futex, and
 * who ends its other waits there is who it waited for. order[from .. to): the waits of one row.
 * Returns the time (ns) of those judged anew, which is an estimate.
 */
int64_t wait_futex_timeouts(struct raw_waits *raw, struct wait_judgement *judged,
			    const size_t *order, size_t from, size_t to);

#endif
