/* SPDX-License-Identifier: GPL-2.0-only */
/* A whole BPF hash map at once. Private to src/probe. */
#ifndef TEGRATRACE_MAP_TABLE_H
#define TEGRATRACE_MAP_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct map_table {
	void *keys, *values; /* n of each, malloc'd */
	size_t n;
	size_t key_size, value_size;
};

/* Reads up to max_entries of the map. Returns 0 or -errno; then the table is empty. */
int map_table_read(struct map_table *table, int fd, size_t max_entries, size_t key_size,
		   size_t value_size);
void map_table_free(struct map_table *table);

#endif
