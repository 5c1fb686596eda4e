/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/diagnose_command.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "cli/option_value.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/workload_options.h"
#include "report/csv/csv.h"
#include "tegra/log.h"
#include "tegra/sample_json.h"

enum { KEY_JSON = 2000, KEY_HTML, KEY_PNG, KEY_CSV, KEY_SAMPLES, KEY_EXPLAIN, KEY_INTERVAL };

struct settings {
	bool json;
	const char *json_file;
	const char *html_file;	/* NULL: none */
	const char *png_folder; /* likewise */
	bool csv, samples;
	enum csv_form form;
	bool verbose, explain;
	double interval_ms;
	struct workload workload;
	char **logs; /* NULL-terminated, inside argv */
};

static const char doc[] =
	"The verdict from plain tegrastats logs: no root, on any machine.\n"
	"\v"
	"LOG is what tegrastats printed, of any JetPack, also with the prefixes "
	"of other tools or wrapped at 80 columns; - is standard input. Of several "
	"tegrastats that wrote to it at the same time one is judged, "
	"--samples and --csv print all.\n"
	"Exit status: 0; 1 no line is a tegrastats record, or the output failed; "
	"2 usage; 4 a log that "
	"cannot be read.";

static const struct argp_child children[] = {{&workload_argp, 0, NULL, 5}, {0}};

static const struct argp_option entries[] = {
	{"json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL,
	 "One JSON object a log, on standard output without FILE", 0},
	{"html", KEY_HTML, "FILE", 0,
	 "The report of one log as a page with curves, for any browser, also offline", 0},
	{"png", KEY_PNG, "DIR", 0,
	 "perf_curves.png and roofline_analysis.png of one log in that folder, by gnuplot", 0},
	{"csv", KEY_CSV, "FORM", OPTION_ARG_OPTIONAL,
	 "The samples as CSV instead of a verdict: own (default), seed or jtop columns", 0},
	{"samples", KEY_SAMPLES, NULL, 0, "Every sample as one JSON object a line instead", 0},
	{"interval", KEY_INTERVAL, "MS", 0, "Time between lines, for logs without dates", 0},
	{"verbose", 'v', NULL, 0, "All phases, zones and rails", 0},
	{"explain", KEY_EXPLAIN, NULL, 0, "The rules that fired and those that nearly did", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &settings->workload;
		return 0;
	case KEY_JSON:
		settings->json = true;
		settings->json_file = arg;
		return 0;
	case KEY_HTML:
		settings->html_file = arg;
		return 0;
	case KEY_PNG:
		settings->png_folder = arg;
		return 0;
	case KEY_CSV:
		settings->csv = true;
		if (csv_form_from_name(arg, &settings->form))
			argp_error(state, "--csv is own, seed or jtop, not '%s'", arg);
		return 0;
	case KEY_SAMPLES:
		settings->samples = true;
		return 0;
	case KEY_EXPLAIN:
		settings->explain = true;
		return 0;
	case 'v':
		settings->verbose = true;
		return 0;
	case KEY_INTERVAL:
		settings->interval_ms =
			option_above_0(state, "--interval", "milliseconds", arg, 1e9);
		return 0;
	case ARGP_KEY_ARGS:
		settings->logs = &state->argv[state->next];
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no log given");
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Where records go that are printed one by one. */
struct printer {
	const struct settings *settings;
	struct tegra_sample first;
	int64_t n;
};

static bool print_record(const struct tegra_record *record, void *ctx)
{
	struct printer *printer = ctx;
	const struct settings *settings = printer->settings;

	if (settings->samples) {
		json_t *object = tegra_sample_json(record->sample);

		json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
		json_decref(object);
		putchar('\n');
	} else if (settings->csv) {
		if (!printer->n) {
			printer->first = *record->sample;
			csv_header(stdout, settings->form, &printer->first);
		}
		csv_row(stdout, settings->form, &printer->first, record->sample, printer->n);
	}
	printer->n++;
	return !ferror(stdout);
}

static int report(const struct settings *settings, struct output *output,
		  const struct session *session)
{
	struct verdict verdict;

	if (settings->samples || settings->csv)
		return EXIT_OK;
	diagnose(session, &verdict);
	return output_write_all(output, session, &verdict, settings->verbose, settings->explain);
}

/* Each of these would be left out without a word. */
static int check(const struct settings *settings)
{
	const char *instead = settings->samples ? "--samples" : settings->csv ? "--csv" : NULL;
	const char *other = settings->json			 ? "--json"
			    : settings->html_file		 ? "--html"
			    : settings->png_folder		 ? "--png"
			    : settings->samples && settings->csv ? "--csv"
								 : NULL;

	if (instead && other) {
		msg_error("%s prints the samples instead: leave %s out", instead, other);
		return EXIT_USAGE;
	}
	if ((settings->html_file || settings->png_folder) && settings->logs[1]) {
		msg_error("--%s takes one log: it shows one run",
			  settings->html_file ? "html" : "png");
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

static int judge_log(const struct settings *settings, struct output *output, const char *path)
{
	struct printer *printer = calloc(1, sizeof(*printer));
	struct tegra_log_options options = {.interval_ms = settings->interval_ms};
	struct session session;
	char line[512];
	int err, status;

	if (!printer)
		return EXIT_RUN;
	printer->settings = settings;
	if (settings->samples || settings->csv) {
		options.on_record = print_record;
		options.ctx = printer;
	}
	session_init(&session);
	session.workload = settings->workload;
	err = tegra_log_read(&session, path, &options, line, sizeof(line));
	if (err) {
		msg_error("%s", line);
		status = err == -ENODATA ? EXIT_RUN : EXIT_NO_TARGET;
	} else {
		status = report(settings, output, &session);
	}
	session_free(&session);
	free(printer);
	return status;
}

int diagnose_command(int argc, char **argv)
{
	static const struct argp argp = {entries,  parse_option, "LOG...", doc,
					 children, NULL,	 NULL};
	struct settings settings = {.interval_ms = NAN};
	struct outputs_wanted wanted = {0};
	struct output output;
	int status, worst = EXIT_OK;

	workload_init(&settings.workload);
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &settings))
		return EXIT_USAGE;
	status = check(&settings);
	if (status)
		return status;
	if (settings.json)
		wanted.path[output_form_number("json")] =
			settings.json_file ? settings.json_file : "-";
	wanted.path[output_form_number("html")] = settings.html_file;
	wanted.path[output_form_number("png")] = settings.png_folder;
	status = output_open(&output, &wanted);
	for (char **log = settings.logs; !status && *log; log++) {
		if (output_shares_file(&output, "the log", *log))
			status = EXIT_USAGE;
	}
	if (status) {
		output_close(&output);
		return status;
	}
	for (char **log = settings.logs; *log; log++) {
		status = judge_log(&settings, &output, *log);
		if (status > worst)
			worst = status;
	}
	if ((fflush(stdout) || ferror(stdout)) && worst == EXIT_OK) {
		msg_error("cannot write to standard output: %s", strerror(errno));
		worst = EXIT_RUN;
	}
	output_close(&output);
	return worst;
}
