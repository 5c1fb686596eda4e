/* SPDX-License-Identifier: GPL-2.0-only */
/* tegratrace run: clocks, warm-up, measured runs, files and the comparison, as one job. */
#ifndef TEGRATRACE_RUN_COMMAND_H
#define TEGRATRACE_RUN_COMMAND_H

/* Arguments and status of a main(): the command's own, or an enum exit_status. */
int run_command(int argc, char **argv);

#endif
