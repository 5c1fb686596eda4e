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

int output_open(struct output *output, bool json, const char *json_file)
{
	int fd;

	*output = (struct output){0};
	if (!json)
		return EXIT_OK;
	if (!json_file || !strcmp(json_file, "-")) {
		output->json = stdout;
		output->json_on_stdout = true;
		return EXIT_OK;
	}
	fd = open(json_file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0) {
		msg_error("cannot write %s: %s", json_file,
			  errno == ELOOP ? "it is a symbolic link; name the file itself"
					 : strerror(errno));
		return EXIT_USAGE;
	}
	give_to_sudo_user(fd);
	output->json = fdopen(fd, "w");
	if (!output->json) {
		close(fd);
		return EXIT_RUN;
	}
	return EXIT_OK;
}

bool output_owns_stdout(const struct output *output)
{
	return output->json_on_stdout;
}

int output_write_all(struct output *output, const struct session *session,
		     const struct verdict *verdict, bool verbose, bool explain)
{
	FILE *text = output->json_on_stdout ? stderr : stdout;
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
	if (!output->json)
		return status;
	err = report_json_write(output->json, session, verdict);
	if (err) {
		msg_error("cannot write the JSON: %s", strerror(-err));
		status = EXIT_RUN;
	}
	return status;
}

void output_close(struct output *output)
{
	if (output->json && !output->json_on_stdout)
		fclose(output->json);
	output->json = NULL;
}
