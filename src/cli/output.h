/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the report goes. */
#ifndef TEGRATRACE_CLI_OUTPUT_H
#define TEGRATRACE_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "diagnose/verdict.h"
#include "session/session.h"

struct output {
	FILE *json;   /* NULL = none asked for */
	FILE *folded; /* likewise */
	FILE *html;
	bool owns_stdout;
};

/*
 * Opened before the run, so that a bad path costs no measurement. A file never replaces what a
 * symbolic link points to, and belongs to the user behind sudo. Returns an exit status.
 */
int output_open(struct output *output, bool json, const char *json_file, const char *folded_file,
		const char *html_file);

/* True when standard output must carry the JSON, the stacks or the page alone. */
bool output_owns_stdout(const struct output *output);

/* The text, and what else was asked for. Returns an exit status. */
int output_write_all(struct output *output, const struct session *session,
		     const struct verdict *verdict, bool verbose, bool explain);

void output_close(struct output *output);

#endif
