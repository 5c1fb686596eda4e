/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/fd_names.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"
#include "probe/procfs.h"

/* Two that meet in one place replace each other: a bound, at the price of asking again. */
#define PLACES 1024

struct fd_name {
	pid_t pid; /* 0: empty */
	int fd;
	char name[112]; /* "" = not known */
};

struct fd_names {
	struct fd_name place[PLACES];
};

struct fd_names *fd_names_new(void)
{
	return calloc(1, sizeof(struct fd_names));
}

void fd_names_free(struct fd_names *names)
{
	free(names);
}

/* "UNIX-STREAM", "TCPv6", "UDP": sockfs gives the protocol as an attribute. */
static bool socket_protocol(const char *path, char *name, size_t size)
{
	char protocol[32];
	ssize_t n = getxattr(path, "system.sockprotoname", protocol, sizeof(protocol) - 1);
	size_t length = 0;

	if (n <= 0)
		return false;
	protocol[n] = 0;
	while (isupper((unsigned char)protocol[length]))
		length++;
	if (!length)
		return false;
	for (size_t i = 0; i < length; i++)
		protocol[i] = (char)tolower((unsigned char)protocol[i]);
	snprintf(name, size, "socket %.*s", (int)length, protocol);
	return true;
}

static void look_up(struct fd_name *entry)
{
	char path[PATH_MAX], target[PATH_MAX], link[32];
	ssize_t n;

	entry->name[0] = 0;
	snprintf(link, sizeof(link), "fd/%d", entry->fd);
	if (procfs_path(path, sizeof(path), entry->pid, PROCFS_PROCESS, link))
		return;
	n = readlink(path, target, sizeof(target));
	if (n <= 0)
		return;
	if ((size_t)n > strlen("socket:") && !strncmp(target, "socket:", strlen("socket:")) &&
	    socket_protocol(path, entry->name, sizeof(entry->name)))
		return;
	text_sanitize(entry->name, sizeof(entry->name), target, (size_t)n);
}

const char *fd_names_get(struct fd_names *names, pid_t pid, int fd)
{
	uint32_t hash = ((uint32_t)pid * 31 + (uint32_t)fd) * 2654435761u;
	struct fd_name *entry = &names->place[hash >> 22];

	if (pid < 1 || fd < 0)
		return NULL;
	if (entry->pid != pid || entry->fd != fd) {
		entry->pid = pid;
		entry->fd = fd;
		look_up(entry);
	}
	return entry->name[0] ? entry->name : NULL;
}

void fd_names_forget(struct fd_names *names)
{
	for (size_t i = 0; i < PLACES; i++)
		names->place[i].pid = 0;
}

/* "pipe:[4711]" without its number; the words in "anon_inode:[eventfd]" are no number. */
static size_t kind_length(const char *name)
{
	const char *number = *name == '/' ? NULL : strstr(name, ":[");

	return number && isdigit((unsigned char)number[2]) ? (size_t)(number - name) : strlen(name);
}

bool fd_names_alike(const char *a, const char *b)
{
	size_t length = kind_length(a);

	return length == kind_length(b) && !strncmp(a, b, length);
}
