/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In which cgroup a process is and what that allows: version 2, version 1, and hosts that have
 * both. All paths lie below a root, "" in use, for fixtures.
 */
#ifndef TEGRATRACE_CGROUP_H
#define TEGRATRACE_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/pressure.h"

enum cgroup_controller { CGROUP_CPU, CGROUP_MEMORY, CGROUP_CONTROLLERS };

/* Where the hierarchies are mounted. */
struct cgroup_mounts;

/* NULL when out of memory. No mount at all is fine: nothing will be found. */
struct cgroup_mounts *cgroup_mounts_read(const char *root);
void cgroup_mounts_free(struct cgroup_mounts *mounts);

/* The cgroup of a process that a controller acts on. */
struct cgroup_place {
	int version;
	char *mount; /* directory of the hierarchy, root included; malloc'd */
	char *path;  /* in it: "/docker/0123", "" at its top; malloc'd */
};

/*
 * Returns 0; -ESRCH without the process; -ENOENT when its hierarchy is not mounted, or not down to
 * that cgroup (from inside a container); -ENOMEM.
 */
int cgroup_find(const struct cgroup_mounts *mounts, pid_t pid, enum cgroup_controller controller,
		struct cgroup_place *place);
void cgroup_place_free(struct cgroup_place *place);

/* Of one cgroup, of this version, since it was made; unknown where the kernel does not say. */
struct cgroup_cpu {
	double cpus; /* INFINITY: no quota; NAN unknown */
	int64_t periods, throttled_periods, throttled_ns;
};

struct cgroup_memory {
	int64_t limit_bytes; /* INT64_MAX: none */
	int64_t used_bytes, reclaims, oom_kills;
	struct stall stall;
};

void cgroup_read_cpu(const char *dir, int version, struct cgroup_cpu *cpu);
void cgroup_read_memory(const char *dir, int version, struct cgroup_memory *memory);

/* "some" and "full" totals of a pressure file; false and unknown when it cannot be read. */
bool stall_read(const char *path, struct stall *stall);

#endif
