/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the files of a job of several runs go. */
#ifndef TEGRATRACE_RUN_FILES_H
#define TEGRATRACE_RUN_FILES_H

#include <limits.h>
#include <stdbool.h>

#include "cli/options.h"

#define RUN_FILES_NAME 64

/* "infer" of "./bin/infer": the command's name with only letters, digits, '.', '_' and '-'. */
void run_files_name(char dst[RUN_FILES_NAME], const char *command);

/* "run.json" becomes "run-2.json". False when it does not fit. */
bool run_files_numbered(char *dst, size_t size, const char *path, int number);

struct run_files {
	const struct options *options; /* what the user asked for */
	int repeat;
	char folder[PATH_MAX]; /* empty: none is needed */
	bool made;	       /* so it goes again when it stays empty */
	char name[RUN_FILES_NAME];
};

/*
 * Makes the folder, `out` or one named after the date, when some file will be in it. Returns an exit
 * status.
 */
int run_files_open(struct run_files *files, const struct options *options, int repeat,
		   const char *out);

/* Of one run, numbered from 1. False, and said, when a path is too long. */
struct run_file_names {
	char recording[PATH_MAX];
	char form[OUTPUT_FORMS_MAX][PATH_MAX];
};

bool run_files_of(const struct run_files *files, int number, struct run_file_names *names,
		  struct options *options);

/* Removes a folder that it made and nothing was written to. */
void run_files_close(const struct run_files *files);

#endif
