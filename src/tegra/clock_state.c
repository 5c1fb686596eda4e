/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/clock_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/text_file.h"

#define FOLDER	  "/var/lib/tegratrace"
#define FILE_NAME "clocks"
#define FILE_NEW  "clocks.new"
#define FILE_LOCK "clocks.lock"
/* jetson_clocks keeps it in its HOME. */
#define FILE_FAN  ".jetsonclocks_fan.txt"
#define FILE_SIZE 256
#define MODE_MAX  999

static int tell(char *line, size_t size, int err, const char *name, const char *why)
{
	char folder[PATH_MAX];

	clock_state_folder(folder, sizeof(folder));
	snprintf(line, size, "%s%s%s: %s", folder, *name ? "/" : "", name, why);
	return err;
}

int clock_state_format(const struct clock_state *state, char *text, size_t size)
{
	int n = snprintf(text, size, "tegratrace-clocks 1\nboot %s\npid %d\nmode %d %d\n",
			 *state->boot_id ? state->boot_id : "-", (int)state->pid,
			 state->mode_before, state->mode_set);

	return n < 0 || (size_t)n >= size ? -EINVAL : n;
}

int clock_state_parse(struct clock_state *state, const char *text)
{
	char again[FILE_SIZE], boot_id[CLOCK_BOOT_ID] = "";
	int pid, before, set;

	memset(state, 0, sizeof(*state));
	if (sscanf(text, "tegratrace-clocks 1\nboot %36[0-9a-f-]\npid %9d\nmode %4d %4d\n", boot_id,
		   &pid, &before, &set) != 4)
		return -EBADMSG;
	if (pid < 1 || before < -1 || before > MODE_MAX || set < -1 || set > MODE_MAX ||
	    (before < 0) != (set < 0))
		return -EBADMSG;
	if (strcmp(boot_id, "-"))
		text_copy(state->boot_id, sizeof(state->boot_id), boot_id);
	state->pid = pid;
	state->mode_before = before;
	state->mode_set = set;
	/* sscanf() forgives blanks, signs and what comes behind. */
	return clock_state_format(state, again, sizeof(again)) < 0 || strcmp(again, text) ? -EBADMSG
											  : 0;
}

void clock_state_boot_id(char boot_id[CLOCK_BOOT_ID])
{
	text_file_read(boot_id, CLOCK_BOOT_ID, "/proc/sys/kernel/random/boot_id");
	boot_id[strspn(boot_id, "0123456789abcdef-")] = '\0';
}

bool clock_state_folder(char *path, size_t size)
{
	const char *root = getenv("TEGRATRACE_ROOT");
	int n = snprintf(path, size, "%s%s", root ? root : "", FOLDER);

	return n > 0 && (size_t)n < size;
}

static bool only_roots(const struct stat *st)
{
	return !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static void sync_parent(int folder)
{
	int parent = openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (parent < 0)
		return;
	fsync(parent);
	close(parent);
}

int clock_state_open(bool make, int *folder, char *line, size_t size)
{
	char path[PATH_MAX];
	struct stat st;
	bool made;
	int err;

	*folder = -1;
	if (!clock_state_folder(path, sizeof(path)))
		return tell(line, size, -ENAMETOOLONG, "", strerror(ENAMETOOLONG));
	made = make && !mkdir(path, 0755);
	if (make && !made && errno != EEXIST)
		return tell(line, size, -errno, "", strerror(errno));
	*folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*folder < 0) {
		err = errno;
		return tell(line, size, -err, "",
			    err == ENOTDIR || err == ELOOP
				    ? "it is no folder or a symbolic link; remove it"
				    : strerror(err));
	}
	if (made)
		sync_parent(*folder);
	if (!fstat(*folder, &st) && only_roots(&st))
		return 0;
	close(*folder);
	*folder = -1;
	return tell(line, size, -EPERM, "",
		    "others than root may write to it, so nothing in it is trusted: remove it");
}

/* Opens a file that only root can have written. */
static int open_own(int folder, const char *name, int *fd, char *line, size_t size)
{
	struct stat st;

	*fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*fd < 0 && errno != ELOOP)
		return tell(line, size, -errno, name, strerror(errno));
	if (*fd >= 0 && !fstat(*fd, &st) && S_ISREG(st.st_mode) && only_roots(&st) &&
	    st.st_nlink == 1)
		return 0;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return tell(line, size, -EPERM, name,
		    "it is not a plain file that only root can write, so it is not acted on: "
		    "remove it, and look at nvpmodel -q and jetson_clocks --show");
}

int clock_state_read(int folder, struct clock_state *state, char *line, size_t size)
{
	char text[FILE_SIZE] = "";
	ssize_t n;
	int fd, err = open_own(folder, FILE_NAME, &fd, line, size);

	if (err)
		return err;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n > 0 && strlen(text) == (size_t)n && !clock_state_parse(state, text))
		return 0;
	return tell(
		line, size, -EBADMSG, FILE_NAME,
		"it does not say what a run of tegratrace writes, so it is not acted on: remove "
		"it, and look at nvpmodel -q and jetson_clocks --show");
}

static int write_all(int folder, int fd, const char *text, size_t length)
{
	if (write(fd, text, length) != (ssize_t)length)
		return errno ? -errno : -EIO;
	if (fsync(fd) || renameat(folder, FILE_NEW, folder, FILE_NAME) || fsync(folder))
		return -errno;
	return 0;
}

int clock_state_write(int folder, const struct clock_state *state, char *line, size_t size)
{
	char text[FILE_SIZE];
	int fd, err, n = clock_state_format(state, text, sizeof(text));

	if (n < 0)
		return tell(line, size, n, FILE_NAME, strerror(-n));
	/* What a run left that was cut off here. */
	unlinkat(folder, FILE_NEW, 0);
	fd = openat(folder, FILE_NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return tell(line, size, -errno, FILE_NEW, strerror(errno));
	errno = 0;
	err = write_all(folder, fd, text, (size_t)n);
	close(fd);
	if (!err)
		return 0;
	unlinkat(folder, FILE_NEW, 0);
	return tell(line, size, err, FILE_NAME, strerror(-err));
}

int clock_state_remove(int folder, char *line, size_t size)
{
	if (unlinkat(folder, FILE_NAME, 0) && errno != ENOENT)
		return tell(line, size, -errno, FILE_NAME, strerror(errno));
	fsync(folder);
	unlinkat(folder, CLOCK_STATE_STORED, 0);
	unlinkat(folder, FILE_FAN, 0);
	return 0;
}

int clock_state_keep_stored(int folder, char *line, size_t size)
{
	struct stat st;
	int fd, err = open_own(folder, CLOCK_STATE_STORED, &fd, line, size);

	if (err)
		return err;
	if (fsync(fd) || fstat(fd, &st))
		err = tell(line, size, -errno, CLOCK_STATE_STORED, strerror(errno));
	else if (!st.st_size)
		err = tell(line, size, -ENODATA, CLOCK_STATE_STORED,
			   "jetson_clocks --store wrote nothing");
	close(fd);
	return err;
}

int clock_state_lock(int folder, int *lock)
{
	int err;

	*lock = openat(folder, FILE_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*lock < 0)
		return -errno;
	if (!flock(*lock, LOCK_EX | LOCK_NB))
		return 0;
	err = -errno;
	close(*lock);
	*lock = -1;
	return err;
}
