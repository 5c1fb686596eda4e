/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICEST (-20)

void priority_raise(struct priority *before)
{
	const struct sched_param lowest = {.sched_priority = 1};

	before->policy = sched_getscheduler(0);
	before->raised = before->policy >= 0 && !sched_getparam(0, &before->param) &&
			 !sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
	if (!before->raised)
		setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICEST);
}

void priority_restore(const struct priority *before)
{
	if (before->raised)
		sched_setscheduler(0, before->policy, &before->param);
}
