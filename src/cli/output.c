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
#include "report/folded.h"
#include "report/html.h"
#include "report/json.h"
#include "report/text.h"

static void give_to_sudo_user(int fd)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	struct stat st;

	if (geteuid() || !uid || !gid || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	if (fchown(fd, (uid_t)strtoul(uid, NULL, 10), (gid_t)strtoul(gid, NULL, 10)))
		msg_debug("cannot give the output file to the user behind sudo: %s",
			  strerror(errno));
}

static int open_file(struct output *output, const char *path, FILE **file)
{
	int fd;

	if (!strcmp(path, "-")) {
		*file = stdout;
		output->owns_stdout = true;
		return EXIT_OK;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0) {
		msg_error("cannot write %s: %s", path,
			  errno == ELOOP ? "it is a symbolic link; name the file itself"
					 : strerror(errno));
		return EXIT_USAGE;
	}
	give_to_sudo_user(fd);
	*file = fdopen(fd, "w");
	if (!*file) {
		close(fd);
		return EXIT_RUN;
	}
	return EXIT_OK;
}

int output_open(struct output *output, bool json, const char *json_file, const char *folded_file,
		const char *html_file)
{
	int status = EXIT_OK;

	*output = (struct output){0};
	if (html_file && !report_html_available()) {
		msg_error("no --html: this tegratrace was built without the page, for want of npm; "
			  "install it (tools/install-deps.sh page) and build again");
		return EXIT_UNSUPPORTED;
	}
	if (json)
		status = open_file(output, json_file ? json_file : "-", &output->json);
	if (!status && folded_file)
		status = open_file(output, folded_file, &output->folded);
	if (!status && html_file)
		status = open_file(output, html_file, &output->html);
	return status;
}

bool output_owns_stdout(const struct output *output)
{
	return output->owns_stdout;
}

int output_write_all(struct output *output, const struct session *session,
		     const struct verdict *verdict, bool verbose, bool explain)
{
	FILE *text = output->owns_stdout ? stderr : stdout;
	struct report_text_options options = {
		.verbose = verbose,
		.explain = explain,
		.color = isatty(fileno(text)) && !getenv("NO_COLOR"),
	};
	int err, status = EXIT_OK;

	err = report_text_write(text, session, verdict, &options);
	if (err) {
		msg_error("cannot write the report: %s", strerror(-err));
		status = EXIT_RUN;
	}
	err = output->json ? report_json_write(output->json, session, verdict) : 0;
	if (err) {
		msg_error("cannot write the JSON: %s", strerror(-err));
		status = EXIT_RUN;
	}
	err = output->folded ? report_folded_write(output->folded, session) : 0;
	if (err) {
		msg_error("cannot write the folded stacks: %s", strerror(-err));
		status = EXIT_RUN;
	}
	err = output->html ? report_html_write(output->html, session, verdict) : 0;
	if (err) {
		msg_error("cannot write the HTML report: %s", strerror(-err));
		status = EXIT_RUN;
	}
	return status;
}

void output_close(struct output *output)
{
	if (output->json && output->json != stdout)
		fclose(output->json);
	if (output->folded && output->folded != stdout)
		fclose(output->folded);
	if (output->html && output->html != stdout)
		fclose(output->html);
	output->json = output->folded = output->html = NULL;
}
