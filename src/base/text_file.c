/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/text_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/session.h"

static ssize_t read_whole(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t n = 1;

	while (n > 0 && length + 1 < size) {
		n = read(fd, text + length, size - 1 - length);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			length += (size_t)n;
	}
	text[n < 0 ? 0 : length] = 0;
	return n < 0 ? -errno : (ssize_t)length;
}

ssize_t text_file_read(char *text, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	ssize_t n;
	int fd;

	*text = 0;
	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read_whole(fd, text, size);
	close(fd);
	return n;
}

int64_t text_number(const char *text)
{
	const char *digits = text + strspn(text, " \t");
	long long value;
	char *end;

	if (!isdigit((unsigned char)digits[*digits == '-']))
		return UNKNOWN_COUNT;
	errno = 0;
	value = strtoll(digits, &end, 10);
	return errno || (*end && !isspace((unsigned char)*end)) ? UNKNOWN_COUNT : value;
}

int64_t text_keyed(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, length) && line[length] && strchr(" \t:", line[length]))
			return text_number(line + length + 1);
	}
	return UNKNOWN_COUNT;
}
