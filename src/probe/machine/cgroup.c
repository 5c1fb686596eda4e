/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/machine/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text_file.h"
#include "session/session.h"

#define V1_PERIOD_US 100000 /* when the file cannot be read: the kernel's default */

/* Version 1 counts pages up to PAGE_COUNTER_MAX: no limit reads as about 2^63. */
#define V1_NO_LIMIT (INT64_MAX / 2)

struct hierarchy {
	char *dir;  /* mount point, root prepended; NULL = none */
	char *base; /* the part of the hierarchy that is mounted there: "" is all of it */
};

struct cgroup_mounts {
	char *root;
	struct hierarchy v1[CGROUP_CONTROLLERS];
	struct hierarchy v2;
};

static const char *const controllers[CGROUP_CONTROLLERS] = {
	[CGROUP_CPU] = "cpu",
	[CGROUP_MEMORY] = "memory",
};

/* Takes \040 and the like, with which mountinfo writes blanks, back in place. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		unsigned int byte;
		int used = 0;

		if (*from == '\\' && sscanf(from, "\\%3o%n", &byte, &used) == 1 && used == 4) {
			*to = (char)byte;
			from += used;
		} else {
			*to = *from++;
		}
	}
	*to = 0;
}

/* Is `word` one of a comma-separated list? */
static bool listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, word, length) && (!at[length] || at[length] == ','))
			return true;
	}
	return false;
}

/* The whole hierarchy is better than a part of it that is bind-mounted elsewhere. */
static int keep(struct hierarchy *hierarchy, const char *root, const char *base, const char *dir)
{
	bool whole = !strcmp(base, "/");
	char *copy, *full;

	if (hierarchy->dir && (!whole || !*hierarchy->base))
		return 0;
	copy = strdup(whole ? "" : base);
	if (!copy || asprintf(&full, "%s%s", root, dir) < 0) {
		free(copy);
		return -ENOMEM;
	}
	free(hierarchy->dir);
	free(hierarchy->base);
	*hierarchy = (struct hierarchy){.dir = full, .base = copy};
	return 0;
}

/* "36 35 98:0 BASE DIR options [optional]... - TYPE source OPTIONS" (proc(5)) */
static int take_mount(struct cgroup_mounts *mounts, char *line)
{
	char *fields[6], *save = NULL, *type, *options;
	char *rest = strstr(line, " - ");
	int err = 0;

	if (!rest)
		return 0;
	*rest = 0;
	for (int i = 0; i < 6; i++) {
		fields[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!fields[i])
			return 0;
	}
	type = strtok_r(rest + 3, " \n", &save);
	if (!type || !strtok_r(NULL, " \n", &save))
		return 0;
	options = strtok_r(NULL, " \n", &save);
	unescape(fields[3]);
	unescape(fields[4]);
	if (!strcmp(type, "cgroup2"))
		return keep(&mounts->v2, mounts->root, fields[3], fields[4]);
	for (int i = 0; i < CGROUP_CONTROLLERS && !err; i++) {
		if (!strcmp(type, "cgroup") && options && listed(options, controllers[i]))
			err = keep(&mounts->v1[i], mounts->root, fields[3], fields[4]);
	}
	return err;
}

static FILE *open_proc(const char *root, const char *who, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/proc/%s/%s", root, who, name);

	if (n >= 0 && (size_t)n < sizeof(path))
		return fopen(path, "re");
	errno = ENAMETOOLONG;
	return NULL;
}

static int read_mounts(struct cgroup_mounts *mounts)
{
	FILE *file = open_proc(mounts->root, "self", "mountinfo");
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	while (file && !err && getline(&line, &size, file) > 0)
		err = take_mount(mounts, line);
	free(line);
	if (file)
		fclose(file);
	return err;
}

struct cgroup_mounts *cgroup_mounts_read(const char *root)
{
	struct cgroup_mounts *mounts = calloc(1, sizeof(*mounts));

	if (!mounts)
		return NULL;
	mounts->root = strdup(root);
	if (mounts->root && !read_mounts(mounts))
		return mounts;
	cgroup_mounts_free(mounts);
	return NULL;
}

