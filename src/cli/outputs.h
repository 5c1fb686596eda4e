/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The forms that a session can be written in, each an option of `tegratrace`, and of
 * `tegratrace report`. A new one is one line in OUTPUT_FORMS of outputs.c.
 */
#ifndef TEGRATRACE_OUTPUTS_H
#define TEGRATRACE_OUTPUTS_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "diagnose/verdict.h"
#include "session/session.h"

/* One of the two functions is NULL. They return 0, -errno, or 1: failed and said why. */
struct output_form {
	const char *option;
	const char *what; /* "the JSON", for messages */
	int (*write)(FILE *out, const struct session *session, const struct verdict *verdict);
	/* Files of its own in a folder: output_folder_file() of report/output.h makes them. */
	int (*write_folder)(int folder, const struct session *session,
			    const struct verdict *verdict);
};

#define OUTPUT_FORMS_MAX 16

/* The form by number; NULL behind the last. */
const struct output_form *output_form(int number);

/* Number of the form of an option. */
int output_form_number(const char *option);

/* Where to, by number of the form: a path, "-" for standard output, NULL: not asked for. */
struct outputs_wanted {
	const char *path[OUTPUT_FORMS_MAX];
};

/* A child parser for the options; its input is a struct outputs_wanted. */
extern const struct argp outputs_argp;

bool outputs_wants(const struct outputs_wanted *wanted, const char *option);
bool outputs_wants_any(const struct outputs_wanted *wanted);

/* Whether one of them goes to standard output, which then carries nothing else. */
bool outputs_own_stdout(const struct outputs_wanted *wanted);

/* Prints a message and returns false when two of them want standard output. */
bool outputs_check(const struct outputs_wanted *wanted);

#endif
