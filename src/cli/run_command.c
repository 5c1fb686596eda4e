/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/run_command.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "cli/clocks.h"
#include "cli/option_value.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/run_series.h"
#include "diagnose/checklist.h"
#include "report/html/html.h"
#include "report/json/json_repeats.h"
#include "report/json/schema.h"
#include "report/text/text_repeats.h"
#include "session/recording.h"

#define WARMUPS_MAX 1000

enum { KEY_LOCK = 5000, KEY_POWER_MODE, KEY_RESTORE, KEY_WARMUP, KEY_REPEAT, KEY_OUT, KEY_SUMMARY };

struct settings {
	struct options options;
	struct clock_wish clocks;
	bool restore;
	int warmups, repeat;
	int64_t warmups_ns;
	const char *out;     /* NULL: a folder named after the date */
	const char *summary; /* NULL: none */
};

static const char doc[] =
	"A command measured as one job: clocks locked for its time, run to warm up, run and "
	"recorded "
	"one or several times, and compared.\n"
	"\v"
	"Without -o and --html the recording and the page of each run are NAME-1.ttr, NAME-1.html "
	"and "
	"so on in a folder tegratrace-DATE, or that of --out; names that are given get the number "
	"of "
	"the run when there are several. The first run that fails is the last one.\n"
	"A run that is ended, as a warm-up whose time is over, takes along all that descends from "
	"its command: SIGTERM, after 5 s SIGKILL. What goes on running all the same is named.\n"
	"Clocks and power mode are put back however the job ends. After a SIGKILL, or a loss of "
	"power, the next live run puts them back, or --restore-clocks.\n"
	"Exit status: the command's own (128 + signal when it was killed, also by Ctrl-C before "
	"anything was measured); 1 a run or its output failed, or the clocks are not back; 2 "
	"usage, "
	"3 not permitted; before a command could run: 125 (also when the clocks cannot be locked), "
	"126 not executable, 127 not found.";

static const struct argp_child children[] = {{&options_argp, 0, NULL, 2}, {0}};

static const struct argp_option entries[] = {
	{NULL, 0, NULL, 0, "Job:", 1},
	{"lock-clocks", KEY_LOCK, NULL, 0,
	 "jetson_clocks for the time of the job: every clock as high as the power mode allows", 0},
	{"power-mode", KEY_POWER_MODE, "MODE", 0,
	 "That power mode, by id or name of this board's nvpmodel.conf, for the time of the job",
	 0},
	{"restore-clocks", KEY_RESTORE, NULL, 0, "Only put back what a job that was killed left",
	 0},
	{"warmup", KEY_WARMUP, "N|SECONDSs", 0,
	 "Run the command N times before, or for a time (20s), unmeasured", 0},
	{"repeat", KEY_REPEAT, "N", 0, "Measured runs (default 1)", 0},
	{"out", KEY_OUT, "DIR", 0, "Folder for the files (default tegratrace-DATE)", 0},
	{"summary", KEY_SUMMARY, "FILE", 0, "Write the runs side by side as JSON", 0},
	{0},
};

static void parse_warmup(struct argp_state *state, const char *text, struct settings *settings)
{
	double seconds;
	char *end;
	long runs;

	settings->warmups = 0;
	settings->warmups_ns = 0;
	if (parse_whole(text, 0, WARMUPS_MAX, &runs)) {
		settings->warmups = (int)runs;
		return;
	}
	seconds = strtod(text, &end);
	if (!isdigit((unsigned char)*text) || strcmp(end, "s") != 0 ||
	    !(seconds > 0 && seconds <= 1e6))
		argp_error(state,
			   "--warmup is a number of runs up to %d, or seconds with an s: 20s; not "
			   "'%s'",
			   WARMUPS_MAX, text);
	settings->warmups_ns = (int64_t)(seconds * 1e9);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &settings->options;
		return 0;
	case KEY_LOCK:
		settings->clocks.lock = true;
		return 0;
	case KEY_POWER_MODE:
		settings->clocks.power_mode = arg;
		return 0;
	case KEY_RESTORE:
		settings->restore = true;
		return 0;
	case KEY_WARMUP:
		parse_warmup(state, arg, settings);
		return 0;
	case KEY_REPEAT:
		settings->repeat = (int)option_whole(state, "--repeat", arg, 1, REPEATS_MAX);
		return 0;
	case KEY_OUT:
		settings->out = arg;
		return 0;
	case KEY_SUMMARY:
		settings->summary = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!state->quoted)
			argp_error(state, "unknown word '%s': the command to run goes behind --",
				   arg);
		return options_take_word(&settings->options, arg, state);
	case ARGP_KEY_END:
		if (settings->restore
			    ? !!settings->options.command
			    : !settings->options.command && !settings->options.json_schema)
			argp_error(state, settings->restore
						  ? "--restore-clocks goes without a command"
						  : "no command to run: it goes behind --");
		if (settings->options.live && settings->repeat > 1)
			argp_error(state, "--live shows one run: leave --repeat out");
		if (settings->out && !*settings->out)
			argp_error(state, "--out names a folder");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* The run whose report stands for all: in the middle of those that count, else the last one. */
static int shown_run(const struct run_series *series)
{
	struct repeats repeats;

	repeats_summarise(series->runs, series->n, &repeats);
	return repeats.middle >= 0 ? repeats.middle : series->n - 1;
}

static const char *note_on_files(const struct settings *settings)
{
	if (outputs_wants(&settings->options.outputs, "html") || report_html_available())
		return "";
	return "no page: this tegratrace was built without it, for want of npm";
}

