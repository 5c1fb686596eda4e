/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/outputs.h"

#include <string.h>

#include "base/msg.h"
#include "report/csv/csv_session.h"
#include "report/flame/flamegraph.h"
#include "report/flame/folded.h"
#include "report/trace/chrome.h"
#include "report/html/html.h"
#include "report/json/json.h"
#include "report/png/png.h"
#include "report/trace/perfetto.h"

static int write_folded(FILE *out, const struct session *session, const struct verdict *verdict)
{
	(void)verdict;
	return report_folded_write(out, session);
}

/* option, its argument, whether that may be left out (then it is "-"), help, name, file, folder */
#define OUTPUT_FORMS(X)                                                                            \
	X("json", "FILE", OPTION_ARG_OPTIONAL, "One JSON object, on standard output without FILE", \
	  "the JSON", report_json_write, NULL)                                                     \
	X("csv", "DIR", 0, "timeseries.csv, threads.csv and edges.csv in that folder", "the CSV",  \
	  NULL, csv_session_write)                                                                 \
	X("html", "FILE", 0,                                                                       \
	  "The report as one page with curves and graphs, for any browser, also offline",          \
	  "the HTML report", report_html_write, NULL)                                              \
	X("png", "DIR", 0, "perf_curves.png and roofline_analysis.png in that folder, by gnuplot", \
	  "the pictures", NULL, png_session_write)                                                 \
	X("perfetto", "FILE", 0,                                                                   \
	  "A trace for ui.perfetto.dev: counters, verdict, and with --timeline every switch",      \
	  "the Perfetto trace", report_perfetto_write, NULL)                                       \
	X("chrome", "FILE", 0, "The same as a Chrome JSON trace", "the Chrome trace",              \
	  report_chrome_write, NULL)                                                               \
	X("folded", "FILE", 0,                                                                     \
	  "Folded stacks for flame graphs, on- and off-CPU, in microseconds; - for standard "      \
	  "output",                                                                                \
	  "the folded stacks", write_folded, NULL)                                                 \
	X("flamegraph", "FILE", 0, "The same stacks as a flame graph (SVG) for any browser",       \
	  "the flame graph", report_flamegraph_write, NULL)

enum { KEY_FIRST = 4000 };

#define FORM(option, arg, flags, doc, what, write, folder) {option, what, write, folder},

static const struct output_form forms[] = {OUTPUT_FORMS(FORM)};

#define FORMS ((int)(sizeof(forms) / sizeof(forms[0])))

_Static_assert(sizeof(forms) / sizeof(forms[0]) <= OUTPUT_FORMS_MAX, "a place for every path");

/* Keys count up from KEY_FIRST in the order of the forms. */
#define ENTRY(option, arg, flags, doc, what, write, folder) \
	{option, KEY_FIRST + __COUNTER__ - 1 - BASE, arg, flags, doc, 0},
enum { BASE = __COUNTER__ };

static const struct argp_option entries[] = {OUTPUT_FORMS(ENTRY){0}};

const struct output_form *output_form(int number)
{
	return number < FORMS ? &forms[number] : NULL;
}

int output_form_number(const char *option)
{
	int i = 0;

	while (i < FORMS - 1 && strcmp(forms[i].option, option))
		i++;
	return i;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct outputs_wanted *wanted = state->input;

	if (key < KEY_FIRST || key >= KEY_FIRST + FORMS)
		return ARGP_ERR_UNKNOWN;
	wanted->path[key - KEY_FIRST] = arg ? arg : "-";
	return 0;
}

const struct argp outputs_argp = {entries, parse_option, NULL, NULL, NULL, NULL, NULL};

bool outputs_wants(const struct outputs_wanted *wanted, const char *option)
{
	return wanted->path[output_form_number(option)];
}

bool outputs_wants_any(const struct outputs_wanted *wanted)
{
	for (int i = 0; i < FORMS; i++) {
		if (wanted->path[i])
			return true;
	}
	return false;
}

bool outputs_own_stdout(const struct outputs_wanted *wanted)
{
	for (int i = 0; i < FORMS; i++) {
		if (wanted->path[i] && !strcmp(wanted->path[i], "-") && !forms[i].write_folder)
			return true;
	}
	return false;
}

bool outputs_check(const struct outputs_wanted *wanted)
{
	int owner = -1;

	for (int i = 0; i < FORMS; i++) {
		if (!wanted->path[i] || strcmp(wanted->path[i], "-") || forms[i].write_folder)
			continue;
		if (owner >= 0) {
			msg_error("--%s and --%s cannot both go to standard output: name a file",
				  forms[owner].option, forms[i].option);
			return false;
		}
		owner = i;
	}
	return true;
}
