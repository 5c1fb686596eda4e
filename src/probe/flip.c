/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/flip.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#define BATCH 512 /* more than the entries of any one bucket, which the kernel takes whole */

int flip_open(struct flip *flip, const struct bpf_object *object, __u32 *active)
{
	static const char *const names[] = {"flip_a", "flip_b"};

	for (int i = 0; i < 2; i++) {
		const struct bpf_map *map = bpf_object__find_map_by_name(object, names[i]);

		if (!map)
			return -ENOENT;
		flip->fds[i] = bpf_map__fd(map);
		flip->key_size = bpf_map__key_size(map);
		flip->value_size = bpf_map__value_size(map);
	}
	flip->active = active;
	return 0;
}

static int empty(struct flip *flip, int fd, flip_fn fn, void *ctx)
{
	char *keys = malloc(BATCH * flip->key_size), *values = malloc(BATCH * flip->value_size);
	__u32 position, *in = NULL;
	int err = keys && values ? 0 : -ENOMEM;

	while (!err) {
		__u32 n = BATCH;

		err = bpf_map_lookup_and_delete_batch(fd, in, &position, keys, values, &n, NULL);
		if (err && err != -ENOENT)
			break;
		for (__u32 i = 0; i < n; i++)
			fn(ctx, keys + i * flip->key_size, values + i * flip->value_size);
		in = &position;
	}
	free(keys);
	free(values);
	return err == -ENOENT ? 0 : err;
}

int flip_tick(struct flip *flip, flip_fn fn, void *ctx)
{
	__u32 active = *flip->active;
	int err = empty(flip, flip->fds[!active], fn, ctx);

	*flip->active = !active;
	return err;
}

int flip_finish(struct flip *flip, flip_fn fn, void *ctx)
{
	int err = empty(flip, flip->fds[0], fn, ctx), err2 = empty(flip, flip->fds[1], fn, ctx);

	return err ? err : err2;
}