static int worse(int status, int other)
{
	return status ? status : other;
}

/* The names of all runs' files, which the report points into. */
struct job_files {
	struct run_file_names names[REPEATS_MAX];
	struct repeat_files files[REPEATS_MAX];
};

static void name_files(const struct run_series *series, struct job_files *job)
{
	struct options options;

	for (int i = 0; i < series->n; i++) {
		run_files_of(series->files, i + 1, &job->names[i], &options);
		job->files[i].recording = job->names[i].recording;
		job->files[i].page = options.outputs.path[output_form_number("html")];
	}
}

static int write_json(const struct repeats_report *report, FILE *summary)
{
	int err = summary ? output_empty_file(summary) : 0;

	if (summary && !err)
		err = report_repeats_json_write(summary, report);
	if (!err)
		return EXIT_OK;
	msg_error("cannot write the summary: %s", strerror(-err));
	return EXIT_RUN;
}

/* Report of the run in the middle, unless its own process printed it, then all of them together. */
static int write_summary(const struct settings *settings, const struct run_series *series,
			 const struct session *session, const struct verdict *verdict,
			 const struct job_files *job, FILE *summary)
{
	FILE *out = outputs_own_stdout(&settings->options.outputs) ? stderr : stdout;
	struct repeats_report report = {
		.command = settings->options.command,
		.runs = series->runs,
		.n = series->n,
		.asked = series->repeat,
		.shown = verdict,
		.shown_number = shown_run(series) + 1,
		.files = job->files,
		.more = note_on_files(settings),
	};
	struct output output = {.owns_stdout = out != stdout};
	int err, status = write_json(&report, summary);

	if (series->repeat > 1 && verdict)
		status = worse(status, output_write_text(&output, session, verdict,
							 settings->options.verbose,
							 settings->options.explain));
	err = report_repeats_write(out, &report, isatty(fileno(out)) && !getenv("NO_COLOR"));
	if (!err)
		return status;
	msg_error("cannot write the runs side by side: %s", strerror(-err));
	return EXIT_RUN;
}

static int summarise(const struct settings *settings, const struct run_series *series,
		     FILE *summary)
{
	static struct job_files job;
	char line[RECORDING_LINE_SIZE];
	struct recording_info info;
	struct session session;
	struct verdict verdict;
	int number = shown_run(series), status;
	bool known;

	if (!series->n)
		return EXIT_OK;
	session_init(&session);
	name_files(series, &job);
	known = series->runs[number].end != REPEAT_UNREAD &&
		!recording_read_but_timeline(job.files[number].recording, &session, &info, line);
	if (known) {
		diagnose(&session, &verdict);
		checklist_of_run(&session, &verdict);
	}
	status = write_summary(settings, series, &session, known ? &verdict : NULL, &job, summary);
	session_free(&session);
	for (int i = 0; i < series->n; i++) {
		if (series->runs[i].end == REPEAT_UNREAD)
			status = EXIT_RUN;
	}
	return status;
}

/* The runs write their files before the summary is, which would then replace one. */
static int check_summary(const struct settings *settings, const struct run_files *files,
			 FILE *summary)
{
	static struct run_file_names names;
	struct options options;

	for (int number = 1; number <= settings->repeat; number++) {
		bool same;

		if (!run_files_of(files, number, &names, &options))
			return EXIT_USAGE;
		same = output_is_file(summary, options.recording);
		for (int i = 0; output_form(i) && !same; i++) {
			const char *path = options.outputs.path[i];

			same = path && strcmp(path, "-") != 0 && output_is_file(summary, path);
		}
		if (!same)
			continue;
		msg_error("--summary and a file of run %d are the same, %s: name another", number,
			  settings->summary);
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

static int run_job(const struct settings *settings)
{
	struct run_files files;
	struct run_series series = {
		.files = &files,
		.warmups = settings->warmups,
		.warmups_ns = settings->warmups_ns,
		.repeat = settings->repeat,
	};
	FILE *summary = NULL;
	int status = run_files_open(&files, &settings->options, settings->repeat, settings->out);

	if (!status && settings->summary)
		status = output_open_file(settings->summary, &summary);
	if (!status && summary)
		status = check_summary(settings, &files, summary);
	if (status) {
		if (summary)
			fclose(summary);
		run_files_close(&files);
		return EXIT_COMMAND_FAILED;
	}
	run_series_block(&series);
	clocks_repair_leftover();
	status = clocks_take(&series.lock, &settings->clocks);
	kin_open(&series.kin);
	if (!status)
		status = run_series_warm_up(&series);
	if (!status)
		status = run_series_measure(&series);
	kin_close(&series.kin);
	status = worse(status, clocks_give_back(series.lock));
	run_series_unblock(&series);
	status = worse(status, summarise(settings, &series, summary));
	if (summary && fclose(summary))
		status = worse(status, EXIT_RUN);
	run_files_close(&files);
	return status;
}

int run_command(int argc, char **argv)
{
	static const struct argp argp = {
		entries, parse_option, "-- COMMAND [ARG...]\n--restore-clocks", doc, children,
		NULL,	 NULL};
	struct settings settings = {.repeat = 1};

	options_init(&settings.options);
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &settings))
		return EXIT_USAGE;
	msg_set_verbose(settings.options.verbose);
	msg_set_quiet(settings.options.quiet);
	if (!outputs_check(&settings.options.outputs))
		return EXIT_USAGE;
	if (settings.options.json_schema) {
		fputs(report_schema(), stdout);
		return EXIT_OK;
	}
	return settings.restore ? clocks_repair_command() : run_job(&settings);
}
