/* SPDX-License-Identifier: GPL-2.0-only */
/* Where functions and user-space tracepoints lie in an ELF file: what a uprobe needs. */
#ifndef TEGRATRACE_ELF_SYMBOLS_H
#define TEGRATRACE_ELF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * File offsets of functions by name, from .dynsym and .symtab; 0 = not there. Returns how many were
 * found, or -ENOEXEC when the file is no ELF file of this machine's word size.
 */
int elf_find_functions(int fd, const char *const names[], size_t n, uint64_t offsets[]);

struct elf_usdt {
	uint64_t offset;
	uint64_t semaphore; /* file offset of its reference counter; 0 = none */
};

/*
 * The places of one user-space tracepoint (.note.stapsdt). Returns how many, at most max, or
 * -ENOEXEC.
 */
int elf_find_usdt(int fd, const char *provider, const char *name, struct elf_usdt places[],
		  size_t max);

#endif
