/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the thread that feeds the GPU waits for in the end: its own time, and where it waits for
 * another traced thread, that thread's time in its stead, and so on. Pure: reads the session only.
 */
#ifndef TEGRATRACE_WAIT_PATH_H
#define TEGRATRACE_WAIT_PATH_H

#include "session/session.h"

enum path_end {
	PATH_CPU,  /* computing */
	PATH_RUNQ, /* runnable without a CPU */
	PATH_GPU,  /* waiting or spinning for the GPU */
	PATH_DISK,
	PATH_FAULT,
	PATH_LOCK,
	PATH_INPUT, /* timer, network, device, child or another process */
	PATH_UNKNOWN,
	PATH_ENDS,
};

struct path_part {
	double share;			  /* of the window, 0-1; NAN without a feeder */
	const struct thread_account *top; /* the thread with most of it; NULL when 0 */
	double top_share;
	const struct wait_edge
		*edge; /* the largest wait of `top` that ends so; NULL for CPU, RUNQ */
};

struct wait_path {
	const struct thread_account *feeder; /* NULL: no thread was seen to use the GPU */
	struct path_part parts[PATH_ENDS];   /* shares add up to 1 with a feeder */
};

/*
 * How a waker spent the time that it was waited for is not recorded, so its whole window stands for
 * it, less its waits for threads earlier on the path: an estimate, exact where a thread's mix does
 * not change.
 */
void wait_path_find(const struct session *session, struct wait_path *path);

#endif
