/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/report_command.h"

#include <argp.h>
#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "base/msg.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "diagnose/verdict.h"
#include "session/recording.h"

/* A hostile recording may take no more. */
#define HEAP_BYTES (256LL << 20)

enum { KEY_EXPLAIN = 2000, KEY_SCHEMA };

struct settings {
	struct outputs_wanted outputs;
	const char *recording;
	bool verbose, explain, schema;
};

static const char doc[] =
	"A recorded run again: the same text and verdict as live, and every other form of it.\n"
	"\v"
	"RECORDING is what -o of a run wrote; it is a SQLite database (--schema prints what is in "
	"it). The text is printed when no other form is asked for.\n"
	"Exit status: 0; 1 it is no recording, damaged, or an output failed; 2 usage; 4 it cannot "
	"be opened.";

static const struct argp_child children[] = {{&outputs_argp, 0, NULL, 1}, {0}};

static const struct argp_option entries[] = {
	{"verbose", 'v', NULL, 0, "All threads, the identity, what is missing, own overhead", 2},
	{"explain", KEY_EXPLAIN, NULL, 0, "The rules that fired and those that nearly did", 2},
	{"schema", KEY_SCHEMA, NULL, 0, "Print the SQL schema of a recording and exit", 2},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &settings->outputs;
		return 0;
	case 'v':
		settings->verbose = true;
		return 0;
	case KEY_EXPLAIN:
		settings->explain = true;
		return 0;
	case KEY_SCHEMA:
		settings->schema = true;
		return 0;
	case ARGP_KEY_ARG:
		if (settings->recording)
			argp_error(state, "one recording at a time, not '%s' as well", arg);
		settings->recording = arg;
		return 0;
	case ARGP_KEY_END:
		if (!settings->recording && !settings->schema)
			argp_error(state, "no recording given");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void say_unfinished(const struct settings *settings, const struct session *session)
{
	int64_t ns = session_duration_ns(session);
	char shown[256], length[32];

	text_sanitize(shown, sizeof(shown), settings->recording, strlen(settings->recording));
	text_duration(length, sizeof(length), ns);
	if (ns == UNKNOWN_NS)
		msg_warn("%s was cut off before anything was measured", shown);
	else
		msg_warn("%s is cut off, or still being written: this is what was measured in its "
			 "first %s; causes of waits, samples and board are known only at the end",
			 shown, length);
}

static int write_all(const struct settings *settings, struct output *output,
		     const struct session *session)
{
	struct verdict verdict;
	int status = EXIT_OK;

	diagnose(session, &verdict);
	if (!outputs_wants_any(&settings->outputs))
		status = output_write_text(output, session, &verdict, settings->verbose,
					   settings->explain);
	return status ? status : output_write_forms(output, session, &verdict);
}

static int read_recording(const struct settings *settings, struct session *session,
			  struct recording_info *info, char line[RECORDING_LINE_SIZE])
{
	if (outputs_wants(&settings->outputs, "perfetto") ||
	    outputs_wants(&settings->outputs, "chrome"))
		return recording_read(settings->recording, session, info, line);
	return recording_read_but_timeline(settings->recording, session, info, line);
}

static int report_recording(const struct settings *settings)
{
	char line[RECORDING_LINE_SIZE];
	struct recording_info info;
	struct session session;
	struct output output;
	int err, status;

	sqlite3_hard_heap_limit64(HEAP_BYTES);
	session_init(&session);
	err = read_recording(settings, &session, &info, line);
	if (err) {
		msg_error("%s", line);
		return err == -ENOENT || err == -EACCES ? EXIT_NO_TARGET : EXIT_RUN;
	}
	if (!info.finished)
		say_unfinished(settings, &session);
	status = output_open(&output, &settings->outputs);
	if (!status && output_shares_file(&output, "the recording", settings->recording))
		status = EXIT_USAGE;
	if (!status)
		status = write_all(settings, &output, &session);
	output_close(&output);
	session_free(&session);
	return status;
}

int report_command(int argc, char **argv)
{
	static const struct argp argp = {entries,  parse_option, "RECORDING", doc,
					 children, NULL,	 NULL};
	struct settings settings = {0};

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &settings))
		return EXIT_USAGE;
	msg_set_verbose(settings.verbose);
	if (!outputs_check(&settings.outputs))
		return EXIT_USAGE;
	if (!settings.schema)
		return report_recording(&settings);
	if (!recording_print_schema(stdout))
		return EXIT_OK;
	msg_error("cannot write to standard output: %s", strerror(errno));
	return EXIT_RUN;
}
