/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/msg.h"
#include "cli/caller_signals.h"
#include "cli/options.h"

static void run_held(char **argv, int release_fd, int error_fd, bool stdout_to_stderr)
{
	char go;
	int err;

	caller_signals_put_back();
	if (stdout_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	/* End of file without a byte: the parent gave up or was killed. */
	if (read(release_fd, &go, 1) != 1)
		_exit(125);
	execvp(argv[0], argv);
	err = errno;
	if (write(error_fd, &err, sizeof(err)) != sizeof(err))
		_exit(125);
	_exit(err == ENOENT ? 127 : 126);
}

int command_start(struct command *command, char **argv, bool stdout_to_stderr)
{
	int release[2], error[2], err;

	*command = (struct command){.release_fd = -1, .error_fd = -1, .status = -1};
	if (pipe2(release, O_CLOEXEC))
		return -errno;
	if (pipe2(error, O_CLOEXEC)) {
		err = -errno;
		close(release[0]);
		close(release[1]);
		return err;
	}
	command->pid = fork();
	err = command->pid < 0 ? -errno : 0;
	if (!command->pid) {
		close(release[1]);
		run_held(argv, release[0], error[1], stdout_to_stderr);
	}
	close(release[0]);
	close(error[1]);
	command->release_fd = release[1];
	command->error_fd = error[0];
	if (err) {
		command->pid = 0;
		close(release[1]);
		close(error[0]);
	}
	return err;
}

int command_release(struct command *command)
{
	ssize_t n;
	int err = 0;

	if (write(command->release_fd, "g", 1) != 1)
		err = errno;
	close(command->release_fd);
	command->release_fd = -1;
	/* Closed by a successful exec. */
	do {
		n = read(command->error_fd, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(command->error_fd);
	command->error_fd = -1;
	return n == sizeof(err) ? -err : 0;
}

bool command_reap(struct command *command)
{
	int status;
	pid_t done;

	if (!command->pid || command->ended)
		return command->ended;
	done = waitpid(command->pid, &status, WNOHANG);
	if (done == command->pid)
		command->status = status;
	command->ended = done == command->pid || (done < 0 && errno == ECHILD);
	if (command->ended && command->status < 0)
		msg_warn("PID %d has ended, but its exit status went elsewhere", command->pid);
	return command->ended;
}

void command_abandon(struct command *command)
{
	if (!command->pid || command->release_fd < 0)
		return;
	close(command->release_fd);
	close(command->error_fd);
	command->release_fd = command->error_fd = -1;
	waitpid(command->pid, NULL, 0);
}

int command_exit_status(const struct command *command)
{
	if (command->status < 0)
		return command->pid ? EXIT_RUN : EXIT_OK;
	if (WIFSIGNALED(command->status))
		return 128 + WTERMSIG(command->status);
	return WEXITSTATUS(command->status);
}
