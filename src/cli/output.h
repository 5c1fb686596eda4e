/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the report goes. */
#ifndef TEGRATRACE_CLI_OUTPUT_H
#define TEGRATRACE_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/outputs.h"
#include "diagnose/verdict.h"
#include "session/session.h"

struct output {
	FILE *file[OUTPUT_FORMS_MAX];	/* by form; NULL = not asked for */
	int folder[OUTPUT_FORMS_MAX];	/* likewise, -1 */
	bool emptied[OUTPUT_FORMS_MAX]; /* likewise: of what was there before */
	bool owns_stdout;
	bool lacking; /* a form that cannot be made here; said, and the others are */
};

/*
 * Opened before the run, so that a bad path costs no measurement. A file never replaces what a
 * symbolic link points to, and belongs to the user behind sudo. Returns an exit status.
 */
int output_open(struct output *output, const struct outputs_wanted *wanted);

/*
 * Whether `path`, of the output or input `other` ("-o"), is the file of one of the forms, which
 * would be lost or destroy it; then it prints a message.
 */
bool output_shares_file(const struct output *output, const char *other, const char *path);

/* True when standard output must carry the JSON or the stacks alone. */
bool output_owns_stdout(const struct output *output);

/* The text for people. Returns an exit status. */
int output_write_text(const struct output *output, const struct session *session,
		      const struct verdict *verdict, bool verbose, bool explain);

/* What was asked for; of a further session behind that of the first. Returns an exit status. */
int output_write_forms(struct output *output, const struct session *session,
		       const struct verdict *verdict);

/* Both. */
int output_write_all(struct output *output, const struct session *session,
		     const struct verdict *verdict, bool verbose, bool explain);

void output_close(struct output *output);

/* One file in that manner, not emptied yet; not "-". Returns an exit status. */
int output_open_file(const char *path, FILE **file);

/* Whether `path` is that file, a regular one, under whatever name. */
bool output_is_file(FILE *file, const char *path);

/* Before something is put into it: a run that is killed leaves what was there. 0 or -errno. */
int output_empty_file(FILE *file);

/* A folder to write to, made when it is not there (*made), then the user's behind sudo. */
int output_open_folder(const char *path, bool *made, int *folder);

#endif
