/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_DIAGNOSE_COMMAND_H
#define TEGRATRACE_DIAGNOSE_COMMAND_H

/* `tegratrace diagnose LOG...`; argv[0] is "tegratrace diagnose". Returns the exit status. */
int diagnose_command(int argc, char **argv);

#endif
