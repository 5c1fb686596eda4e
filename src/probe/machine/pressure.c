/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/machine/pressure.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/machine/cgroup.h"
#include "probe/machine/environment.h"
#include "base/text_file.h"
#include "probe/machine/vm_counts.h"

#define SECOND_NS 1000000000LL

/* A cgroup and one controller. The last reading stays: a cgroup may go when its target ends. */
struct level {
	enum cgroup_controller controller;
	int version;
	pid_t pid;
	char *dir;	  /* malloc'd */
	const char *path; /* in dir: where the hierarchy's own path begins */
	struct cgroup_cpu cpu_begin, cpu;
	struct cgroup_memory memory_begin, memory;
};

#define MAX_LEVELS 64

struct pressure_watch {
	char *root;
	struct cgroup_mounts *mounts;
	bool found[CGROUP_CONTROLLERS], hidden[CGROUP_CONTROLLERS];
	struct level levels[MAX_LEVELS];
	int nlevels;
	int64_t begin_ns, last_ns, step_ns;
	struct stall stalls[STALL_RESOURCES];
	int64_t vm[VM_EVENTS];
	struct vm_point points[VM_SERIES + 1]; /* room for the end */
	size_t npoints;
};

struct pressure_watch *pressure_watch_open(const char *root)
{
	struct pressure_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->root = strdup(root);
	watch->mounts = watch->root ? cgroup_mounts_read(root) : NULL;
	watch->step_ns = SECOND_NS;
	if (watch->mounts)
		return watch;
	pressure_watch_free(watch);
	return NULL;
}

void pressure_watch_free(struct pressure_watch *watch)
{
	if (!watch)
		return;
	for (int i = 0; i < watch->nlevels; i++)
		free(watch->levels[i].dir);
	cgroup_mounts_free(watch->mounts);
	free(watch->root);
	free(watch);
}

/* Keeps what was known when a cgroup has gone. */
static void level_read(struct level *level)
{
	struct cgroup_memory memory;
	struct cgroup_cpu cpu;

	if (level->controller == CGROUP_CPU) {
		cgroup_read_cpu(level->dir, level->version, &cpu);
		if (!isnan(cpu.cpus))
			level->cpu = cpu;
	} else {
		cgroup_read_memory(level->dir, level->version, &memory);
		if (memory.limit_bytes != UNKNOWN_COUNT)
			level->memory = memory;
	}
}

static struct level *level_of(struct pressure_watch *watch, enum cgroup_controller controller,
			      const char *dir)
{
	for (int i = 0; i < watch->nlevels; i++) {
		struct level *level = &watch->levels[i];

		if (level->controller == controller && !strcmp(level->dir, dir))
			return level;
	}
	return NULL;
}

static void level_begin(struct level *level)
{
	level_read(level);
	level->cpu_begin = level->cpu;
	level->memory_begin = level->memory;
}

static void add_level(struct pressure_watch *watch, enum cgroup_controller controller,
		      const struct cgroup_place *place, pid_t pid)
{
	struct level *level;
	char *dir;

	if (asprintf(&dir, "%s%s", place->mount, place->path) < 0)
		return;
	if (watch->nlevels == MAX_LEVELS || level_of(watch, controller, dir)) {
		free(dir);
		return;
	}
	level = &watch->levels[watch->nlevels++];
	*level = (struct level){
		.controller = controller,
		.version = place->version,
		.pid = pid,
		.dir = dir,
		.path = dir + strlen(place->mount),
		.cpu = {NAN, UNKNOWN_COUNT, UNKNOWN_COUNT, UNKNOWN_NS},
		.memory = {UNKNOWN_COUNT,
			   UNKNOWN_COUNT,
			   UNKNOWN_COUNT,
			   UNKNOWN_COUNT,
			   {UNKNOWN_NS, UNKNOWN_NS}},
	};
	level_begin(level);
}

