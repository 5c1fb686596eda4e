/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/targets/target_groups.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/text.h"

#define CGROUP_TEXT_SIZE 16384 /* 13 hierarchies of version 1, each with a long path */
#define CONTAINER_DIGITS 64
#define LISTED_DIGITS	 12 /* as docker ps shows them */
#define KEYS_MAX	 6
#define KEY_SIZE	 512

/* Which groups the name was found to mean: ids of containers, paths of units. */
struct keys {
	int n; /* more than KEYS_MAX are counted only */
	char key[KEYS_MAX][KEY_SIZE];
};

struct lookup {
	struct target_group group;
	char path[PATH_MAX]; /* of TARGET_CGROUP */
	struct keys *keys;
};

static int __attribute__((format(printf, 4, 5)))
fail(char *err, size_t errsize, int code, const char *fmt, ...)
{
	va_list ap;

	if (errsize)
		err[0] = 0;
	va_start(ap, fmt);
	text_vappendf(err, errsize, fmt, ap);
	va_end(ap);
	return code;
}

static void __attribute__((format(printf, 2, 3))) note(struct target_set *set, const char *fmt, ...)
{
	char line[TARGETS_LINE_SIZE] = "";
	va_list ap;

	if (!set->note)
		return;
	va_start(ap, fmt);
	text_vappendf(line, sizeof(line), fmt, ap);
	va_end(ap);
	set->note(set->note_ctx, line);
}

static void keep_key(struct keys *keys, const char *key, size_t len)
{
	len = len < KEY_SIZE ? len : KEY_SIZE - 1;
	for (int i = 0; i < keys->n && i < KEYS_MAX; i++) {
		if (!strncmp(keys->key[i], key, len) && !keys->key[i][len])
			return;
	}
	if (keys->n < KEYS_MAX) {
		memcpy(keys->key[keys->n], key, len);
		keys->key[keys->n][len] = 0;
	}
	keys->n++;
}

static bool ends_in(const char *name, const char *ending)
{
	size_t len = strlen(name), tail = strlen(ending);

	return len > tail && !strcmp(name + len - tail, ending);
}

/*
 * The id in one part of a cgroup's path, of 64 digits: "ID", "docker-ID.scope", "libpod-ID",
 * "cri-containerd-ID.scope", "SLICE:cri-containerd:ID"; NULL if there is none. What watches a
 * container ("libpod-conmon-ID.scope") is not in it.
 */
static const char *container_id(const char *part, size_t len)
{
	static const char scope[] = ".scope";
	const char *id;

	if (len > strlen(scope) && !strncmp(part + len - strlen(scope), scope, strlen(scope)))
		len -= strlen(scope);
	if (len < CONTAINER_DIGITS || memmem(part, len, "conmon", strlen("conmon")))
		return NULL;
	id = part + len - CONTAINER_DIGITS;
	if (strspn(id, "0123456789abcdef") < CONTAINER_DIGITS)
		return NULL;
	return id == part || id[-1] == '-' || id[-1] == ':' ? id : NULL;
}

static bool is_unit(const char *part, size_t len, const char *name)
{
	static const char *const endings[] = {"", ".service", ".scope"};
	size_t named = strlen(name);

	if (len < named || strncmp(part, name, named))
		return false;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		if (len - named == strlen(endings[i]) &&
		    !strncmp(part + named, endings[i], len - named))
			return i || ends_in(name, ".service") || ends_in(name, ".scope") ||
			       ends_in(name, ".slice");
	}
	return false;
}

/* Containers may be nested: each part of the path may be one. */
static bool path_matches(const struct lookup *lookup, const char *path)
{
	const struct target_group *group = &lookup->group;
	size_t named = strlen(lookup->path);
	bool found = false;

	if (group->kind == TARGET_CGROUP)
		return !strncmp(path, lookup->path, named) && (!path[named] || path[named] == '/');
	for (const char *part = path; *part;) {
		size_t len = strcspn(part, "/");
		const char *id;

		if (group->kind == TARGET_UNIT && is_unit(part, len, group->name)) {
			keep_key(lookup->keys, path, (size_t)(part + len - path));
			return true;
		}
		id = group->kind == TARGET_CONTAINER ? container_id(part, len) : NULL;
		if (id && !strncmp(id, group->name, strlen(group->name))) {
			keep_key(lookup->keys, id, CONTAINER_DIGITS);
			found = true;
		}
		part += len + (part[len] == '/');
	}
	return found;
}

/* "4:memory:/PATH" a line, and "0::/PATH" for version 2; a name of a cgroup has no newline. */
static bool in_group(struct targets_scan *scan, pid_t pid, const struct procfs_stat *st)
{
	const struct lookup *lookup = scan->ctx;
	char text[CGROUP_TEXT_SIZE], *save = NULL;
	bool found = false;

	(void)st;
	if (procfs_task_text(pid, PROCFS_PROCESS, "cgroup", text, sizeof(text)) < 0)
		return false;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		if (path)
			found |= path_matches(lookup, path + 1);
	}
	return found;
}

static bool is_cgroup_folder(const char *path, dev_t *dev)
{
	struct statfs fs;
	struct stat st;

	if (statfs(path, &fs) || stat(path, &st) ||
	    (fs.f_type != CGROUP2_SUPER_MAGIC && fs.f_type != CGROUP_SUPER_MAGIC))
		return false;
	*dev = st.st_dev;
	return true;
}

