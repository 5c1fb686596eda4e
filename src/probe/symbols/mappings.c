/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/symbols/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/procfs.h"

#define MAX_PROCESSES 1024 /* then the one not asked about for longest makes room */
#define MAX_OBJECTS   8192
#define MAX_RANGES    65536 /* of a process: what vm.max_map_count allows by default */
#define MAX_FILES     512   /* kept open */
#define NAME_TICKS    4	    /* between two readings for the name of an address */
#define VDSO_BYTES    (64 * 1024)

struct range {
	uint64_t start, end, offset;
	int object;
};

struct process {
	pid_t pid;
	struct range *ranges; /* ascending */
	size_t n, room;
	unsigned long checked; /* tick in which exe was looked at */
	unsigned long read;    /* tick in which maps was read; 0 = never */
	dev_t exe_device;
	ino_t exe_inode;
};

struct mappings {
	struct process *processes;
	size_t nprocesses;
	struct mapping_object *objects;
	int nobjects;
	int nfiles;
	unsigned long tick;
	struct process *recent;
};

struct mappings *mappings_new(void)
{
	struct mappings *mappings = calloc(1, sizeof(*mappings));

	if (mappings)
		mappings->tick = 1;
	return mappings;
}

void mappings_free(struct mappings *mappings)
{
	if (!mappings)
		return;
	for (size_t i = 0; i < mappings->nprocesses; i++)
		free(mappings->processes[i].ranges);
	for (int i = 0; i < mappings->nobjects; i++) {
		free(mappings->objects[i].path);
		if (mappings->objects[i].fd >= 0)
			close(mappings->objects[i].fd);
	}
	free(mappings->processes);
	free(mappings->objects);
	free(mappings);
}

void mappings_tick(struct mappings *mappings)
{
	mappings->tick++;
}

const struct mapping_object *mappings_object(const struct mappings *mappings, int object)
{
	return object >= 0 && object < mappings->nobjects ? &mappings->objects[object] : NULL;
}

/* Room for one more; doubles at every power of two from 16 on. */
static void *room_for_one(void *rows, size_t n, size_t size)
{
	bool full = !n || (n >= 16 && !(n & (n - 1)));

	return full ? reallocarray(rows, n ? 2 * n : 16, size) : rows;
}

static int object_of(struct mappings *mappings, pid_t pid, const struct maps_line *line)
{
	enum mapping_kind kind = maps_kind(line);
	const char *path = *line->path ? line->path : "[anon]";
	bool file = kind == MAPPING_FILE;
	struct mapping_object *objects;

	for (int i = mappings->nobjects - 1; i >= 0; i--) {
		const struct mapping_object *object = &mappings->objects[i];

		if (object->kind == kind && object->pid == (file ? 0 : pid) &&
		    (!file || (object->device == line->device && object->inode == line->inode)) &&
		    !strcmp(object->path, path))
			return i;
	}
	if (mappings->nobjects == MAX_OBJECTS)
		return -1;
	objects = room_for_one(mappings->objects, mappings->nobjects, sizeof(*objects));
	if (!objects)
		return -1;
	mappings->objects = objects;
	objects[mappings->nobjects] = (struct mapping_object){
		.kind = kind,
		.path = strdup(path),
		.pid = file ? 0 : pid,
		.fd = -1,
		.device = line->device,
		.inode = line->inode,
	};
	if (!objects[mappings->nobjects].path)
		return -1;
	return mappings->nobjects++;
}

static bool add_range(struct mappings *mappings, struct process *process,
		      const struct maps_line *line)
{
	if (process->n == process->room) {
		size_t room = process->room ? 2 * process->room : 64;
		struct range *ranges = reallocarray(process->ranges, room, sizeof(*ranges));

		if (!ranges)
			return false;
		process->ranges = ranges;
		process->room = room;
	}
	process->ranges[process->n++] = (struct range){
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.object = object_of(mappings, process->pid, line),
	};
	return true;
}

