/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reader of two maps that take turns (bpf/flip.h): nothing that a program counts is lost to the
 * reading, and what is read is gone from the kernel.
 */
#ifndef TEGRATRACE_FLIP_H
#define TEGRATRACE_FLIP_H

#include <bpf/libbpf.h>
#include <linux/types.h>

struct flip {
	int fds[2];
	size_t key_size, value_size;
	volatile __u32 *active; /* shared with the programs */
};

/* The maps of a loaded object. Returns 0 or -ENOENT. */
int flip_open(struct flip *flip, const struct bpf_object *object, __u32 *active);

typedef void (*flip_fn)(void *ctx, const void *key, const void *value);

/*
 * Empty the map that the programs left at the call before, then turn. Call once a tick: by the next
 * call no program still holds an entry of it. Returns 0 or -errno.
 */
int flip_tick(struct flip *flip, flip_fn fn, void *ctx);

/* Empty both; the programs must be detached. */
int flip_finish(struct flip *flip, flip_fn fn, void *ctx);

#endif
