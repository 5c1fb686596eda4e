/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a BPF hash map is, in plain memory: a fixed number of rows of fixed size, compared by their
 * bytes. Not for several threads at once. Private to src/probe.
 */
#ifndef TEGRATRACE_HASH_TABLE_H
#define TEGRATRACE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/map_table.h"

struct hash_table;

/* NULL when out of memory. Pages are only taken as rows are. */
struct hash_table *hash_table_new(size_t max_rows, size_t key_size, size_t value_size);
void hash_table_free(struct hash_table *table);

/* The value; NULL for none. Valid until the row is deleted. */
void *hash_table_find(const struct hash_table *table, const void *key);

/* A new row, its value zeroed; the key must not be there yet. NULL when the table is full. */
void *hash_table_add(struct hash_table *table, const void *key);

/* False when there is no such row. */
bool hash_table_delete(struct hash_table *table, const void *key);

/* A copy of all rows. Returns 0 or -ENOMEM. */
int hash_table_read(const struct hash_table *table, struct map_table *rows);

#endif
