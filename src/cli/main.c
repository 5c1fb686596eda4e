/* SPDX-License-Identifier: GPL-2.0-only */
#include <signal.h>
#include <stdio.h>

#include "base/msg.h"
#include "cli/run.h"
#include "report/schema.h"

int main(int argc, char **argv)
{
	struct options options;

	options_parse(&options, argc, argv);
	msg_set_verbose(options.verbose);
	msg_set_quiet(options.quiet);
	/* A closed pipe is an error of the write, not the end of the run. */
	signal(SIGPIPE, SIG_IGN);
	if (options.json_schema) {
		fputs(report_schema(), stdout);
		return fflush(stdout) ? EXIT_RUN : EXIT_OK;
	}
	if (options.subcommand == COMMAND_DOCTOR)
		return run_doctor(&options);
	return run_trace(&options);
}
