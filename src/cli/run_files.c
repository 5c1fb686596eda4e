/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/run_files.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/text.h"
#include "cli/output.h"
#include "report/html/html.h"

#define SAME_SECOND 99

void run_files_name(char dst[RUN_FILES_NAME], const char *command)
{
	const char *slash = strrchr(command, '/');
	size_t n = 0;

	for (const char *at = slash ? slash + 1 : command; *at && n + 1 < RUN_FILES_NAME; at++) {
		bool alphanumeric = isascii(*at) && isalnum((unsigned char)*at);

		/* No hidden file, and none that looks like an option. */
		dst[n] = alphanumeric || (n && strchr("._-", *at)) ? *at : '_';
		n++;
	}
	dst[n] = '\0';
	if (!n)
		snprintf(dst, RUN_FILES_NAME, "run");
}

bool run_files_numbered(char *dst, size_t size, const char *path, int number)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	int stem = dot && dot != name ? (int)(dot - path) : (int)strlen(path);
	int n;

	/* of "folder/" too */
	while (!*name && stem > 1 && path[stem - 1] == '/')
		stem--;
	n = snprintf(dst, size, "%.*s-%d%s", stem, path, number, path + stem);
	return n > 0 && (size_t)n < size;
}

/* Whether a default name is needed: the recording's, or the page's. */
static bool wants_page(const struct options *options)
{
	return !outputs_wants(&options->outputs, "html") && report_html_available();
}

static int make_folder(struct run_files *files, const char *path)
{
	int folder, status = output_open_folder(path, &files->made, &folder);

	if (status)
		return status;
	close(folder);
	text_copy(files->folder, sizeof(files->folder), path);
	return EXIT_OK;
}

/* "tegratrace-20261130-203152", or with -2 behind it for a second one in that second. */
static int make_dated(struct run_files *files)
{
	char date[32], path[64];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	snprintf(path, sizeof(path), "tegratrace-%s", date);
	for (int i = 2; !access(path, F_OK) && i <= SAME_SECOND; i++)
		snprintf(path, sizeof(path), "tegratrace-%s-%d", date, i);
	return make_folder(files, path);
}

int run_files_open(struct run_files *files, const struct options *options, int repeat,
		   const char *out)
{
	*files = (struct run_files){.options = options, .repeat = repeat};
	run_files_name(files->name, options->command[0]);
	if (out && strlen(out) >= sizeof(files->folder) - RUN_FILES_NAME - 32) {
		msg_error("cannot write %s: %s", out, strerror(ENAMETOOLONG));
		return EXIT_USAGE;
	}
	if (out)
		return make_folder(files, out);
	if (!options->recording || wants_page(options))
		return make_dated(files);
	return EXIT_OK;
}

/* As the user named it, with the number in it where there are several runs. */
static bool named(const struct run_files *files, const char *path, int number, char *dst)
{
	if (files->repeat == 1 ? text_copy(dst, PATH_MAX, path)
			       : run_files_numbered(dst, PATH_MAX, path, number))
		return true;
	msg_error("cannot write %s: %s", path, strerror(ENAMETOOLONG));
	return false;
}

/* The folder's name is short enough for it: run_files_open() saw to that. */
static bool by_default(const struct run_files *files, const char *ending, int number, char *dst)
{
	const char *folder = files->folder;
	int n = snprintf(dst, PATH_MAX, "%s%s%s-%d.%s", folder,
			 folder[strlen(folder) - 1] == '/' ? "" : "/", files->name, number, ending);

	return n > 0 && n < PATH_MAX;
}

bool run_files_of(const struct run_files *files, int number, struct run_file_names *names,
		  struct options *options)
{
	*options = *files->options;
	options->recording = names->recording;
	if (!(files->options->recording
		      ? named(files, files->options->recording, number, names->recording)
		      : by_default(files, "ttr", number, names->recording)))
		return false;
	for (int i = 0; output_form(i); i++) {
		const char *path = files->options->outputs.path[i];

		if (!path || !strcmp(path, "-"))
			continue;
		if (!named(files, path, number, names->form[i]))
			return false;
		options->outputs.path[i] = names->form[i];
	}
	if (wants_page(files->options)) {
		int form = output_form_number("html");

		options->outputs.path[form] = names->form[form];
		return by_default(files, "html", number, names->form[form]);
	}
	return true;
}

void run_files_close(const struct run_files *files)
{
	if (files->made)
		rmdir(files->folder);
}
