/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lies where in the address spaces of the targets, read from /proc/PID/maps during the run and
 * kept beyond the end of a process. An address becomes an object (a file, the heap, anonymous
 * memory) and an offset in it.
 *
 * Files are opened through /proc/PID/map_files, which gives the very file that is mapped: in a
 * container too, and when it has been deleted or replaced since.
 */
#ifndef TEGRATRACE_MAPPINGS_H
#define TEGRATRACE_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum mapping_kind {
	MAPPING_UNKNOWN, /* gone before it could be read */
	MAPPING_FILE,
	MAPPING_HEAP,
	MAPPING_STACK,
	MAPPING_ANON,
	MAPPING_SHARED, /* shared memory: backed by swap, like anonymous memory */
	MAPPING_DEVICE,
	MAPPING_VDSO,
	MAPPING_KINDS,
};

/* "file", "heap", ...: faults.sites[].kind in the JSON. */
const char *mapping_kind_name(enum mapping_kind kind);

struct mapping_object {
	enum mapping_kind kind;
	char *path; /* as the kernel gives it, raw bytes: hostile; "[anon]" where it gives none */
	pid_t pid;  /* of a mapping that is no file; 0 for a file */
	int fd;	    /* what names its addresses: ELF, or a compiler's perf map; -1 = none */
	unsigned long tried; /* private: tick in which it was to be opened; 0 = never */
	uint64_t device, inode;
};

struct mappings;

/* NULL when out of memory. */
struct mappings *mappings_new(void);
void mappings_free(struct mappings *mappings);

/* A new tick: processes may be read again. */
void mappings_tick(struct mappings *mappings);

enum mapping_need {
	MAPPING_NAME, /* is read again once in a while when an address is not found */
	MAPPING_CODE, /* at every tick; the file is opened */
};

struct mapping_place {
	int object;	 /* of mappings_object; -1 = unknown */
	uint64_t offset; /* in the file; the address itself where there is no file */
	uint64_t end;	 /* address where the mapping ends; 0 unknown */
};

/* Where an address of a process lies, by what was read last. */
struct mapping_place mappings_find(struct mappings *mappings, pid_t pid, uint64_t address,
				   enum mapping_need need);

/* NULL for -1. */
const struct mapping_object *mappings_object(const struct mappings *mappings, int object);

/* One line of /proc/PID/maps. */
struct maps_line {
	uint64_t start, end, offset, device, inode;
	bool executable;
	char *path; /* into the line; "" = none */
};

/* Cuts `line` at its end. False when it is none. */
bool maps_parse_line(char *line, struct maps_line *parsed);
enum mapping_kind maps_kind(const struct maps_line *parsed);

#endif
