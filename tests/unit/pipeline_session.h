/* SPDX-License-Identifier: GPL-2.0-only */
/* A session of threads and their waits, in thousandths of its window. Include it after cmocka.h. */
#ifndef TEGRATRACE_TEST_PIPELINE_SESSION_H
#define TEGRATRACE_TEST_PIPELINE_SESSION_H

#include <stdio.h>
#include <string.h>

#include "session/session.h"

#define PIPELINE_PID 100

static struct session session;

static int64_t part_ns(int parts)
{
	return parts * session_duration_ns(&session) / 1000;
}

/* The rest of the window is sleep. */
static struct thread_account *add(pid_t tid, const char *name, int oncpu, int runq)
{
	struct thread_account *thread = session_add_thread(&session);

	thread->pid = PIPELINE_PID;
	thread->tid = tid;
	strcpy(thread->comm, name);
	strcpy(thread->group, name);
	thread->wall_ns = session_duration_ns(&session);
	thread->oncpu_ns = part_ns(oncpu);
	thread->runq_wake_ns = part_ns(runq);
	thread->offcpu_ns = thread->wall_ns - part_ns(oncpu + runq);
	for (int i = 0; i < WAIT_CLASSES; i++)
		thread->wait_ns[i] = 0;
	return thread;
}

/* waker: 0 = none was seen. */
static struct wait_edge *wait_for(pid_t waiter, enum wait_class class, int parts, pid_t waker,
				  const char *name)
{
	struct wait_edge *edge = session_add_edge(&session);

	edge->pid = PIPELINE_PID;
	edge->tid = waiter;
	edge->class = class;
	edge->ns = part_ns(parts);
	edge->count = 101;
	edge->waker_kind = waker ? WAKER_THREAD : WAKER_NONE;
	edge->waker_pid = waker ? PIPELINE_PID : 0;
	edge->waker_tid = waker;
	snprintf(edge->waker, sizeof(edge->waker), "%s", name);
	for (size_t i = 0; i < session.nthreads; i++) {
		if (session.threads[i].tid == waiter)
			session.threads[i].wait_ns[class] += part_ns(parts);
	}
	return edge;
}

#endif
