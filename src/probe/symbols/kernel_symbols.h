/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of kernel addresses, from one pass over /proc/kallsyms that keeps nothing but the answers:
 * memory is in proportion to the addresses asked for, not to the symbols of the kernel.
 */
#ifndef TEGRATRACE_KERNEL_SYMBOLS_H
#define TEGRATRACE_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#define KSYM_NAME_SIZE	 64
#define KSYM_MODULE_SIZE 24

/* Sanitised; names longer than their field are cut. */
struct kernel_symbol {
	char name[KSYM_NAME_SIZE];     /* "[unknown]" outside every function */
	char module[KSYM_MODULE_SIZE]; /* "nvgpu"; "" for the kernel's own */
};

/*
 * Fill symbols[i] with the function that holds addresses[i]. For a return address of a stack, ask for
 * the byte before it: after a call that never returns, the next function begins there.
 * @path: NULL for /proc/kallsyms.
 *
 * Returns 0, or with every name "[unknown]":
 *   -EACCES	the kernel hides its addresses (all are 0): kernel.kptr_restrict, or not root
 *   -EBADMSG	no line of it is a symbol
 *   -errno	of opening or reading it; -ENOMEM
 */
int kernel_symbols_resolve(const char *path, const uint64_t *addresses, size_t n,
			   struct kernel_symbol *symbols);

/* The code of a function: [begin, begin + size), to where the next one begins; size 0 = there is none. */
struct kernel_code {
	uint64_t begin, size;
};

/* Fill code[i] with the kernel's own function names[i]. Returns as kernel_symbols_resolve(), then all sizes 0. */
int kernel_symbols_find(const char *path, const char *const *names, size_t n,
			struct kernel_code *code);

#endif