static void hierarchy_free(struct hierarchy *hierarchy)
{
	free(hierarchy->dir);
	free(hierarchy->base);
}

void cgroup_mounts_free(struct cgroup_mounts *mounts)
{
	if (!mounts)
		return;
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		hierarchy_free(&mounts->v1[i]);
	hierarchy_free(&mounts->v2);
	free(mounts->root);
	free(mounts);
}

/* The path below what is mounted; NULL when it lies outside of it. */
static const char *below(const char *path, const char *base)
{
	size_t length = strlen(base);

	if (*path != '/' || strncmp(path, base, length) || (path[length] && path[length] != '/'))
		return NULL;
	path += length;
	/* "/../x": outside of the cgroup namespace that this procfs was mounted in */
	return strncmp(path, "/..", 3) || (path[3] && path[3] != '/') ? path : NULL;
}

static int place_at(const struct hierarchy *hierarchy, int version, const char *path,
		    struct cgroup_place *place)
{
	const char *part = hierarchy->dir ? below(path, hierarchy->base) : NULL;

	if (!part)
		return -ENOENT;
	place->version = version;
	place->mount = strdup(hierarchy->dir);
	place->path = strdup(strcmp(part, "/") ? part : "");
	if (place->mount && place->path)
		return 0;
	cgroup_place_free(place);
	return -ENOMEM;
}

/* "4:cpu,cpuacct:/PATH" of version 1 goes before "0::/PATH", where hosts have both. */
static int place_of_lines(const struct cgroup_mounts *mounts, FILE *file,
			  enum cgroup_controller controller, struct cgroup_place *place)
{
	char *line = NULL, *unified = NULL;
	size_t size = 0;
	int err = -ENOENT;
	bool found = false;

	while (!found && getline(&line, &size, file) > 0) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = 0;
		list++;
		path[strcspn(path, "\n")] = 0;
		if (!strncmp(line, "0:", 2) && !*list && !unified) {
			unified = strdup(path);
		} else if (listed(list, controllers[controller])) {
			found = true;
			err = place_at(&mounts->v1[controller], 1, path, place);
		}
	}
	if (!found && unified)
		err = place_at(&mounts->v2, 2, unified, place);
	free(unified);
	free(line);
	return err;
}

int cgroup_find(const struct cgroup_mounts *mounts, pid_t pid, enum cgroup_controller controller,
		struct cgroup_place *place)
{
	char who[16];
	FILE *file;
	int err;

	*place = (struct cgroup_place){0};
	snprintf(who, sizeof(who), "%d", pid);
	file = open_proc(mounts->root, who, "cgroup");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	err = place_of_lines(mounts, file, controller, place);
	fclose(file);
	return err;
}

void cgroup_place_free(struct cgroup_place *place)
{
	free(place->mount);
	free(place->path);
	*place = (struct cgroup_place){0};
}

static double cpus_of(int64_t quota_us, int64_t period_us)
{
	if (quota_us == UNKNOWN_COUNT || quota_us == 0 || period_us <= 0)
		return NAN;
	return quota_us < 0 ? INFINITY : (double)quota_us / (double)period_us;
}

/* A cgroup without the file is one on which the controller is not switched on: it has no limit. */
static double read_quota(const char *dir, int version)
{
	char text[64], period[32];
	ssize_t n;

	n = text_file_read(text, sizeof(text), "%s/%s", dir,
			   version == 1 ? "cpu.cfs_quota_us" : "cpu.max");
	if (n == -ENOENT && !access(dir, F_OK))
		return INFINITY;
	if (n <= 0)
		return NAN;
	if (version == 2)
		return strncmp(text, "max", 3)
			       ? cpus_of(text_number(text), text_number(text + strcspn(text, " ")))
			       : INFINITY;
	n = text_file_read(period, sizeof(period), "%s/cpu.cfs_period_us", dir);
	return cpus_of(text_number(text), n > 0 ? text_number(period) : V1_PERIOD_US);
}

