/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/machine/kernel_config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Distributions' are up to 300 KB; more is no configuration. */
#define CONFIG_BYTES_MAX (4 << 20)

static const char prefix[] = "CONFIG_";
static const char off[] = " is not set";

/* "CONFIG_NAME=y" and "# CONFIG_NAME is not set"; false for any other line. */
static bool parse_line(const char *line, size_t length, const char *option, size_t option_length,
		       enum config_value *value)
{
	bool comment = length > 2 && line[0] == '#' && line[1] == ' ';
	const char *rest;

	if (comment) {
		line += 2;
		length -= 2;
	}
	if (length < sizeof(prefix) + option_length ||
	    memcmp(line, prefix, sizeof(prefix) - 1) != 0 ||
	    memcmp(line + sizeof(prefix) - 1, option, option_length) != 0)
		return false;
	rest = line + sizeof(prefix) - 1 + option_length;
	length -= sizeof(prefix) - 1 + option_length;
	if (comment) {
		if (length != sizeof(off) - 1 || memcmp(rest, off, length) != 0)
			return false;
		*value = CONFIG_VALUE_OFF;
		return true;
	}
	if (length < 2 || rest[0] != '=')
		return false;
	*value = CONFIG_VALUE_ON;
	if (length == 2 && rest[1] == 'm')
		*value = CONFIG_VALUE_MODULE;
	if (length == 2 && rest[1] == 'n')
		*value = CONFIG_VALUE_OFF;
	return true;
}

/* False when no line names it. Of several lines the last one counts, as for Kconfig. */
static bool find(const struct kernel_config *config, const char *option, enum config_value *value)
{
	size_t option_length = strlen(option);
	const char *line = config->text, *end = config->text + config->length;
	bool found = false;

	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((newline ? newline : end) - line);

		/* a line that the end of the text cut is no evidence */
		if (newline)
			found |= parse_line(line, length, option, option_length, value);
		line += length + 1;
	}
	return found;
}

/* Returns 0, or -errno with what could be read. */
static int read_text(struct kernel_config *config, const char *path)
{
	gzFile file = gzopen(path, "re");
	int n = 1, err = Z_OK;

	if (!file)
		return errno ? -errno : -ENOMEM;
	config->text = malloc(CONFIG_BYTES_MAX);
	while (config->text && n > 0 && config->length < CONFIG_BYTES_MAX) {
		n = gzread(file, config->text + config->length,
			   (unsigned int)(CONFIG_BYTES_MAX - config->length));
		if (n > 0)
			config->length += (size_t)n;
	}
	gzerror(file, &err);
	config->whole = n == 0 && err == Z_OK && config->length < CONFIG_BYTES_MAX;
	/* zlib: the stream ended early, which only closing tells */
	if (gzclose_r(file) != Z_OK)
		config->whole = false;
	return config->text ? 0 : -ENOMEM;
}

int kernel_config_read_file(struct kernel_config *config, const char *path)
{
	enum config_value value = CONFIG_VALUE_UNKNOWN;
	int err;

	*config = (struct kernel_config){0};
	err = read_text(config, path);
	if (!err && !find(config, "64BIT", &value) && !find(config, "PRINTK", &value) &&
	    !find(config, "MODULES", &value))
		err = -EINVAL;
	if (err) {
		kernel_config_free(config);
		return err;
	}
	/*
	 * An option whose dependencies are not met has no line at all, so only a whole file tells
	 * that it is off. Tracers are in the last menu, and every kernel that can trace names them.
	 */
	config->whole = config->whole && find(config, "FTRACE", &value);
	snprintf(config->source, sizeof(config->source), "%s", path);
	return 0;
}

int kernel_config_read(struct kernel_config *config, const char *root, const char *release)
{
	static const char *const places[] = {"/proc/config.gz", "/boot/config-%s",
					     "/lib/modules/%s/config",
					     "/lib/modules/%s/build/.config"};
	char path[PATH_MAX], place[256];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *name = strstr(places[i], "%s");

		if (name)
			snprintf(place, sizeof(place), "%.*s%s%s", (int)(name - places[i]),
				 places[i], release, name + 2);
		else
			snprintf(place, sizeof(place), "%s", places[i]);
		snprintf(path, sizeof(path), "%s%s", root, place);
		if (!kernel_config_read_file(config, path)) {
			snprintf(config->source, sizeof(config->source), "%.127s", place);
			return 0;
		}
	}
	snprintf(config->source, sizeof(config->source),
		 "no /proc/config.gz (CONFIG_IKCONFIG_PROC) and no /boot/config-%.64s", release);
	return -ENOENT;
}

void kernel_config_free(struct kernel_config *config)
{
	free(config->text);
	*config = (struct kernel_config){0};
}

enum config_value kernel_config_get(const struct kernel_config *config, const char *option)
{
	enum config_value value = CONFIG_VALUE_UNKNOWN;

	if (!config->text)
		return CONFIG_VALUE_UNKNOWN;
	if (!find(config, option, &value) && config->whole)
		return CONFIG_VALUE_OFF;
	return value;
}
