/* SPDX-License-Identifier: GPL-2.0-only */
/* One-value files of sysfs, procfs and debugfs, below TEGRATRACE_ROOT. */
#include "tegra/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#define NUMBER_DIGITS 18 /* always fits an int64_t */
#define HWMON_MAX     32

static const char *root(void)
{
	const char *dir = getenv("TEGRATRACE_ROOT");

	return dir ? dir : "";
}

void sysfs_file_init(struct sysfs_file *file)
{
	file->fd = -1;
	file->error = -ENOENT;
	file->path[0] = '\0';
}

static int open_path(struct sysfs_file *file, const char *path)
{
	char full[PATH_MAX];

	sysfs_file_init(file);
	if (!text_copy(file->path, sizeof(file->path), path) ||
	    snprintf(full, sizeof(full), "%s%s", root(), path) >= (int)sizeof(full)) {
		file->error = -ENAMETOOLONG;
		return file->error;
	}
	/* A FIFO or device in a folder of fixtures must not hold up the probe. */
	file->fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	file->error = file->fd < 0 ? -errno : 0;
	return file->error;
}

static int open_format(struct sysfs_file *file, const char *format, va_list args)
{
	char path[SYSFS_PATH_SIZE] = "";

	sysfs_file_init(file);
	if (!text_vappendf(path, sizeof(path), format, args)) {
		file->error = -ENAMETOOLONG;
		return file->error;
	}
	return open_path(file, path);
}

int sysfs_file_open(struct sysfs_file *file, const char *format, ...)
{
	va_list args;
	int error;

	va_start(args, format);
	error = open_format(file, format, args);
	va_end(args);
	return error;
}

void sysfs_file_close(struct sysfs_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	sysfs_file_init(file);
}

int sysfs_file_text(const struct sysfs_file *file, char *text, size_t size)
{
	ssize_t n;

	text[0] = '\0';
	if (file->fd < 0)
		return file->error;
	do {
		n = pread(file->fd, text, size - 1, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return n ? (int)n : -ENODATA;
}

static int parse_number(const char *p, int64_t *value)
{
	bool negative;
	int digits = 0;
	int64_t sum = 0;

	while (isspace((unsigned char)*p))
		p++;
	negative = *p == '-';
	if (negative)
		p++;
	for (; isdigit((unsigned char)*p); p++) {
		if (++digits > NUMBER_DIGITS)
			return -ERANGE;
		sum = sum * 10 + (*p - '0');
	}
	while (isspace((unsigned char)*p))
		p++;
	if (!digits || *p)
		return -EBADMSG;
	*value = negative ? -sum : sum;
	return 0;
}

int sysfs_file_number(const struct sysfs_file *file, int64_t *value)
{
	char text[32];
	int n = sysfs_file_text(file, text, sizeof(text));

	if (n < 0)
		return n;
	return parse_number(text, value);
}

int sysfs_file_range(const struct sysfs_file *file, int64_t min, int64_t max, int64_t *value)
{
	int64_t number;
	int error = sysfs_file_number(file, &number);

	if (error)
		return error;
	if (number < min || number > max)
		return -ERANGE;
	*value = number;
	return 0;
}

bool sysfs_file_keep(struct sysfs_file *file)
{
	int64_t value;
	int error = sysfs_file_number(file, &value);
	char path[SYSFS_PATH_SIZE];

	if (!error || (file->fd >= 0 && (error == -EAGAIN || error == -ENODATA)))
		return true;
	text_copy(path, sizeof(path), file->path);
	sysfs_file_close(file);
	text_copy(file->path, sizeof(file->path), path);
	file->error = error;
	return false;
}

/* Of several failed paths the one that is there tells more than those that are not. */
static int telling(int before, int error)
{
	return before == -ENOENT || error == -EACCES || error == -EPERM ? error : before;
}

bool sysfs_file_probe(struct sysfs_file *file, const char *const *patterns)
{
	char paths[8][SYSFS_PATH_SIZE];
	int why = -ENOENT;

	for (; *patterns; patterns++) {
		size_t n = 1;

		/* glob() does not tell a closed folder from an empty one, open() does. */
		if (strpbrk(*patterns, "*?["))
			n = sysfs_glob(*patterns, paths, 8);
		else
			text_copy(paths[0], SYSFS_PATH_SIZE, *patterns);
		for (size_t i = 0; i < n; i++) {
			open_path(file, paths[i]);
			if (sysfs_file_keep(file))
				return true;
			why = telling(why, file->error);
		}
	}
	sysfs_file_init(file);
	file->error = why;
	return false;
}

static int read_all(char *text, size_t size, const char *format, va_list args)
{
	struct sysfs_file file;
	int n;

	open_format(&file, format, args);
	n = sysfs_file_text(&file, text, size);
	sysfs_file_close(&file);
	return n;
}

int sysfs_read_text(char *text, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = read_all(text, size, format, args);
	va_end(args);
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
	return n;
}

int sysfs_read_number(int64_t *value, const char *format, ...)
{
	char text[32];
	va_list args;
	int n;

	va_start(args, format);
	n = read_all(text, sizeof(text), format, args);
	va_end(args);
	return n < 0 ? n : parse_number(text, value);
}

static int by_number(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strverscmp(*left, *right);
}

size_t sysfs_glob(const char *pattern, char (*paths)[SYSFS_PATH_SIZE], size_t max)
{
	char full[PATH_MAX];
	const char *dir = root();
	size_t skip = strlen(dir), n = 0, found = 0;
	glob_t list;

	for (const char *p = dir; *p && n + 2 < sizeof(full); p++) {
		if (strchr("*?[\\", *p))
			full[n++] = '\\';
		full[n++] = *p;
	}
	full[n] = '\0';
	if (!text_appendf(full, sizeof(full), "%s", pattern) ||
	    glob(full, GLOB_NOSORT, NULL, &list))
		return 0;
	qsort(list.gl_pathv, list.gl_pathc, sizeof(*list.gl_pathv), by_number);
	for (size_t i = 0; i < list.gl_pathc && found < max; i++) {
		if (text_copy(paths[found], SYSFS_PATH_SIZE, list.gl_pathv[i] + skip))
			found++;
	}
	globfree(&list);
	return found;
}

size_t sysfs_hwmon(const char *name, char (*paths)[SYSFS_PATH_SIZE], size_t max)
{
	char all[HWMON_MAX][SYSFS_PATH_SIZE], text[TEGRA_NAME_SIZE];
	size_t n = sysfs_glob("/sys/class/hwmon/hwmon*", all, HWMON_MAX), found = 0;
	size_t len = strlen(name);
	bool any_rest = len && name[len - 1] == '*';

	for (size_t i = 0; i < n && found < max; i++) {
		if (sysfs_read_text(text, sizeof(text), "%s/name", all[i]) < 0)
			continue;
		if (any_rest ? !strncmp(text, name, len - 1) : !strcmp(text, name))
			text_copy(paths[found++], SYSFS_PATH_SIZE, all[i]);
	}
	return found;
}

void sysfs_name(char name[TEGRA_NAME_SIZE], const char *raw)
{
	text_copy(name, TEGRA_NAME_SIZE, raw);
	for (char *p = name; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("_-.", *p))
			*p = '_';
	}
}
