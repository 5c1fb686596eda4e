/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/cpu_holders.h"

const char *holder_kind_name(enum holder_kind kind)
{
	static const char *const names[] = {
		[HOLDER_OWN] = "own",	[HOLDER_PROCESS] = "process", [HOLDER_KERNEL] = "kernel",
		[HOLDER_IDLE] = "idle", [HOLDER_ENDED] = "ended",     [HOLDER_OTHERS] = "others",
	};

	return names[kind];
}

/* Numbers of include/uapi/linux/sched.h; SCHED_EXT came with Linux 6.12. */
const char *sched_policy_name(int policy)
{
	static const char *const names[] = {
		[0] = "other", [1] = "fifo",	 [2] = "rr",  [3] = "batch",
		[5] = "idle",  [6] = "deadline", [7] = "ext",
	};

	if (policy < 0 || policy >= (int)(sizeof(names) / sizeof(names[0])))
		return NULL;
	return names[policy];
}
