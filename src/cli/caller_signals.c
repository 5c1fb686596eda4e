/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/caller_signals.h"

#include <signal.h>
#include <stddef.h>

static struct {
	sigset_t blocked;
	void (*pipe)(int);
	void (*child)(int);
	bool hangup_ignored;
} caller;

void caller_signals_replace(void)
{
	struct sigaction hangup;
	sigset_t none;

	/* A closed pipe is an error of the write, not the end of the run. */
	caller.pipe = signal(SIGPIPE, SIG_IGN);
	/* Ignored, the end of a child would be told to nobody, and its status lost. */
	caller.child = signal(SIGCHLD, SIG_DFL);
	caller.hangup_ignored = !sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler == SIG_IGN;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &caller.blocked);
}

void caller_signals_put_back(void)
{
	signal(SIGPIPE, caller.pipe);
	signal(SIGCHLD, caller.child);
	sigprocmask(SIG_SETMASK, &caller.blocked, NULL);
}

bool caller_ignores_hangup(void)
{
	return caller.hangup_ignored;
}
