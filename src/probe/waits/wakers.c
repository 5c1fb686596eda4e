/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/wakers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/waits/interrupts.h"
#include "probe/procfs.h"

#define CACHE 128  /* by tid; a power of two */
#define ENDED 1024 /* threads remembered, by tid; a power of two */

struct wakers {
	const struct tracer *tracer;
	const struct session *session;
	struct interrupts interrupts;
	bool interrupts_read;
	struct waker cache[CACHE];
	struct {
		pid_t pid, tid;
		char comm[TT_COMM_LEN];
	} ended[ENDED];
};

bool wakers_same(const struct waker *a, const struct waker *b, bool by_name)
{
	return a->kind == b->kind && (by_name || a->tid == b->tid) && !strcmp(a->name, b->name);
}

struct wakers *wakers_new(const struct tracer *tracer, const struct session *session)
{
	struct wakers *wakers = calloc(1, sizeof(*wakers));

	if (!wakers)
		return NULL;
	wakers->tracer = tracer;
	wakers->session = session;
	return wakers;
}

void wakers_free(struct wakers *wakers)
{
	if (!wakers)
		return;
	interrupts_free(&wakers->interrupts);
	free(wakers);
}

void wakers_forget(struct wakers *wakers)
{
	memset(wakers->cache, 0, sizeof(wakers->cache));
}

static bool is_target(const struct wakers *wakers, pid_t pid)
{
	const struct session *session = wakers->session;

	if (!pid)
		return false;
	if (tracer_traces(wakers->tracer, pid))
		return true;
	for (int i = 0; i < session->ntargets && i < SESSION_TARGETS; i++) {
		if (session->targets[i].pid == pid)
			return true;
	}
	for (size_t i = 0; i < session->nthreads; i++) {
		if (session->threads[i].pid == pid)
			return true;
	}
	return false;
}

static void set_name(struct waker *waker, const char *comm, size_t size)
{
	text_sanitize(waker->name, sizeof(waker->name), comm, strnlen(comm, size));
}

void wakers_note_ended(struct wakers *wakers, pid_t pid, pid_t tid, const char comm[TT_COMM_LEN])
{
	size_t place = (size_t)tid & (ENDED - 1);

	wakers->ended[place].pid = pid;
	wakers->ended[place].tid = tid;
	memcpy(wakers->ended[place].comm, comm, TT_COMM_LEN);
}

static void ask_ended(const struct wakers *wakers, pid_t tid, struct waker *waker)
{
	size_t place = (size_t)tid & (ENDED - 1);

	if (wakers->ended[place].tid != tid)
		return;
	waker->kind = WAKER_THREAD;
	waker->pid = wakers->ended[place].pid;
	set_name(waker, wakers->ended[place].comm, TT_COMM_LEN);
}

void wakers_name_late(const struct wakers *wakers, struct waker *waker)
{
	if (waker->tid && !*waker->name)
		ask_ended(wakers, waker->tid, waker);
}

static void ask_proc(struct wakers *wakers, pid_t tid, struct waker *waker)
{
	struct procfs_status status;
	struct procfs_stat stat;

	waker->tid = tid;
	waker->kind = tracer_traces(wakers->tracer, tid) ? WAKER_THREAD : WAKER_PROCESS;
	/* every thread has a directory of its own, though /proc does not list it */
	if (procfs_task_stat(tid, PROCFS_PROCESS, &stat) ||
	    procfs_status(tid, PROCFS_PROCESS, &status)) {
		ask_ended(wakers, tid, waker);
		return;
	}
	waker->pid = status.tgid;
	set_name(waker, stat.comm, sizeof(stat.comm));
	if (procfs_is_kthread(&stat))
		waker->kind = WAKER_KERNEL;
	else if (is_target(wakers, waker->pid))
		waker->kind = WAKER_THREAD;
}

static void name_task(struct wakers *wakers, pid_t tid, const struct tt_edge *value,
		      struct waker *waker)
{
	struct waker *cached = &wakers->cache[tid & (CACHE - 1)];

	if (cached->tid != tid) {
		memset(cached, 0, sizeof(*cached));
		ask_proc(wakers, tid, cached);
	}
	*waker = *cached;
	if (!value || !value->waker_tgid || waker->pid == (pid_t)value->waker_tgid)
		return;
	/* It has ended, and another may have its tid: what the kernel noted then holds. */
	waker->pid = value->waker_tgid;
	waker->kind = is_target(wakers, waker->pid) ? WAKER_THREAD : WAKER_PROCESS;
	set_name(waker, value->waker_comm, sizeof(value->waker_comm));
}

static void name_interrupt(struct wakers *wakers, unsigned int irq, struct waker *waker)
{
	const char *action;

	waker->kind = WAKER_IRQ;
	if (!wakers->interrupts_read)
		interrupts_read(&wakers->interrupts, NULL);
	wakers->interrupts_read = true;
	action = interrupts_name(&wakers->interrupts, (int)irq);
	snprintf(waker->name, sizeof(waker->name), "irq %u%s%s", irq, action ? " " : "",
		 action ? action : "");
}

void wakers_name(struct wakers *wakers, __u32 id, const struct tt_edge *value, struct waker *waker)
{
	__u32 what = id & TT_WAKER_ID_MASK;

	memset(waker, 0, sizeof(*waker));
	switch (id >> TT_WAKER_KIND_SHIFT) {
	case TT_WAKER_TASK:
		if (what)
			name_task(wakers, (pid_t)what, value, waker);
		else
			waker->kind = WAKER_IRQ;
		break;
	case TT_WAKER_IRQ:
		name_interrupt(wakers, what, waker);
		break;
	case TT_WAKER_SOFTIRQ:
		waker->kind = WAKER_SOFTIRQ;
		snprintf(waker->name, sizeof(waker->name), "softirq %s",
			 softirq_name(what) ? softirq_name(what) : "?");
		break;
	case TT_WAKER_TIMER:
		waker->kind = WAKER_TIMER;
		break;
	}
}
