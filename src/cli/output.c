/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"
#include "cli/options.h"
#include "report/html/html.h"
#include "report/output.h"
#include "report/png/png.h"
#include "report/text/text.h"

static int cannot_write(const char *path)
{
	msg_error("cannot write %s: %s", path,
		  errno == ELOOP ? "it is a symbolic link; name the file itself" : strerror(errno));
	return EXIT_USAGE;
}

int output_open_file(const char *path, FILE **file)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return cannot_write(path);
	output_give_to_sudo_user(fd);
	*file = fdopen(fd, "w");
	if (!*file) {
		close(fd);
		return EXIT_RUN;
	}
	return EXIT_OK;
}

int output_empty_file(FILE *file)
{
	/* A pipe or a device has nothing to empty. */
	return ftruncate(fileno(file), 0) && errno != EINVAL ? -errno : 0;
}

/* A terminal, a pipe or /dev/null may be several outputs. */
bool output_is_file(FILE *file, const char *path)
{
	struct stat own, named;

	return !fstat(fileno(file), &own) && S_ISREG(own.st_mode) && !stat(path, &named) &&
	       own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

bool output_shares_file(const struct output *output, const char *other, const char *path)
{
	for (int i = 0; output_form(i); i++) {
		FILE *file = output->file[i];

		if (!file || file == stdout || !output_is_file(file, path))
			continue;
		msg_error("%s and --%s are the same file, %s: name another for one of them", other,
			  output_form(i)->option, path);
		return true;
	}
	return false;
}

static int open_form(struct output *output, int number, const char *path)
{
	char option[32];
	FILE *file;
	int status;

	if (!strcmp(path, "-")) {
		output->file[number] = stdout;
		output->owns_stdout = true;
		return EXIT_OK;
	}
	status = output_open_file(path, &file);
	if (status)
		return status;
	snprintf(option, sizeof(option), "--%s", output_form(number)->option);
	if (output_shares_file(output, option, path)) {
		fclose(file);
		return EXIT_USAGE;
	}
	output->file[number] = file;
	return EXIT_OK;
}

/* A folder that is there is used as it is; its owner stays. */
int output_open_folder(const char *path, bool *made, int *folder)
{
	*made = !mkdir(path, 0755);
	*folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*folder >= 0 && faccessat(*folder, ".", W_OK, AT_EACCESS)) {
		close(*folder);
		*folder = -1;
	}
	if (*folder < 0)
		return cannot_write(path);
	if (*made)
		output_give_to_sudo_user(*folder);
	return EXIT_OK;
}

/* Said before the run: another hour would not be measured for want of a picture. */
static bool is_lacking(struct output *output, const char *option)
{
	if (strcmp(option, "png") || png_available())
		return false;
	msg_warn("no --png: gnuplot is not installed; install it (apt-get install gnuplot-nox)");
	output->lacking = true;
	return true;
}

int output_open(struct output *output, const struct outputs_wanted *wanted)
{
	int status = EXIT_OK;
	bool made;

	*output = (struct output){0};
	for (int i = 0; i < OUTPUT_FORMS_MAX; i++)
		output->folder[i] = -1;
	if (outputs_wants(wanted, "html") && !report_html_available()) {
		msg_error("no --html: this tegratrace was built without the page, for want of npm; "
			  "install it (tools/install-deps.sh page) and build again");
		return EXIT_UNSUPPORTED;
	}
	for (int i = 0; !status && output_form(i); i++) {
		const char *path = wanted->path[i];

		if (path && is_lacking(output, output_form(i)->option))
			continue;
		if (path && output_form(i)->write_folder)
			status = output_open_folder(path, &made, &output->folder[i]);
		else if (path)
			status = open_form(output, i, path);
	}
	return status;
}

bool output_owns_stdout(const struct output *output)
{
	return output->owns_stdout;
}

int output_write_text(const struct output *output, const struct session *session,
		      const struct verdict *verdict, bool verbose, bool explain)
{
	FILE *text = output->owns_stdout ? stderr : stdout;
	struct report_text_options options = {
		.verbose = verbose,
		.explain = explain,
		.color = isatty(fileno(text)) && !getenv("NO_COLOR"),
	};
	int err = report_text_write(text, session, verdict, &options);

	if (!err)
		return EXIT_OK;
	msg_error("cannot write the report: %s", strerror(-err));
	return EXIT_RUN;
}

/* Several sessions follow each other in a file. */
static int write_file(struct output *output, int number, const struct session *session,
		      const struct verdict *verdict)
{
	FILE *file = output->file[number];
	int err = 0;

	if (file != stdout && !output->emptied[number])
		err = output_empty_file(file);
	if (err)
		return err;
	output->emptied[number] = true;
	return output_form(number)->write(file, session, verdict);
}

int output_write_forms(struct output *output, const struct session *session,
		       const struct verdict *verdict)
{
	int status = output->lacking ? EXIT_RUN : EXIT_OK;

	for (int i = 0; output_form(i); i++) {
		const struct output_form *form = output_form(i);
		int err = 0;

		if (output->file[i])
			err = write_file(output, i, session, verdict);
		else if (output->folder[i] >= 0)
			err = form->write_folder(output->folder[i], session, verdict);
		if (err < 0)
			msg_error("cannot write %s: %s", form->what, strerror(-err));
		if (err)
			status = EXIT_RUN;
	}
	return status;
}

int output_write_all(struct output *output, const struct session *session,
		     const struct verdict *verdict, bool verbose, bool explain)
{
	int text = output_write_text(output, session, verdict, verbose, explain);
	int forms = output_write_forms(output, session, verdict);

	return text ? text : forms;
}

void output_close(struct output *output)
{
	for (int i = 0; output_form(i); i++) {
		if (output->file[i] && output->file[i] != stdout)
			fclose(output->file[i]);
		if (output->folder[i] >= 0)
			close(output->folder[i]);
		output->file[i] = NULL;
		output->folder[i] = -1;
	}
}
