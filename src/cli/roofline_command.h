/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_ROOFLINE_COMMAND_H
#define TEGRATRACE_ROOFLINE_COMMAND_H

/*
 * "tegratrace roofline ...": the roofline of a module's table entry, without a board. argv[0] is
 * "tegratrace roofline". Returns the exit status, or exits on --help and on a bad command line.
 */
int roofline_command(int argc, char **argv);

#endif
