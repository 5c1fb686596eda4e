/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the pictures: each writes a script for gnuplot that holds its data too. */
#ifndef TEGRATRACE_REPORT_PNG_PARTS_H
#define TEGRATRACE_REPORT_PNG_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "diagnose/verdict.h"
#include "session/session.h"

#define PNG_WIDTH  1800
#define PNG_HEIGHT 1500

/*
 * Text as a string of gnuplot's. Of a hostile name nothing but letters, digits, blanks and a few
 * plain signs reaches its parser: the rest is octal, so no quote, macro or command can begin. Cut to
 * `most_chars`.
 */
void png_quote(FILE *script, const char *text, int most_chars);

#define PNG_LABEL_CHARS	   60
#define PNG_TITLE_CHARS	   105 /* what a line of the picture holds in that size */
#define PNG_HEADLINE_CHARS 155

/* The first line of a picture: what was measured, on what. */
void png_title(char *title, size_t size, const struct session *session);

bool png_has_curves(const struct session *session);
void png_curves(FILE *script, const struct session *session, const struct verdict *verdict);
void png_roofline(FILE *script, const struct session *session, const struct verdict *verdict);

/*
 * Runs gnuplot as the user behind sudo, with no settings of anybody. `picture` is a file of the
 * caller's without a name. 0, -errno, or 1: gnuplot failed; `why` is its own last line, sanitised.
 */
int png_gnuplot(const char *script, size_t size, int picture, char *why, size_t why_size);

#endif
