/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAST_NICE (-20)

static id_t self(void)
{
	return (id_t)syscall(SYS_gettid);
}

void priority_raise(struct priority *before)
{
	const struct sched_param lowest = {.sched_priority = 1};

	before->policy = sched_getscheduler(0);
	before->real_time = before->policy >= 0 && !sched_getparam(0, &before->param) &&
			    !sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
	if (before->real_time)
		return;
	before->nice = getpriority(PRIO_PROCESS, self());
	setpriority(PRIO_PROCESS, self(), LEAST_NICE);
}

void priority_restore(const struct priority *before)
{
	if (before->real_time)
		sched_setscheduler(0, before->policy, &before->param);
	else
		setpriority(PRIO_PROCESS, self(), before->nice);
}
