/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FORMAT_MAX 16384

static int open_below(const char *root)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (faccessat(fd, "events/sched", F_OK, 0)) {
		int err = errno;

		close(fd);
		return -err;
	}
	return fd;
}

/* A mount without a place in any namespace (fsopen, 5.2). */
static int open_detached(void)
{
	int context = syscall(SYS_fsopen, "tracefs", 1 /* FSOPEN_CLOEXEC */);
	int fd, err;

	if (context < 0)
		return -errno;
	if (syscall(SYS_fsconfig, context, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0)) {
		err = errno;
		close(context);
		return -err;
	}
	fd = syscall(SYS_fsmount, context, 1 /* FSMOUNT_CLOEXEC */, 0);
	err = errno;
	close(context);
	return fd < 0 ? -err : fd;
}

int tracefs_open(struct tracefs *tracefs)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	bool denied = false;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		tracefs->fd = open_below(places[i]);
		if (tracefs->fd >= 0) {
			snprintf(tracefs->where, sizeof(tracefs->where), "%s", places[i]);
			return 0;
		}
		denied |= tracefs->fd == -EACCES;
	}
	tracefs->fd = open_detached();
	if (tracefs->fd >= 0) {
		snprintf(tracefs->where, sizeof(tracefs->where), "detached mount");
		return 0;
	}
	snprintf(tracefs->where, sizeof(tracefs->where), "%s",
		 denied || tracefs->fd == -EPERM
			 ? "not readable: run as root"
			 : "not mounted: mount -t tracefs tracefs /sys/kernel/tracing");
	denied |= tracefs->fd == -EPERM;
	tracefs->fd = -1;
	return denied ? -EACCES : -ENOENT;
}

void tracefs_close(struct tracefs *tracefs)
{
	if (tracefs->fd >= 0)
		close(tracefs->fd);
	tracefs->fd = -1;
}

/* Returns the length read, text NUL-terminated, or -errno. */
static int read_event_file(const struct tracefs *tracefs, const char *event, const char *file,
			   char *text, size_t size)
{
	char path[256];
	ssize_t n, got = 0;
	int fd;

	snprintf(path, sizeof(path), "events/%s/%s", event, file);
	fd = openat(tracefs->fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((size_t)got < size - 1 && (n = read(fd, text + got, size - 1 - got)) > 0)
		got += n;
	close(fd);
	text[got] = '\0';
	return (int)got;
}

int tracefs_event_id(const struct tracefs *tracefs, const char *event)
{
	char text[32];
	int err = read_event_file(tracefs, event, "id", text, sizeof(text));

	return err < 0 ? err : atoi(text);
}

/* "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;" and "field:char comm[16];\t..." */
static void parse_field_line(const char *line, size_t len, struct tracefs_field *fields, int n)
{
	char name[64] = "";
	const char *end = memchr(line, ';', len), *start;
	int offset, size;
	size_t name_len;
	char closed;

	/* the semicolon tells a whole number from one that the end of the text cut */
	if (!end || sscanf(end, "; offset:%d; size:%d%c", &offset, &size, &closed) != 3 ||
	    closed != ';')
		return;
	for (start = end; start > line && start[-1] != ' ' && start[-1] != '*';)
		start--;
	name_len = strcspn(start, "[;");
	if (name_len >= sizeof(name))
		return;
	memcpy(name, start, name_len);
	for (int i = 0; i < n; i++) {
		if (!strcmp(fields[i].name, name)) {
			fields[i].offset = offset;
			fields[i].size = size;
		}
	}
}

int tracefs_parse_format(const char *text, struct tracefs_field *fields, int n)
{
	for (int i = 0; i < n; i++)
		fields[i].offset = fields[i].size = 0;
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");

		if (len > 7 && !strncmp(line, "\tfield:", 7))
			parse_field_line(line + 7, len - 7, fields, n);
		line += len + (line[len] == '\n');
	}
	for (int i = 0; i < n; i++) {
		if (!fields[i].size)
			return -ENOENT;
	}
	return 0;
}

int tracefs_event_fields(const struct tracefs *tracefs, const char *event,
			 struct tracefs_field *fields, int n)
{
	char text[FORMAT_MAX];
	int err = read_event_file(tracefs, event, "format", text, sizeof(text));

	return err < 0 ? err : tracefs_parse_format(text, fields, n);
}
