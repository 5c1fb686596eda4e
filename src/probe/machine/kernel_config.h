/* SPDX-License-Identifier: GPL-2.0-only */
/* The configuration that the running kernel was built with, where it can be read. */
#ifndef TEGRATRACE_KERNEL_CONFIG_H
#define TEGRATRACE_KERNEL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum config_value {
	CONFIG_VALUE_UNKNOWN, /* no configuration, or its end is missing */
	CONFIG_VALUE_OFF,     /* said to be off, or not named by a whole configuration */
	CONFIG_VALUE_MODULE,
	CONFIG_VALUE_ON, /* y, a number or a text */
};

struct kernel_config {
	char source[128]; /* the file, or why there is none */
	char *text;	  /* NULL without one */
	size_t length;
	bool whole; /* read to its end, and that is the end of a configuration */
};

/*
 * Reads the first of /proc/config.gz, /boot/config-RELEASE and the two usual files below
 * /lib/modules/RELEASE that is a configuration, below `root` ("" in use). Returns 0 or -ENOENT.
 */
int kernel_config_read(struct kernel_config *config, const char *root, const char *release);

/* One file, plain or gzip. Returns 0 or -errno; -EINVAL when it is no configuration. */
int kernel_config_read_file(struct kernel_config *config, const char *path);

void kernel_config_free(struct kernel_config *config);

/* `option` without CONFIG_. */
enum config_value kernel_config_get(const struct kernel_config *config, const char *option);

#endif