/* What was known stays when the process cannot be read any more. */
static void read_maps(struct mappings *mappings, struct process *process)
{
	char path[32], *text = NULL;
	struct maps_line line;
	size_t size = 0;
	bool first = true;
	FILE *file;

	process->read = mappings->tick;
	snprintf(path, sizeof(path), "/proc/%d/maps", process->pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (getline(&text, &size, file) > 0 && process->n < MAX_RANGES) {
		if (!maps_parse_line(text, &line))
			continue;
		if (first)
			process->n = 0;
		first = false;
		if (!add_range(mappings, process, &line))
			break;
	}
	free(text);
	fclose(file);
}

/* An exec gives the same pid another address space, at the same addresses without randomisation. */
static bool has_execed(struct mappings *mappings, struct process *process)
{
	char path[32];
	struct stat st;
	bool changed;

	if (process->checked == mappings->tick)
		return false;
	process->checked = mappings->tick;
	snprintf(path, sizeof(path), "/proc/%d/exe", process->pid);
	if (stat(path, &st))
		return false;
	changed = st.st_dev != process->exe_device || st.st_ino != process->exe_inode;
	process->exe_device = st.st_dev;
	process->exe_inode = st.st_ino;
	return changed;
}

static struct process *replace_oldest(struct mappings *mappings, pid_t pid)
{
	struct process *oldest = &mappings->processes[0];

	for (size_t i = 1; i < mappings->nprocesses; i++) {
		if (mappings->processes[i].checked < oldest->checked)
			oldest = &mappings->processes[i];
	}
	free(oldest->ranges);
	*oldest = (struct process){.pid = pid};
	return oldest;
}

static struct process *process_of(struct mappings *mappings, pid_t pid)
{
	struct process *processes;

	if (mappings->recent && mappings->recent->pid == pid)
		return mappings->recent;
	for (size_t i = 0; i < mappings->nprocesses; i++) {
		if (mappings->processes[i].pid == pid)
			return mappings->recent = &mappings->processes[i];
	}
	if (mappings->nprocesses == MAX_PROCESSES)
		return mappings->recent = replace_oldest(mappings, pid);
	processes = room_for_one(mappings->processes, mappings->nprocesses, sizeof(*processes));
	if (!processes)
		return NULL;
	mappings->processes = processes;
	mappings->recent = &processes[mappings->nprocesses++];
	*mappings->recent = (struct process){.pid = pid};
	return mappings->recent;
}

static const struct range *range_of(const struct process *process, uint64_t address)
{
	size_t low = 0, high = process->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->ranges[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == process->n || process->ranges[low].start > address)
		return NULL;
	return &process->ranges[low];
}

/* Opening a device or a FIFO has effects: only what is a regular file is opened. */
static int open_regular(const char *path)
{
	char again[40];
	struct stat st;
	int fd = open(path, O_PATH | O_CLOEXEC), opened = -1;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
		opened = open(again, O_RDONLY | O_CLOEXEC);
	}
	close(fd);
	return opened;
}

static int open_mapped(const struct mapping_object *object, pid_t pid, const struct range *range)
{
	char path[4200];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)range->start, (unsigned long long)range->end);
	fd = open_regular(path);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, object->path);
	fd = open_regular(path);
	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != object->inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The target's is the kernel's own, as ours is; its size is in no file. */
static int copy_vdso(void)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	long page = sysconf(_SC_PAGESIZE);
	int fd = vdso ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	for (long at = 0; fd >= 0 && at < VDSO_BYTES; at += page) {
		/* write() fails where no page is */
		if (write(fd, vdso + at, page) != page)
			break;
	}
	return fd;
}

/* Where just-in-time compilers say what they made, by the pid that they know themselves. */
static int open_perf_map(pid_t pid)
{
	struct procfs_status status;
	struct stat process, map;
	char path[64];
	pid_t inner = pid;
	int fd;

	if (!procfs_status(pid, PROCFS_PROCESS, &status) && status.nspid_count > 0)
		inner = status.nspid[status.nspid_count - 1];
	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", pid, inner);
	fd = open_regular(path);
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (fd >= 0 && (stat(path, &process) || fstat(fd, &map) || map.st_uid != process.st_uid)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void open_object(struct mappings *mappings, pid_t pid, const struct range *range)
{
	struct mapping_object *object =
		range->object >= 0 ? &mappings->objects[range->object] : NULL;

	if (!object || object->fd >= 0 || mappings->nfiles == MAX_FILES)
		return;
	/* A compiler's file may come later. */
	if (object->tried && (object->kind != MAPPING_ANON || object->tried == mappings->tick))
		return;
	object->tried = mappings->tick;
	if (object->kind == MAPPING_FILE || object->kind == MAPPING_SHARED)
		object->fd = open_mapped(object, pid, range);
	else if (object->kind == MAPPING_VDSO && !strcmp(object->path, "[vdso]"))
		object->fd = copy_vdso();
	else if (object->kind == MAPPING_ANON)
		object->fd = open_perf_map(pid);
	mappings->nfiles += object->fd >= 0;
}

struct mapping_place mappings_find(struct mappings *mappings, pid_t pid, uint64_t address,
				   enum mapping_need need)
{
	struct process *process = process_of(mappings, pid);
	unsigned long wait = need == MAPPING_CODE ? 1 : NAME_TICKS;
	struct mapping_place place = {.object = -1, .offset = address};
	const struct range *range;

	if (!process)
		return place;
	if (has_execed(mappings, process) || !process->read)
		read_maps(mappings, process);
	range = range_of(process, address);
	if (!range && mappings->tick >= process->read + wait) {
		read_maps(mappings, process);
		range = range_of(process, address);
	}
	if (!range || range->object < 0)
		return place;
	if (need == MAPPING_CODE)
		open_object(mappings, pid, range);
	place.object = range->object;
	place.end = range->end;
	if (mappings->objects[range->object].kind == MAPPING_FILE)
		place.offset = address - range->start + range->offset;
	else if (mappings->objects[range->object].kind == MAPPING_VDSO)
		place.offset = address - range->start;
	return place;
}
