/* SPDX-License-Identifier: GPL-2.0-only */
/* Looks up names in files that may be damaged or hostile. Runs in a child of probe/symbols/user_symbols.c. */
#ifndef TEGRATRACE_SYMBOL_FINDER_H
#define TEGRATRACE_SYMBOL_FINDER_H

#include <stddef.h>
#include <stdint.h>

struct symbol_query {
	uint64_t offset; /* in the file, or an address of a perf map */
	int number;
};

/* Called for each query that has a name: as the file has it, not demangled, raw bytes. */
typedef void (*symbol_found_fn)(void *ctx, int number, const char *name);

/* An ELF file; `path` is where it stood, for its separate debug file, and may be anything. */
void symbol_find_elf(int fd, const char *path, const struct symbol_query *queries, size_t n,
		     symbol_found_fn found, void *ctx);

/* A perf map ("START SIZE NAME" in hexadecimal); queries ascend. A later line goes above. */
void symbol_find_perf_map(int fd, const struct symbol_query *queries, size_t n,
			  symbol_found_fn found, void *ctx);

#endif