void cgroup_read_cpu(const char *dir, int version, struct cgroup_cpu *cpu)
{
	char text[1024];

	cpu->cpus = read_quota(dir, version);
	text_file_read(text, sizeof(text), "%s/cpu.stat", dir);
	cpu->periods = text_keyed(text, "nr_periods");
	cpu->throttled_periods = text_keyed(text, "nr_throttled");
	cpu->throttled_ns = text_keyed(text, "throttled_time");
	if (cpu->throttled_ns == UNKNOWN_NS) {
		int64_t us = text_keyed(text, "throttled_usec");

		if (us >= 0 && us < INT64_MAX / 1000)
			cpu->throttled_ns = us * 1000;
	}
}

static int64_t read_number(const char *dir, const char *name)
{
	char text[64];

	text_file_read(text, sizeof(text), "%s/%s", dir, name);
	return text_number(text);
}

static int64_t read_limit(const char *dir, const char *name)
{
	char text[64];
	ssize_t n = text_file_read(text, sizeof(text), "%s/%s", dir, name);

	if ((n == -ENOENT && !access(dir, F_OK)) || !strncmp(text, "max", 3))
		return INT64_MAX;
	return text_number(text);
}

static void read_memory_v1(const char *dir, struct cgroup_memory *memory)
{
	char text[256];

	memory->limit_bytes = read_limit(dir, "memory.limit_in_bytes");
	if (memory->limit_bytes >= V1_NO_LIMIT)
		memory->limit_bytes = INT64_MAX;
	memory->used_bytes = read_number(dir, "memory.usage_in_bytes");
	memory->reclaims = read_number(dir, "memory.failcnt");
	text_file_read(text, sizeof(text), "%s/memory.oom_control", dir);
	memory->oom_kills = text_keyed(text, "oom_kill");
}

static void read_memory_v2(const char *dir, struct cgroup_memory *memory)
{
	int64_t high = read_limit(dir, "memory.high");
	int64_t high_events, max_events;
	char text[PATH_MAX];

	memory->limit_bytes = read_limit(dir, "memory.max");
	if (high != UNKNOWN_COUNT && high < memory->limit_bytes)
		memory->limit_bytes = high;
	memory->used_bytes = read_number(dir, "memory.current");
	text_file_read(text, sizeof(text), "%s/memory.events", dir);
	high_events = text_keyed(text, "high");
	max_events = text_keyed(text, "max");
	if (high_events >= 0 && max_events >= 0)
		memory->reclaims = high_events + max_events;
	memory->oom_kills = text_keyed(text, "oom_kill");
	if (snprintf(text, sizeof(text), "%s/memory.pressure", dir) < (int)sizeof(text))
		stall_read(text, &memory->stall);
}

void cgroup_read_memory(const char *dir, int version, struct cgroup_memory *memory)
{
	*memory = (struct cgroup_memory){
		.limit_bytes = UNKNOWN_COUNT,
		.used_bytes = UNKNOWN_COUNT,
		.reclaims = UNKNOWN_COUNT,
		.oom_kills = UNKNOWN_COUNT,
		.stall = {UNKNOWN_NS, UNKNOWN_NS},
	};
	if (version == 1)
		read_memory_v1(dir, memory);
	else
		read_memory_v2(dir, memory);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=US" and "full ..." (Documentation/accounting/psi) */
static int64_t stall_total(const char *text, const char *key)
{
	const char *line = strstr(text, key);
	const char *total = line ? strstr(line, " total=") : NULL;
	int64_t us;

	if (!total || total > line + strcspn(line, "\n"))
		return UNKNOWN_NS;
	us = text_number(total + strlen(" total="));
	return us < 0 || us > INT64_MAX / 1000 ? UNKNOWN_NS : us * 1000;
}

bool stall_read(const char *path, struct stall *stall)
{
	char text[512];

	text_file_read(text, sizeof(text), "%s", path);
	stall->some_ns = stall_total(text, "some ");
	stall->full_ns = stall_total(text, "full ");
	return stall->some_ns != UNKNOWN_NS;
}
