/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"

static int output_error(void)
{
	return errno ? -errno : -EIO;
}

int output_write(FILE *out, const char *data, size_t size)
{
	errno = 0;
	return fwrite(data, 1, size, out) == size ? 0 : output_error();
}

int output_finish(FILE *out)
{
	errno = 0;
	if (fflush(out))
		return output_error();
	return ferror(out) ? -EIO : 0;
}

void output_give_to_sudo_user(int fd)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	struct stat st;

	if (geteuid() || !uid || !gid || fstat(fd, &st) ||
	    !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return;
	if (fchown(fd, (uid_t)strtoul(uid, NULL, 10), (gid_t)strtoul(gid, NULL, 10)))
		msg_debug("cannot give the output file to the user behind sudo: %s",
			  strerror(errno));
}

int output_folder_file(int folder, const char *name, FILE **file)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	output_give_to_sudo_user(fd);
	*file = fdopen(fd, "w");
	if (*file)
		return 0;
	close(fd);
	return -ENOMEM;
}
