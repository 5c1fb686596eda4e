/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Folded stacks: "thread;outermost;...;innermost COUNT", one a line, as flame graph programs read
 * them. A name must hold neither their separators nor what disturbs a terminal.
 */
#ifndef TEGRATRACE_FRAME_H
#define TEGRATRACE_FRAME_H

#include <stddef.h>

/*
 * A name as a frame: ';' becomes ':', blanks '_', and what text_sanitize() escapes is escaped; "?"
 * when empty. Returns the length.
 */
size_t frame_escape(char *dst, size_t size, const char *name);

#endif
