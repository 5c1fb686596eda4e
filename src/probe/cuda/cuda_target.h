/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of a target process that are to be probed: found in its maps, or where its loader would
 * look. Containers have their own files under the same paths, so a file is known by device and
 * inode, and everything else goes through a descriptor of it.
 */
#ifndef TEGRATRACE_CUDA_TARGET_H
#define TEGRATRACE_CUDA_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TARGET_PATH 160

struct target_file {
	int fd;
	dev_t dev;
	ino_t ino;
	char path[TARGET_PATH]; /* in the target, sanitised */
};

/*
 * Is a mapping's path that of a library? `name` is its base name, or the start of it up to ".so" or
 * a dot behind it: "libcuda.so" fits "/x/libcuda.so.1.1", not "/x/libcudart.so.12".
 */
bool target_path_fits(const char *path, const char *name);

/* The path of a line of /proc/PID/maps and its address range; false for one without a file. */
bool target_maps_line(const char *line, char range[40], const char **path);

/* Open the mapped file that fits. Returns 0, -ENOENT when none does, or another -errno. */
int target_open_mapped(pid_t pid, const char *name, struct target_file *file);

/* Open a path as the process sees it. Returns 0 or -errno. */
int target_open_path(pid_t pid, const char *path, struct target_file *file);

/* Open a path of our own; `shown` is what it is called. Returns 0 or -errno. */
int target_open_file(const char *path, const char *shown, struct target_file *file);

/* Open what execvp() would run under that name. Returns 0, -ENOENT or another -errno. */
int target_open_command(const char *name, struct target_file *file);

/*
 * Open the library that the process would load: LD_LIBRARY_PATH, then the folders where the CUDA
 * driver is installed. Returns 0 or -ENOENT.
 */
int target_open_library(pid_t pid, const char *file_name, struct target_file *file);

#endif
