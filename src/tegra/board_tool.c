/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/board_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

/* jetson_clocks takes a second or two; nvpmodel waits for cores that come and go. */
#define LIMIT_S	    120
#define ARGS_MAX    8
#define OUTPUT_SIZE 4096

int board_tool_find(const char *name, char *path, size_t size)
{
	static const char *const folders[] = {"/usr/sbin", "/usr/bin", "/sbin", "/bin"};
	const char *root = getenv("TEGRATRACE_ROOT");

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		int n = snprintf(path, size, "%s%s/%s", root ? root : "", folders[i], name);

		if (n > 0 && (size_t)n < size && !access(path, X_OK))
			return 0;
	}
	*path = '\0';
	return -ENOENT;
}

static void run_tool(const char *path, const char *const *args, const char *home, int lock, int out)
{
	static char home_setting[PATH_MAX + 8];
	char *argv[ARGS_MAX + 2] = {(char *)path}, *env[4];
	sigset_t none;
	int null = open("/dev/null", O_RDONLY);

	for (int i = 0; i < ARGS_MAX && args[i]; i++)
		argv[i + 1] = (char *)args[i];
	snprintf(home_setting, sizeof(home_setting), "HOME=%s", home);
	env[0] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	env[1] = "LC_ALL=C";
	env[2] = home_setting;
	env[3] = NULL;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Nor must it end half-way because nobody reads its words any more. */
	signal(SIGPIPE, SIG_IGN);
	fcntl(lock, F_SETFD, 0);
	/* A session of its own: Ctrl-C at the terminal must not leave half of the clocks set. */
	setsid();
	if (dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0)
		_exit(125);
	execve(path, argv, env);
	_exit(errno == ENOENT ? 127 : 126);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* What it prints, until it ends; the rest of what does not fit is read and dropped. */
static int collect(pid_t pid, int fd, char *output, int *status)
{
	int64_t end_ms = now_ms() + LIMIT_S * 1000LL;
	size_t length = 0;

	for (;;) {
		struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
		char rest[512];
		bool full = length + 1 >= OUTPUT_SIZE;
		ssize_t n;

		if (now_ms() >= end_ms) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, status, 0);
			output[length] = '\0';
			return -ETIMEDOUT;
		}
		/* A daemon that it started may keep the pipe open: its own end is what counts. */
		if (poll(&poll_fd, 1, 50) <= 0) {
			if (waitpid(pid, status, WNOHANG) == pid)
				break;
			continue;
		}
		n = read(fd, full ? rest : output + length,
			 full ? sizeof(rest) : OUTPUT_SIZE - 1 - length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			while (waitpid(pid, status, 0) < 0 && errno == EINTR)
				;
			break;
		}
		length += full ? 0 : (size_t)n;
	}
	output[length] = '\0';
	return 0;
}

static bool begins(const char *line, const char *word)
{
	return !strncasecmp(line, word, strlen(word));
}

static void read_lines(char *output, struct board_tool_result *result)
{
	char *save = NULL;

	result->reboot = strcasestr(output, "reboot");
	for (char *line = strtok_r(output, "\r\n", &save); line;
	     line = strtok_r(NULL, "\r\n", &save)) {
		bool error = begins(line, "Error") || begins(line, "NVPM ERROR");

		if (*result->first && (result->error || !error))
			continue;
		result->error |= error;
		text_sanitize(result->first, sizeof(result->first), line, strlen(line));
	}
}

int board_tool_run(const char *path, const char *const *args, const char *home, int lock,
		   struct board_tool_result *result)
{
	char output[OUTPUT_SIZE] = "";
	int out[2], err;
	pid_t pid;

	memset(result, 0, sizeof(*result));
	if (pipe2(out, O_CLOEXEC))
		return -errno;
	pid = fork();
	err = pid < 0 ? -errno : 0;
	if (!pid)
		run_tool(path, args, home, lock, out[1]);
	close(out[1]);
	if (!err)
		err = collect(pid, out[0], output, &result->status);
	close(out[0]);
	read_lines(output, result);
	return err;
}
