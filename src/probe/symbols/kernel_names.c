/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/symbols/kernel_names.h"

#include <stdlib.h>

#include "probe/symbols/kernel_symbols.h"

struct kernel_names {
	uint64_t *addresses; /* ascending once resolved */
	struct kernel_symbol *symbols;
	size_t n, room;
};

struct kernel_names *kernel_names_new(void)
{
	return calloc(1, sizeof(struct kernel_names));
}

void kernel_names_free(struct kernel_names *names)
{
	if (!names)
		return;
	free(names->addresses);
	free(names->symbols);
	free(names);
}

void kernel_names_add(struct kernel_names *names, uint64_t address)
{
	if (names->n == names->room) {
		size_t room = names->room ? 2 * names->room : 256;
		uint64_t *addresses = reallocarray(names->addresses, room, sizeof(*addresses));

		if (!addresses)
			return;
		names->addresses = addresses;
		names->room = room;
	}
	names->addresses[names->n++] = address;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void kernel_names_resolve(struct kernel_names *names)
{
	size_t n = 0;

	if (!names->n)
		return;
	qsort(names->addresses, names->n, sizeof(uint64_t), compare);
	for (size_t i = 0; i < names->n; i++) {
		if (!n || names->addresses[n - 1] != names->addresses[i])
			names->addresses[n++] = names->addresses[i];
	}
	names->n = n;
	names->symbols = calloc(n, sizeof(*names->symbols));
	if (names->symbols)
		kernel_symbols_resolve(NULL, names->addresses, n, names->symbols);
}

const char *kernel_names_get(const struct kernel_names *names, uint64_t address)
{
	const uint64_t *found = NULL;
	const char *name;

	if (names->symbols)
		found = bsearch(&address, names->addresses, names->n, sizeof(address), compare);
	if (!found)
		return "?";
	name = names->symbols[found - names->addresses].name;
	return *name && *name != '[' ? name : "?";
}
