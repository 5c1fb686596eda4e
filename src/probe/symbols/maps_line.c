/* SPDX-License-Identifier: GPL-2.0-only */
/* A line of /proc/PID/maps; format: show_map_vma() of fs/proc/task_mmu.c. */
#include "probe/symbols/mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *mapping_kind_name(enum mapping_kind kind)
{
	static const char *const names[MAPPING_KINDS] = {
		[MAPPING_UNKNOWN] = "unknown", [MAPPING_FILE] = "file",
		[MAPPING_HEAP] = "heap",       [MAPPING_STACK] = "stack",
		[MAPPING_ANON] = "anonymous",  [MAPPING_SHARED] = "shared",
		[MAPPING_DEVICE] = "device",   [MAPPING_VDSO] = "vdso",
	};

	return (unsigned int)kind < MAPPING_KINDS ? names[kind] : "?";
}

static bool hex(char **at, char end, uint64_t *value)
{
	char *stop;

	errno = 0;
	*value = strtoull(*at, &stop, 16);
	if (errno || stop == *at || *stop != end)
		return false;
	*at = stop + 1;
	return true;
}

bool maps_parse_line(char *line, struct maps_line *parsed)
{
	uint64_t major, minor;
	char *stop;

	line[strcspn(line, "\n")] = '\0';
	if (!hex(&line, '-', &parsed->start) || !hex(&line, ' ', &parsed->end))
		return false;
	if (parsed->end <= parsed->start || strlen(line) < 5 || line[4] != ' ')
		return false;
	parsed->executable = line[2] == 'x';
	line += 5;
	if (!hex(&line, ' ', &parsed->offset) || !hex(&line, ':', &major) ||
	    !hex(&line, ' ', &minor))
		return false;
	parsed->device = major << 32 | minor;
	errno = 0;
	parsed->inode = strtoull(line, &stop, 10);
	if (errno || stop == line)
		return false;
	parsed->path = stop + strspn(stop, " ");
	return true;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

enum mapping_kind maps_kind(const struct maps_line *parsed)
{
	const char *path = parsed->path;

	if (begins(path, "[heap]"))
		return MAPPING_HEAP;
	if (begins(path, "[stack"))
		return MAPPING_STACK;
	if (begins(path, "[anon_shmem") || begins(path, "/memfd:") || begins(path, "/SYSV") ||
	    begins(path, "/dev/zero") || begins(path, "/dev/shm/"))
		return MAPPING_SHARED;
	if (!*path || begins(path, "[anon"))
		return MAPPING_ANON;
	if (*path == '[')
		return MAPPING_VDSO;
	return begins(path, "/dev/") || begins(path, "anon_inode:") || !parsed->inode
		       ? MAPPING_DEVICE
		       : MAPPING_FILE;
}
