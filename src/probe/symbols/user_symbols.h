/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of user-space addresses. Addresses are placed while the process lives (probe/symbols/mappings.h);
 * names are looked up at the end, each once, in a child process without privileges: a damaged or
 * hostile file costs names and nothing else.
 */
#ifndef TEGRATRACE_USER_SYMBOLS_H
#define TEGRATRACE_USER_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/symbols/mappings.h"

struct user_symbols;

/* Keeps the pointer. NULL when out of memory. */
struct user_symbols *user_symbols_new(struct mappings *mappings);
void user_symbols_free(struct user_symbols *symbols);

/*
 * A number for the code at an address of a process, to be asked for its name later; -1 when it lies
 * in no mapping. For a return address give the address less 1: the call may be the last instruction
 * of its function.
 */
int user_symbols_add(struct user_symbols *symbols, pid_t pid, uint64_t address);

/* Find the names of all that were added; may be called again when there are more. */
void user_symbols_resolve(struct user_symbols *symbols);

struct user_symbol {
	char library[64];     /* "libc.so.6", "[vdso]", "[anon]", "[jit]"; sanitised */
	const char *function; /* demangled, sanitised; NULL = unknown */
};

/* -1 gives "[unknown]". */
void user_symbols_get(const struct user_symbols *symbols, int number, struct user_symbol *symbol);

/* As a frame of a folded stack: the function, else the library in brackets. See base/frame.h. */
void user_symbols_frame(const struct user_symbols *symbols, int number, char *frame, size_t size);

#endif
