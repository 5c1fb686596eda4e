/* SPDX-License-Identifier: GPL-2.0-only */
/* Bounded queues between the stages of a pipeline; a frame is the time at which it was captured. */
#ifndef __FRAMES_H
#define __FRAMES_H

#include "workload.h"

#define FRAMES_MAX 101

struct frames {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	uint64_t frame[FRAMES_MAX];
	int depth, first, count, writers;
};

static inline void frames_init(struct frames *q, int depth, int writers)
{
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->filled, NULL);
	pthread_cond_init(&q->emptied, NULL);
	q->depth = depth;
	q->writers = writers;
}

/* *waited_ns grows by the time that there was no room. */
static inline void frames_push(struct frames *q, uint64_t frame, uint64_t *waited_ns)
{
	uint64_t t0;

	pthread_mutex_lock(&q->lock);
	if (q->count == q->depth) {
		t0 = wl_now();
		while (q->count == q->depth)
			pthread_cond_wait(&q->emptied, &q->lock);
		*waited_ns += wl_now() - t0;
	}
	q->frame[(q->first + q->count++) % q->depth] = frame;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

/* False: empty, and nobody is left who writes. *waited_ns grows by the time that there was none. */
static inline bool frames_pop(struct frames *q, uint64_t *frame, uint64_t *waited_ns)
{
	uint64_t t0;
	bool got;

	pthread_mutex_lock(&q->lock);
	if (!q->count && q->writers) {
		t0 = wl_now();
		while (!q->count && q->writers)
			pthread_cond_wait(&q->filled, &q->lock);
		*waited_ns += wl_now() - t0;
	}
	got = q->count > 0;
	if (got) {
		*frame = q->frame[q->first];
		q->first = (q->first + 1) % q->depth;
		q->count--;
		pthread_cond_signal(&q->emptied);
	}
	pthread_mutex_unlock(&q->lock);
	return got;
}

/* A writer ends. */
static inline void frames_leave(struct frames *q)
{
	pthread_mutex_lock(&q->lock);
	q->writers--;
	pthread_cond_broadcast(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

#endif /* __FRAMES_H */