/* Of a folder, what lies below the mount point: the last one above it on the same device. */
static const char *below_mount(const char *folder)
{
	char upper[PATH_MAX];
	dev_t dev, above;

	if (!text_copy(upper, sizeof(upper), folder) || !is_cgroup_folder(upper, &dev))
		return NULL;
	for (;;) {
		size_t len = strlen(upper);
		char *slash = strrchr(upper, '/');

		*slash = 0;
		if (!is_cgroup_folder(*upper ? upper : "/", &above) || above != dev)
			return folder + len;
		if (!*upper)
			return folder;
	}
}

static int set_path(struct lookup *lookup, const char *shown, char *err, size_t errsize)
{
	const char *name = lookup->group.name, *below = NULL;
	char folder[PATH_MAX];
	size_t len;

	if (strlen(name) + 2 > sizeof(folder))
		return fail(err, errsize, -EINVAL, "the path of the cgroup is too long");
	snprintf(folder, sizeof(folder), "%s%s", *name == '/' ? "" : "/", name);
	for (len = strlen(folder); len && folder[len - 1] == '/'; len--)
		folder[len - 1] = 0;
	if (*folder)
		below = below_mount(folder);
	text_copy(lookup->path, sizeof(lookup->path), below ? below : folder);
	if (*lookup->path)
		return 0;
	return fail(err, errsize, -EINVAL,
		    "'%s' is the root of the cgroups, with every process in it: give one below it, "
		    "as in /proc/PID/cgroup",
		    shown);
}

static int check_name(struct lookup *lookup, const char *shown, char *err, size_t errsize)
{
	const char *name = lookup->group.name;
	size_t len = strlen(name);

	switch (lookup->group.kind) {
	case TARGET_CGROUP:
		return set_path(lookup, shown, err, errsize);
	case TARGET_UNIT:
		if (!strchr(name, '/'))
			return 0;
		return fail(
			err, errsize, -EINVAL,
			"'%s' is not the name of a unit: give one as systemctl list-units shows "
			"it, or the path behind --cgroup",
			shown);
	default:
		if (strspn(name, "0123456789abcdef") == len && len <= CONTAINER_DIGITS)
			return 0;
		return fail(err, errsize, -EINVAL,
			    "'%s' is not the id of a container: docker ps -q (podman, crictl, "
			    "nerdctl) lists them, docker inspect -f '{{.Id}}' NAME gives that of a "
			    "name",
			    shown);
	}
}

static int fail_none(const struct lookup *lookup, const char *shown, char *err, size_t errsize)
{
	switch (lookup->group.kind) {
	case TARGET_CGROUP:
		return fail(err, errsize, -ESRCH,
			    "no process is in the cgroup '%s' or below: it is empty or not there; "
			    "systemd-cgls lists them, /proc/PID/cgroup names that of a process",
			    shown);
	case TARGET_UNIT:
		return fail(err, errsize, -ESRCH,
			    "no process is in a unit '%s': it is not running or has another name; "
			    "systemctl list-units --state=running lists all",
			    shown);
	default:
		return fail(
			err, errsize, -ESRCH,
			"no process is in a container '%s': it has stopped or its runtime names "
			"cgroups otherwise; docker ps (podman, crictl, nerdctl) lists what runs, "
			"/proc/PID/cgroup has the path for --cgroup",
			shown);
	}
}

static int fail_several(const struct lookup *lookup, const char *shown, char *err, size_t errsize)
{
	const struct keys *keys = lookup->keys;
	bool unit = lookup->group.kind == TARGET_UNIT;
	char list[TARGETS_LINE_SIZE / 2] = "", one[KEY_SIZE];

	for (int i = 0; i < keys->n && i < KEYS_MAX; i++) {
		text_sanitize(one, sizeof(one), keys->key[i],
			      unit ? strlen(keys->key[i]) : LISTED_DIGITS);
		text_appendf(list, sizeof(list), "%s%s", i ? ", " : "", one);
	}
	if (keys->n > KEYS_MAX)
		text_appendf(list, sizeof(list), " and %d more", keys->n - KEYS_MAX);
	return fail(err, errsize, -ENOTUNIQ,
		    unit ? "%d units are named '%s': give one of these behind --cgroup: %s"
			 : "%d containers have an id that begins with '%s': give more of it: %s",
		    keys->n, shown, list);
}

int targets_add_group(struct target_set *set, const struct target_group *group, char *err,
		      size_t errsize)
{
	static const char *const kinds[] = {
		[TARGET_CONTAINER] = "container",
		[TARGET_CGROUP] = "cgroup",
		[TARGET_UNIT] = "unit",
	};
	struct keys keys = {0};
	struct lookup lookup = {.group = *group, .keys = &keys};
	struct targets_scan scan = {.match = in_group, .ctx = &lookup};
	int before = set->n, ret;
	char shown[256];

	if (!*group->name)
		return fail(err, errsize, -ESRCH,
			    "the name behind --%s is empty: nothing ran when it was looked up?",
			    kinds[group->kind]);
	text_sanitize(shown, sizeof(shown), group->name, strlen(group->name));
	ret = check_name(&lookup, shown, err, errsize);
	if (!ret)
		ret = targets_add_matching(set, &scan, err, errsize);
	if (ret)
		return ret;
	if (keys.n > 1) {
		set->n = before;
		return fail_several(&lookup, shown, err, errsize);
	}
	if (!scan.n)
		return fail_none(&lookup, shown, err, errsize);
	note(set, "%s %s: tracing %d process%s: %s", kinds[group->kind], shown, scan.n,
	     scan.n > 1 ? "es" : "", scan.list);
	return 0;
}
