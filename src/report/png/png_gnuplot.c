/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "report/png/png.h"
#include "report/png/png_parts.h"

#define CPU_LIMIT_S 60

enum { CANNOT_START = 126 };

/* Only whole paths: a relative one in PATH would be a program of the folder we are in. */
static bool find_gnuplot(char *path, size_t size)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t len = strcspn(at, ":");

		if (*at == '/' &&
		    (size_t)snprintf(path, size, "%.*s/gnuplot", (int)len, at) < size &&
		    !access(path, X_OK))
			return true;
		at += len;
		at += *at == ':';
	}
	return false;
}

bool png_available(void)
{
	char path[4096];

	return find_gnuplot(path, sizeof(path));
}

static bool become_sudo_user(void)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	if (geteuid() || !uid || !gid)
		return true;
	return !setgroups(0, NULL) && !setgid((gid_t)strtoul(gid, NULL, 10)) &&
	       !setuid((uid_t)strtoul(uid, NULL, 10));
}

static void restore_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void start(const char *path, const int streams[3])
{
	char *const argv[] = {"gnuplot", "--default-settings", "-", NULL};
	char *const environment[] = {"LC_ALL=C.UTF-8", "HOME=/", "PATH=/usr/bin:/bin", NULL};
	const struct rlimit cpu = {CPU_LIMIT_S, CPU_LIMIT_S};

	restore_signals();
	for (int i = 0; i < 3; i++) {
		if (dup2(streams[i], i) < 0)
			_exit(CANNOT_START);
	}
	if (!become_sudo_user() || setrlimit(RLIMIT_CPU, &cpu))
		_exit(CANNOT_START);
	execve(path, argv, environment);
	_exit(CANNOT_START);
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static void last_line(int fd, char *dst, size_t size)
{
	char text[2048];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	char *line, *from = text, *last = NULL;

	text[n > 0 ? n : 0] = '\0';
	while ((line = strsep(&from, "\n"))) {
		line += strspn(line, " \t^");
		if (*line)
			last = line;
	}
	if (last)
		text_sanitize(dst, size, last, strlen(last));
}

static int wait_for(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int run(const char *path, const int streams[3], char *why, size_t why_size)
{
	int status, err;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		start(path, streams);
	err = wait_for(pid, &status);
	if (err)
		return err;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFSIGNALED(status))
		snprintf(why, why_size, "killed by signal %d", WTERMSIG(status));
	else
		snprintf(why, why_size, "exit status %d", WEXITSTATUS(status));
	last_line(streams[STDERR_FILENO], why, why_size);
	return 1;
}

int png_gnuplot(const char *script, size_t size, int picture, char *why, size_t why_size)
{
	int streams[3] = {-1, picture, -1};
	char path[4096];
	int err;

	if (!find_gnuplot(path, sizeof(path))) {
		snprintf(why, why_size, "it is not installed");
		return 1;
	}
	streams[STDIN_FILENO] = memfd_create("script", MFD_CLOEXEC);
	streams[STDERR_FILENO] = memfd_create("errors", MFD_CLOEXEC);
	if (streams[STDIN_FILENO] < 0 || streams[STDERR_FILENO] < 0)
		err = -errno;
	else
		err = write_all(streams[STDIN_FILENO], script, size);
	if (!err)
		err = run(path, streams, why, why_size);
	if (streams[STDIN_FILENO] >= 0)
		close(streams[STDIN_FILENO]);
	if (streams[STDERR_FILENO] >= 0)
		close(streams[STDERR_FILENO]);
	return err;
}
