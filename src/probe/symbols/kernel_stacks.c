/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/symbols/kernel_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/symbols/kernel_symbols.h"

struct entry {
	uint64_t key;
	struct tt_stack stack;
};

struct kernel_stacks {
	struct entry *entries; /* sorted by key */
	size_t nentries;
	uint64_t *addresses; /* sorted */
	struct kernel_symbol *names;
	size_t naddresses;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A return address may lie behind the end of a function whose last call does not return. */
static uint64_t call_of(uint64_t return_address)
{
	return return_address ? return_address - 1 : 0;
}

/* Returns how many are left of the sorted values. */
static size_t drop_repeats(uint64_t *values, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (values[i] && (!kept || values[kept - 1] != values[i]))
			values[kept++] = values[i];
	}
	return kept;
}

static int read_entries(struct kernel_stacks *stacks, const struct tracer *tracer,
			const uint64_t *keys, size_t n)
{
	uint64_t *sorted = malloc((n + 1) * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, keys, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	n = drop_repeats(sorted, n);
	stacks->entries = calloc(n + 1, sizeof(*stacks->entries));
	for (size_t i = 0; i < n && stacks->entries; i++) {
		struct entry *entry = &stacks->entries[stacks->nentries];

		entry->key = sorted[i];
		if (!tracer_read_stack(tracer, entry->key, &entry->stack))
			stacks->nentries++;
	}
	free(sorted);
	return stacks->entries ? 0 : -ENOMEM;
}

static int name_addresses(struct kernel_stacks *stacks)
{
	size_t n = 0;

	stacks->addresses =
		malloc((stacks->nentries * TT_STACK_DEPTH + 1) * sizeof(*stacks->addresses));
	if (!stacks->addresses)
		return -ENOMEM;
	for (size_t i = 0; i < stacks->nentries; i++) {
		for (int j = 0; j < TT_STACK_DEPTH; j++)
			stacks->addresses[n++] = call_of(stacks->entries[i].stack.frame[j]);
	}
	qsort(stacks->addresses, n, sizeof(*stacks->addresses), compare);
	stacks->naddresses = drop_repeats(stacks->addresses, n);
	stacks->names = calloc(stacks->naddresses + 1, sizeof(*stacks->names));
	if (!stacks->names)
		return -ENOMEM;
	return kernel_symbols_resolve(NULL, stacks->addresses, stacks->naddresses, stacks->names);
}

int kernel_stacks_read(struct kernel_stacks **out, const struct tracer *tracer,
		       const uint64_t *keys, size_t n)
{
	struct kernel_stacks *stacks = calloc(1, sizeof(*stacks));
	int err = stacks ? read_entries(stacks, tracer, keys, n) : -ENOMEM;

	if (!err && stacks->nentries)
		err = name_addresses(stacks);
	if (err && stacks) {
		stacks->nentries = 0; /* without names they tell nothing */
		if (err == -ENOMEM) {
			kernel_stacks_free(stacks);
			stacks = NULL;
		}
	}
	*out = stacks;
	return err;
}

void kernel_stacks_free(struct kernel_stacks *stacks)
{
	if (!stacks)
		return;
	free(stacks->entries);
	free(stacks->addresses);
	free(stacks->names);
	free(stacks);
}

void kernel_stacks_get(const struct kernel_stacks *stacks, uint64_t key, struct kernel_stack *stack)
{
	const struct entry *entry = NULL;

	stack->n = 0;
	if (stacks && stacks->nentries)
		entry = bsearch(&key, stacks->entries, stacks->nentries, sizeof(*entry), compare);
	if (!entry)
		return;
	for (int i = 0; i < TT_STACK_DEPTH && entry->stack.frame[i]; i++) {
		uint64_t call = call_of(entry->stack.frame[i]);
		const uint64_t *found = bsearch(&call, stacks->addresses, stacks->naddresses,
						sizeof(*stacks->addresses), compare);

		if (found)
			stack->frames[stack->n++] = stacks->names[found - stacks->addresses].name;
	}
}
