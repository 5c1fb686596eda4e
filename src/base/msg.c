/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

#define LINE_SIZE	2048
#define DEFAULT_COLUMNS 80

static bool verbose;
static bool quiet;
static bool status_stands;

static void clear_status(void)
{
	if (!status_stands)
		return;
	fputs("\r\033[K", stderr);
	status_stands = false;
}

static void print_line(const char *kind, const char *format, va_list args)
{
	char text[LINE_SIZE], safe[TEXT_SANITIZED_SIZE(LINE_SIZE)];

	/* Paths and names are hostile: whatever a message quotes stays one harmless line. */
	vsnprintf(text, sizeof(text), format, args);
	text_sanitize(safe, sizeof(safe), text, strlen(text));
	clear_status();
	fprintf(stderr, "tegratrace: %s%s\n", kind, safe);
}

void msg_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("error: ", format, args);
	va_end(args);
}

void msg_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("warning: ", format, args);
	va_end(args);
}

void msg_note(const char *format, ...)
{
	va_list args;

	if (quiet)
		return;
	va_start(args, format);
	print_line("", format, args);
	va_end(args);
}

void msg_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("", format, args);
	va_end(args);
}

void msg_vdebug(const char *format, va_list args)
{
	if (verbose)
		print_line("debug: ", format, args);
}

void msg_debug(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	msg_vdebug(format, args);
	va_end(args);
}

void msg_set_verbose(bool on)
{
	verbose = on;
}

bool msg_verbose(void)
{
	return verbose;
}

void msg_set_quiet(bool on)
{
	quiet = on;
}

int msg_status_columns(void)
{
	const char *term = getenv("TERM");
	struct winsize size;

	/* One that is dumb cannot take a line back. */
	if (quiet || !isatty(STDERR_FILENO) || (term && !strcmp(term, "dumb")))
		return 0;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0)
		return DEFAULT_COLUMNS - 1;
	return size.ws_col - 1;
}

void msg_status(const char *line)
{
	int columns = msg_status_columns();

	clear_status();
	if (!columns || !*line)
		return;
	fprintf(stderr, "%.*s", (int)text_prefix_bytes(line, (size_t)columns), line);
	fflush(stderr);
	status_stands = true;
}
