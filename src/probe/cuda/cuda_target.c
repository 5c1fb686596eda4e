/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/cuda/cuda_target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

#define ENVIRONMENT_MAX 131072

bool target_path_fits(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	size_t len = strlen(name);

	base = base ? base + 1 : path;
	if (!*name || strncmp(base, name, len))
		return false;
	base += len;
	return !*base || *base == '.' || !strcmp(base, " (deleted)");
}

bool target_maps_line(const char *line, char range[40], const char **path)
{
	int path_at = 0;

	/* "start-end perms offset dev inode   path" */
	if (sscanf(line, "%39s %*s %*s %*s %*s %n", range, &path_at) != 1 || !path_at)
		return false;
	*path = line + path_at;
	return **path == '/';
}

static int take_file(int fd, const char *path, struct target_file *file)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	file->fd = fd;
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	text_sanitize(file->path, sizeof(file->path), path, strlen(path));
	return 0;
}

int target_open_file(const char *path, const char *shown, struct target_file *file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -errno : take_file(fd, shown, file);
}

/* map_files gives the mapped file itself, also when its path now names another or none. */
static int open_mapping(pid_t pid, const char *range, const char *path, struct target_file *file)
{
	char link[96];

	snprintf(link, sizeof(link), "/proc/%d/map_files/%s", pid, range);
	if (!target_open_file(link, path, file))
		return 0;
	return target_open_path(pid, path, file);
}

int target_open_mapped(pid_t pid, const char *name, struct target_file *file)
{
	char range[40], *line = NULL, maps[32];
	int err = -ENOENT;
	size_t size = 0;
	const char *path;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	f = fopen(maps, "re");
	if (!f)
		return -errno;
	while (err && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (target_maps_line(line, range, &path) && target_path_fits(path, name))
			err = open_mapping(pid, range, path, file);
	}
	free(line);
	fclose(f);
	return err;
}

/* An absolute link in a container must not lead out of it. */
static int open_below(int root, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	/* Before Linux 5.6 */
	if (fd < 0 && errno == ENOSYS)
		fd = openat(root, path + strspn(path, "/"), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int target_open_path(pid_t pid, const char *path, struct target_file *file)
{
	char root_path[32];
	int root, fd;

	snprintf(root_path, sizeof(root_path), "/proc/%d/root", pid);
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = open_below(root, path);
	close(root);
	return fd < 0 ? fd : take_file(fd, path, file);
}

static int try_folder(pid_t pid, const char *folder, size_t len, const char *file_name,
		      struct target_file *file)
{
	char path[PATH_MAX];

	if (folder[0] != '/' || snprintf(path, sizeof(path), "%.*s/%s", (int)len, folder,
					 file_name) >= (int)sizeof(path))
		return -ENOENT;
	return target_open_path(pid, path, file);
}

static int try_folders(pid_t pid, const char *folders, const char *file_name,
		       struct target_file *file)
{
	int err = -ENOENT;

	while (*folders && err) {
		size_t len = strcspn(folders, ":;");

		err = try_folder(pid, folders, len, file_name, file);
		folders += len + (folders[len] != '\0');
	}
	return err;
}

/* Into `environ`, NUL after each; returns the value or NULL. */
static const char *read_variable(pid_t pid, const char *name, char *buffer, size_t size)
{
	size_t len = strlen(name), got;
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	got = fread(buffer, 1, size - 1, f);
	fclose(f);
	buffer[got] = '\0';
	for (const char *at = buffer; at < buffer + got; at += strlen(at) + 1) {
		if (!strncmp(at, name, len) && at[len] == '=')
			return at + len + 1;
	}
	return NULL;
}

int target_open_command(const char *name, struct target_file *file)
{
	const char *folders = getenv("PATH");
	char path[PATH_MAX];
	int err = -ENOENT;

	if (strchr(name, '/'))
		return target_open_file(name, name, file);
	for (folders = folders ? folders : "/bin:/usr/bin"; err && folders; folders++) {
		int len = (int)strcspn(folders, ":");

		/* an empty one is the working directory */
		if (snprintf(path, sizeof(path), "%.*s%s%s", len, folders, len ? "/" : "", name) <
			    (int)sizeof(path) &&
		    !access(path, X_OK))
			err = target_open_file(path, path, file);
		folders += len;
		if (!*folders)
			break;
	}
	return err;
}

int target_open_library(pid_t pid, const char *file_name, struct target_file *file)
{
	/* L4T 36 and later, L4T up to 35, CUDA's compatibility package, Debian, others */
	static const char installed[] = "/usr/lib/aarch64-linux-gnu/nvidia:"
					"/usr/lib/aarch64-linux-gnu/tegra:"
					"/usr/local/cuda/compat:"
					"/usr/lib/aarch64-linux-gnu:"
					"/usr/lib/x86_64-linux-gnu:"
					"/usr/lib64:/usr/lib";
	char *buffer = malloc(ENVIRONMENT_MAX);
	const char *folders;
	int err = -ENOENT;

	if (!buffer)
		return -ENOMEM;
	folders = read_variable(pid, "LD_LIBRARY_PATH", buffer, ENVIRONMENT_MAX);
	if (folders)
		err = try_folders(pid, folders, file_name, file);
	if (err)
		err = try_folders(pid, installed, file_name, file);
	free(buffer);
	return err;
}
