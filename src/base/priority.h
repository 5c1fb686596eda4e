/* SPDX-License-Identifier: GPL-2.0-only */
/* Work that must not wait for the threads that are measured. */
#ifndef TEGRATRACE_PRIORITY_H
#define TEGRATRACE_PRIORITY_H

#include <sched.h>
#include <stdbool.h>

struct priority {
	bool real_time;
	int policy, nice;
	struct sched_param param;
};

/*
 * The calling thread goes before all of the ordinary policies, or where that is refused (no CAP_SYS_NICE; a
 * group without a real-time share, RT_GROUP_SCHED) it is as nice as it may be. Children do not
 * inherit a real-time policy.
 */
void priority_raise(struct priority *before);

/* As it was. */
void priority_restore(const struct priority *before);

#endif
