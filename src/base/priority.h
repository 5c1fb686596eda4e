/* SPDX-License-Identifier: GPL-2.0-only */
/* Work that must not wait for the threads that are measured. */
#ifndef TEGRATRACE_PRIORITY_H
#define TEGRATRACE_PRIORITY_H

#include <sched.h>
#include <stdbool.h>

struct priority {
	bool raised;
	int policy;
	struct sched_param param;
};

/*
 * Before all threads of the ordinary policies, or where that is refused (no CAP_SYS_NICE; a group without
 * a real-time share, RT_GROUP_SCHED) at least as nice as can be, which stays. Of the calling thread; a
 * child does not inherit it.
 */
void priority_raise(struct priority *before);

/* As it was. */
void priority_restore(const struct priority *before);

#endif