/* Every level below the top, for a limit of any of them holds. */
static void add_controller(struct pressure_watch *watch, enum cgroup_controller controller,
			   pid_t pid)
{
	struct cgroup_place place;
	int err = cgroup_find(watch->mounts, pid, controller, &place);

	if (err) {
		watch->hidden[controller] |= err != -ESRCH;
		return;
	}
	watch->found[controller] = true;
	while (*place.path) {
		add_level(watch, controller, &place, pid);
		*strrchr(place.path, '/') = 0;
	}
	cgroup_place_free(&place);
}

void pressure_watch_add(struct pressure_watch *watch, pid_t pid)
{
	if (!watch)
		return;
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		add_controller(watch, i, pid);
}

static void read_stalls(const struct pressure_watch *watch, struct stall stalls[STALL_RESOURCES])
{
	char path[PATH_MAX];

	for (int i = 0; i < STALL_RESOURCES; i++) {
		snprintf(path, sizeof(path), "%s/proc/pressure/%s", watch->root,
			 stall_resource_name(i));
		stall_read(path, &stalls[i]);
	}
}

/* What grew since `begin`; unknown when either is, or when it went backwards. */
static int64_t grown(int64_t begin, int64_t now)
{
	if (begin == UNKNOWN_COUNT || now == UNKNOWN_COUNT || now < begin)
		return UNKNOWN_COUNT;
	return now - begin;
}

static struct stall stall_grown(struct stall begin, struct stall now)
{
	return (struct stall){grown(begin.some_ns, now.some_ns), grown(begin.full_ns, now.full_ns)};
}

static void add_point(struct pressure_watch *watch, int64_t now_ns)
{
	struct vm_point *point = &watch->points[watch->npoints];
	int64_t count[VM_EVENTS], total_bytes;

	if (vm_counts_read(watch->root, count))
		return;
	watch->npoints++;
	point->t_ns = now_ns - watch->begin_ns;
	vm_memory_read(watch->root, &total_bytes, &point->available_bytes);
	for (int i = 0; i < VM_EVENTS; i++)
		point->count[i] = grown(watch->vm[i], count[i]);
}

/* The counts only grow, so a point left out is in the next one. */
static void thin_out(struct pressure_watch *watch)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->npoints; i += 2)
		watch->points[kept++] = watch->points[i];
	watch->npoints = kept;
	watch->step_ns *= 2;
}

void pressure_watch_begin(struct pressure_watch *watch, int64_t now_ns)
{
	if (!watch)
		return;
	watch->begin_ns = watch->last_ns = now_ns;
	read_stalls(watch, watch->stalls);
	vm_counts_read(watch->root, watch->vm);
	add_point(watch, now_ns);
	for (int i = 0; i < watch->nlevels; i++)
		level_begin(&watch->levels[i]);
}

bool pressure_watch_due(const struct pressure_watch *watch, int64_t now_ns)
{
	return watch && now_ns - watch->last_ns >= watch->step_ns;
}

void pressure_watch_tick(struct pressure_watch *watch, int64_t now_ns)
{
	if (!pressure_watch_due(watch, now_ns))
		return;
	watch->last_ns = now_ns;
	if (watch->npoints == VM_SERIES)
		thin_out(watch);
	add_point(watch, now_ns);
	for (int i = 0; i < watch->nlevels; i++)
		level_read(&watch->levels[i]);
}

/* The end of a path tells cgroups apart: "...ker/0123" */
static void copy_path(char *dst, size_t size, const char *path)
{
	size_t length = strlen(path);
	size_t room = size / 2; /* a bad byte grows to four; most have none */
	bool cut = length > room;

	snprintf(dst, size, "%s", cut ? "..." : "");
	text_sanitize(dst + strlen(dst), size - strlen(dst), path + (cut ? length - room : 0),
		      cut ? room : length);
}

static void fill_quota(const struct level *level, struct pressure *pressure)
{
	const struct cgroup_cpu *begin = &level->cpu_begin, *end = &level->cpu;
	double cpus = isfinite(end->cpus) ? end->cpus : begin->cpus;
	struct cpu_quota *quota;

	if (!isfinite(cpus) || pressure->nquotas == PRESSURE_LIMITS)
		return;
	quota = &pressure->quotas[pressure->nquotas++];
	copy_path(quota->cgroup, sizeof(quota->cgroup), level->path);
	quota->version = level->version;
	quota->pid = level->pid;
	quota->cpus = cpus;
	quota->periods = grown(begin->periods, end->periods);
	quota->throttled_periods = grown(begin->throttled_periods, end->throttled_periods);
	quota->throttled_ns = grown(begin->throttled_ns, end->throttled_ns);
}

