/* SPDX-License-Identifier: GPL-2.0-only */
/* A command started for the run: forked, held before exec until everything is attached. */
#ifndef TEGRATRACE_COMMAND_H
#define TEGRATRACE_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t pid;	/* 0 = none */
	int release_fd; /* -1 once released */
	int error_fd;	/* tells an exec that failed */
	bool ended;
	int status; /* of waitpid; -1 while it runs, or when somebody else took it */
};

/*
 * Fork and hold. With stdout_to_stderr the command's standard output goes to standard error,
 * because ours carries the report. Returns 0 or -errno.
 */
int command_start(struct command *command, char **argv, bool stdout_to_stderr);

/* Let it exec. Returns 0, or the -errno of its exec. */
int command_release(struct command *command);

/* True once it has ended; then status is set, if it can be known. */
bool command_reap(struct command *command);

/* Kill one that was never released. */
void command_abandon(struct command *command);

/* The status that we pass on once it has ended: its own, 128 + signal, EXIT_RUN if not known; 0 without one. */
int command_exit_status(const struct command *command);

#endif
