/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/map_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than a hash bucket ever holds, so that no batch ends in the middle of one. */
#define BATCH 1024

int map_table_read(struct map_table *table, int fd, size_t max_entries, size_t key_size,
		   size_t value_size)
{
	size_t room = max_entries + BATCH;
	uint32_t count, position;
	void *in = NULL;
	int err = 0;

	memset(table, 0, sizeof(*table));
	table->key_size = key_size;
	table->value_size = value_size;
	table->keys = malloc(room * key_size);
	table->values = malloc(room * value_size);
	if (!table->keys || !table->values)
		err = -ENOMEM;
	while (!err && table->n + BATCH <= room) {
		count = BATCH;
		err = bpf_map_lookup_batch(
			fd, in, &position, (char *)table->keys + table->n * key_size,
			(char *)table->values + table->n * value_size, &count, NULL);
		if (!err || err == -ENOENT)
			table->n += count;
		in = &position;
	}
	if (!err || err == -ENOENT)
		return 0;
	map_table_free(table);
	return err;
}

void map_table_free(struct map_table *table)
{
	free(table->keys);
	free(table->values);
	memset(table, 0, sizeof(*table));
}