static bool is_limit(int64_t bytes)
{
	return bytes != UNKNOWN_COUNT && bytes != INT64_MAX;
}

static void fill_limit(const struct level *level, struct pressure *pressure)
{
	const struct cgroup_memory *begin = &level->memory_begin, *end = &level->memory;
	int64_t bytes = is_limit(end->limit_bytes) ? end->limit_bytes : begin->limit_bytes;
	struct memory_limit *limit;

	if (!is_limit(bytes) || pressure->nlimits == PRESSURE_LIMITS)
		return;
	limit = &pressure->limits[pressure->nlimits++];
	copy_path(limit->cgroup, sizeof(limit->cgroup), level->path);
	limit->version = level->version;
	limit->pid = level->pid;
	limit->limit_bytes = bytes;
	limit->used_bytes = end->used_bytes;
	limit->reclaims = grown(begin->reclaims, end->reclaims);
	limit->oom_kills = grown(begin->oom_kills, end->oom_kills);
	limit->stall = stall_grown(begin->stall, end->stall);
}

static void fill_cgroups(struct pressure_watch *watch, struct session *session)
{
	struct pressure *pressure = &session->pressure;

	pressure->nquotas = watch->found[CGROUP_CPU] ? 0 : -1;
	pressure->nlimits = watch->found[CGROUP_MEMORY] ? 0 : -1;
	for (int i = 0; i < watch->nlevels; i++) {
		struct level *level = &watch->levels[i];

		level_read(level);
		if (level->controller == CGROUP_CPU)
			fill_quota(level, pressure);
		else
			fill_limit(level, pressure);
	}
	if (watch->hidden[CGROUP_CPU])
		capability_add(&session->capability, "CPU quotas of cgroups",
			       "the target's cgroup is not mounted here: run on the host rather "
			       "than in a container");
}

static void fill_vm(struct pressure_watch *watch, int64_t now_ns, struct pressure *pressure)
{
	int64_t available_bytes;
	size_t n;

	vm_memory_read(watch->root, &pressure->total_bytes, &available_bytes);
	add_point(watch, now_ns);
	n = watch->npoints;
	if (!n)
		return;
	memcpy(pressure->vm, watch->points[n - 1].count, sizeof(pressure->vm));
	for (size_t i = 0; i < n; i++) {
		int64_t bytes = watch->points[i].available_bytes;

		if (bytes != UNKNOWN_COUNT && (pressure->available_min_bytes == UNKNOWN_COUNT ||
					       bytes < pressure->available_min_bytes))
			pressure->available_min_bytes = bytes;
	}
	pressure->series = malloc(n * sizeof(*pressure->series));
	if (!pressure->series)
		return;
	memcpy(pressure->series, watch->points, n * sizeof(*pressure->series));
	pressure->nseries = n;
}

static int64_t read_setting(const struct pressure_watch *watch, const char *name)
{
	char text[32];

	text_file_read(text, sizeof(text), "%s/proc/sys/kernel/%s", watch->root, name);
	return text_number(text);
}

void pressure_watch_end(struct pressure_watch *watch, int64_t now_ns, struct session *session)
{
	struct stall stalls[STALL_RESOURCES];
	struct pressure *pressure = &session->pressure;

	if (!watch)
		return;
	pressure->measured = true;
	read_stalls(watch, stalls);
	for (int i = 0; i < STALL_RESOURCES; i++)
		pressure->stalls[i] = stall_grown(watch->stalls[i], stalls[i]);
	fill_vm(watch, now_ns, pressure);
	pressure->nswaps = vm_swaps_read(watch->root, pressure->swaps);
	fill_cgroups(watch, session);
	pressure->rt_runtime_us = read_setting(watch, "sched_rt_runtime_us");
	pressure->rt_period_us = read_setting(watch, "sched_rt_period_us");
}
