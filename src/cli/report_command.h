/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_REPORT_COMMAND_H
#define TEGRATRACE_REPORT_COMMAND_H

/* `tegratrace report RECORDING ...`: a recorded run again. Returns the exit status. */
int report_command(int argc, char **argv);

#endif
