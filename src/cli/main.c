/* SPDX-License-Identifier: GPL-2.0-only */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "cli/caller_signals.h"
#include "cli/clocks.h"
#include "cli/diagnose_command.h"
#include "cli/doctor.h"
#include "cli/report_command.h"
#include "cli/roofline_command.h"
#include "cli/run.h"
#include "cli/run_command.h"
#include "report/json/schema.h"
#include "report/output.h"

/* Subcommands with options of their own. */
static const struct {
	const char *word, *name;
	int (*run)(int argc, char **argv);
} subcommands[] = {
	{"run", "tegratrace run", run_command},
	{"doctor", "tegratrace doctor", doctor_command},
	{"diagnose", "tegratrace diagnose", diagnose_command},
	{"report", "tegratrace report", report_command},
	{"roofline", "tegratrace roofline", roofline_command},
};

/*
 * A descriptor 0-2 that the caller closed would be taken by the next file opened, and the report
 * would end up in it. /dev/full makes writing to a closed standard output the error that it is.
 */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open(fd == STDIN_FILENO ? "/dev/null" : "/dev/full", O_RDWR);
	}
}

/* Also of what argp prints, --help and --version; other failures to write were told of before. */
static void check_stdout(int status, void *unused)
{
	int err = output_finish(stdout);

	(void)unused;
	if (status || !err)
		return;
	msg_error("cannot write to standard output: %s", strerror(-err));
	_exit(EXIT_RUN);
}

int main(int argc, char **argv)
{
	struct options options;
	bool measured;

	fill_standard_descriptors();
	on_exit(check_stdout, NULL);
	caller_signals_replace();
	for (size_t i = 0; argc > 1 && i < sizeof(subcommands) / sizeof(subcommands[0]); i++) {
		if (strcmp(argv[1], subcommands[i].word))
			continue;
		argv[1] = (char *)subcommands[i].name;
		return subcommands[i].run(argc - 1, argv + 1);
	}
	options_parse(&options, argc, argv);
	msg_set_verbose(options.verbose);
	msg_set_quiet(options.quiet);
	if (options.json_schema) {
		fputs(report_schema(), stdout);
		return EXIT_OK;
	}
	clocks_repair_leftover();
	return run_trace(&options, &measured);
}
