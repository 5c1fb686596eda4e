/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/symbols/symbol_finder.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEGMENTS 256

struct segment {
	uint64_t offset, address, size;
};

/* The segments that files are mapped by: an offset in the file becomes an address of the symbols. */
static size_t read_segments(Elf *elf, struct segment segments[MAX_SEGMENTS])
{
	size_t n, kept = 0;
	GElf_Phdr phdr;

	if (elf_getphdrnum(elf, &n))
		return 0;
	for (size_t i = 0; i < n && kept < MAX_SEGMENTS; i++) {
		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD)
			segments[kept++] =
				(struct segment){phdr.p_offset, phdr.p_vaddr, phdr.p_filesz};
	}
	return kept;
}

static bool to_address(const struct segment *segments, size_t n, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < n; i++) {
		if (offset >= segments[i].offset &&
		    offset - segments[i].offset < segments[i].size) {
			*address = offset - segments[i].offset + segments[i].address;
			return true;
		}
	}
	return false;
}

static void find_in_module(Dwfl_Module *module, const struct symbol_query *queries, size_t n,
			   symbol_found_fn found, void *ctx)
{
	static struct segment segments[MAX_SEGMENTS];
	GElf_Addr bias, address;
	GElf_Off offset;
	GElf_Sym symbol;
	Elf *elf = dwfl_module_getelf(module, &bias);
	size_t nsegments = elf ? read_segments(elf, segments) : 0;

	for (size_t i = 0; i < n; i++) {
		const char *name;

		if (!to_address(segments, nsegments, queries[i].offset, &address))
			continue;
		name = dwfl_module_addrinfo(module, address + bias, &offset, &symbol, NULL, NULL,
					    NULL);
		if (name && *name)
			found(ctx, queries[i].number, name);
	}
}

void symbol_find_elf(int fd, const char *path, const struct symbol_query *queries, size_t n,
		     symbol_found_fn found, void *ctx)
{
	static char *debug_path; /* the library's default */
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	Dwfl_Module *module;
	Dwfl *dwfl;

	/* Else a debug file may be asked for over the network, which takes any time. */
	unsetenv("DEBUGINFOD_URLS");
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		return;
	module = dwfl_report_elf(dwfl, path, path, fd, 0, true);
	dwfl_report_end(dwfl, NULL, NULL);
	if (module)
		find_in_module(module, queries, n, found, ctx);
	dwfl_end(dwfl);
}

static void match_line(char *line, const struct symbol_query *queries, size_t n, char **names)
{
	char *at = line, *stop;
	uint64_t start, size;
	size_t low = 0, high = n;

	errno = 0;
	start = strtoull(at, &stop, 16);
	if (errno || stop == at || *stop != ' ')
		return;
	at = stop + 1;
	size = strtoull(at, &stop, 16);
	if (errno || stop == at || *stop != ' ')
		return;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (queries[middle].offset < start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < n && queries[low].offset - start < size; low++) {
		free(names[low]);
		names[low] = strdup(stop + 1);
	}
}

void symbol_find_perf_map(int fd, const struct symbol_query *queries, size_t n,
			  symbol_found_fn found, void *ctx)
{
	char **names = calloc(n, sizeof(char *)), *line = NULL;
	FILE *file = names ? fdopen(dup(fd), "r") : NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		match_line(line, queries, n, names);
	}
	for (size_t i = 0; names && i < n; i++) {
		if (names[i] && *names[i])
			found(ctx, queries[i].number, names[i]);
		free(names[i]);
	}
	free(names);
	free(line);
	if (file)
		fclose(file);
}
