/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets by the group that they run in: a container, a systemd unit, a cgroup. All three are told
 * from the paths in /proc/PID/cgroup, so no daemon is asked and stopped ones do not exist.
 */
#ifndef TEGRATRACE_TARGET_GROUPS_H
#define TEGRATRACE_TARGET_GROUPS_H

#include "probe/targets/targets.h"

enum target_group_kind {
	TARGET_GROUP_NONE,
	TARGET_CONTAINER, /* its id, or the beginning of one: docker, podman, containerd, CRI-O */
	TARGET_CGROUP,	  /* a path as in /proc/PID/cgroup, or of its folder; with all below it */
	TARGET_UNIT,	  /* a name, without an ending that of a service or a scope */
};

struct target_group {
	enum target_group_kind kind;
	const char *name;
};

/*
 * Adds every process that is in the group now; the set's note says which. One that joins later is
 * traced only as a child of these. On failure the set is as before and @err has one line.
 * Return: 0, -EINVAL (no such thing can be meant), -ESRCH (no process in it), -ENOTUNIQ (several
 * groups bear the name), or another negative errno.
 */
int targets_add_group(struct target_set *set, const struct target_group *group, char *err,
		      size_t errsize);

#endif
