/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/hash_table.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Rows are numbered from 1; 0 ends a chain. */
struct hash_table {
	size_t max_rows, n, size; /* size: of heads, a power of two */
	size_t key_size, value_size;
	uint32_t *heads;
	uint32_t *next; /* of a chain, or of the free rows */
	uint32_t free;
	uint32_t used; /* rows above it were never taken */
	char *keys, *values;
};

struct hash_table *hash_table_new(size_t max_rows, size_t key_size, size_t value_size)
{
	struct hash_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->max_rows = max_rows;
	table->key_size = key_size;
	table->value_size = value_size;
	table->size = 16;
	while (table->size < max_rows)
		table->size *= 2;
	table->heads = calloc(table->size, sizeof(*table->heads));
	table->next = calloc(max_rows + 1, sizeof(*table->next));
	table->keys = calloc(max_rows + 1, key_size);
	table->values = calloc(max_rows + 1, value_size);
	if (table->heads && table->next && table->keys && table->values)
		return table;
	hash_table_free(table);
	return NULL;
}

void hash_table_free(struct hash_table *table)
{
	if (!table)
		return;
	free(table->heads);
	free(table->next);
	free(table->keys);
	free(table->values);
	free(table);
}

static void *key_at(const struct hash_table *table, uint32_t row)
{
	return table->keys + row * table->key_size;
}

static void *value_at(const struct hash_table *table, uint32_t row)
{
	return table->values + row * table->value_size;
}

/* FNV-1a, its high bits folded in: the low ones alone depend on the low ones of the bytes. */
static uint32_t *head_of(const struct hash_table *table, const void *key)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < table->key_size; i++)
		hash = (hash ^ ((const unsigned char *)key)[i]) * 0x100000001b3ULL;
	hash ^= hash >> 32;
	return &table->heads[hash & (table->size - 1)];
}

void *hash_table_find(const struct hash_table *table, const void *key)
{
	for (uint32_t row = *head_of(table, key); row; row = table->next[row]) {
		if (!memcmp(key_at(table, row), key, table->key_size))
			return value_at(table, row);
	}
	return NULL;
}

void *hash_table_add(struct hash_table *table, const void *key)
{
	uint32_t *head = head_of(table, key), row = table->free;

	if (row)
		table->free = table->next[row];
	else if (table->used < table->max_rows)
		row = ++table->used;
	else
		return NULL;
	memcpy(key_at(table, row), key, table->key_size);
	memset(value_at(table, row), 0, table->value_size);
	table->next[row] = *head;
	*head = row;
	table->n++;
	return value_at(table, row);
}

bool hash_table_delete(struct hash_table *table, const void *key)
{
	for (uint32_t *link = head_of(table, key); *link; link = &table->next[*link]) {
		uint32_t row = *link;

		if (memcmp(key_at(table, row), key, table->key_size))
			continue;
		*link = table->next[row];
		table->next[row] = table->free;
		table->free = row;
		table->n--;
		return true;
	}
	return false;
}

int hash_table_read(const struct hash_table *table, struct map_table *rows)
{
	memset(rows, 0, sizeof(*rows));
	rows->key_size = table->key_size;
	rows->value_size = table->value_size;
	rows->keys = malloc((table->n + 1) * table->key_size);
	rows->values = malloc((table->n + 1) * table->value_size);
	if (!rows->keys || !rows->values) {
		map_table_free(rows);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->size; i++) {
		for (uint32_t row = table->heads[i]; row; row = table->next[row]) {
			memcpy((char *)rows->keys + rows->n * table->key_size, key_at(table, row),
			       table->key_size);
			memcpy((char *)rows->values + rows->n * table->value_size,
			       value_at(table, row), table->value_size);
			rows->n++;
		}
	}
	return 0;
}
