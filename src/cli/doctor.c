/* SPDX-License-Identifier: GPL-2.0-only */
/* Tries every rung for real and looks at what a run would use. */
#include "cli/doctor.h"

#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/msg.h"
#include "base/text.h"
#include "cli/clocks.h"
#include "cli/option_value.h"
#include "cli/options.h"
#include "probe/tracer.h"
#include "tegra/board.h"
#include "tegra/source.h"

/* A log that grows and the board's own files have nothing to poll for. */
#define SOURCE_POLL_MS 20

struct settings {
	const char *btf;
	struct tegra_source_options source;
	bool json;
};

static const char doc[] =
	"What this kernel and board can measure, what is missing, why, and what would help.\n"
	"\v"
	"Each way of tracing is tried for real. What is missing is explained from the kernel's own "
	"configuration, where that can be read. Exit status: 0 some way of tracing works; 1 the "
	"output failed, 2 usage, 3 not permitted, 5 this kernel cannot.";

enum { KEY_JSON = 1000, KEY_TEGRASTATS, KEY_TEGRA_LOG, KEY_INTERVAL, KEY_BTF };

static const struct argp_option entries[] = {
	{"json", KEY_JSON, NULL, 0, "One JSON object", 0},
	{"tegrastats", KEY_TEGRASTATS, "CMD", 0,
	 "Try CMD for tegrastats lines (default: tegrastats, when it is on PATH)", 0},
	{"tegra-log", KEY_TEGRA_LOG, "FILE", 0, "Try the lines of a log or a FIFO instead", 0},
	{"interval", KEY_INTERVAL, "MS", 0, "Interval given to tegrastats (default 100)", 0},
	{"btf", KEY_BTF, "FILE", 0, "Try rung raw with the type data of that file", 0},
	{"verbose", 'v', NULL, 0, "The log of the kernel's verifier too", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case KEY_JSON:
		settings->json = true;
		return 0;
	case KEY_TEGRASTATS:
		settings->source.command = arg;
		return 0;
	case KEY_TEGRA_LOG:
		settings->source.log = arg;
		return 0;
	case KEY_INTERVAL:
		settings->source.interval_ms =
			(int)option_whole(state, "--interval", arg, 1, 60000);
		return 0;
	case KEY_BTF:
		settings->btf = arg;
		return 0;
	case 'v':
		msg_set_verbose(true);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unknown word '%s'", arg);
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

static struct finding *add(struct doctor *doctor)
{
	return &doctor->checks[doctor->n++].finding;
}

/* Returns whether some rung traces; polling is what is left where none does. */
static bool check_rungs(struct doctor *doctor, const char *btf)
{
	static const struct {
		const char *what;
		enum rung rung;
	} rungs[] = {
		{"rung btf", RUNG_BTF},
		{"rung raw", RUNG_RAW},
		{"rung tracepoint", RUNG_TRACEPOINT},
		{"rung perf", RUNG_PERF},
		{"rung proc", RUNG_PROC},
	};
	bool some = false;

	for (size_t i = 0; i < sizeof(rungs) / sizeof(rungs[0]); i++) {
		struct tracer_options options = {
			.rung = rungs[i].rung, .btf = btf, .follow_children = true};
		struct finding *finding = add(doctor);
		struct capability unused = {0};
		struct tracer *tracer = NULL;
		char reason[192] = "";
		int err = tracer_open(&options, &tracer, &unused, reason, sizeof(reason));

		finding->what = rungs[i].what;
		finding->ok = !err;
		snprintf(finding->text, sizeof(finding->text), "%s",
			 !err	   ? "loads and attaches"
			 : *reason ? reason
				   : strerror(-err));
		tracer_close(tracer);
		some |= finding->ok && rungs[i].rung != RUNG_PROC;
	}
	return some;
}

static void check_config(struct doctor *doctor)
{
	const char *root = getenv("TEGRATRACE_ROOT");
	struct finding *finding = add(doctor);
	int err = kernel_config_read(&doctor->config, root ? root : "", doctor->host.kernel);

	finding->what = "kernel configuration";
	finding->ok = !err && doctor->config.whole;
	snprintf(finding->text, sizeof(finding->text), "%s%s%s", doctor->config.source,
		 err || finding->ok ? "" : ": its end is missing",
		 finding->ok ? "" : ": why things are missing is not known");
}

static void check_tracepoints(struct doctor *doctor)
{
	struct tracefs tracefs;

	tracefs_open(&tracefs);
	for (size_t i = 0; i < tracepoint_set_count; i++) {
		struct doctor_check *check = &doctor->checks[doctor->n++];

		check->tracepoints = &tracepoint_sets[i];
		tracepoint_set_check(check->tracepoints, &tracefs, check->there, &check->finding);
	}
	tracefs_close(&tracefs);
}

/* For the first sample; tegrastats prints it an interval after it has begun, which takes a while. */
static void wait_for_sample(struct tegra_source *source, int64_t begin_ns, int interval_ms)
{
	int64_t end_ns = begin_ns + (2 * interval_ms + 1000) * 1000000LL, now;

	while (now = clock_ns(CLOCK_MONOTONIC), tegra_source_read(source, now),
	       !tegra_source_latest(source) && !tegra_source_ended(source) && now < end_ns) {
		struct pollfd input = {.fd = tegra_source_fd(source), .events = POLLIN};

		poll(&input, 1, SOURCE_POLL_MS);
	}
}

static void check_tegrastats(struct finding *finding, const struct tegra_source_options *options)
{
	struct tegra_summary summary;
	struct tegra_source *source;
	int64_t begin_ns = clock_ns(CLOCK_MONOTONIC), end_ns;
	char reason[192] = "";

	finding->what = "tegrastats";
	finding->ok = !tegra_source_open(options, &source, reason, sizeof(reason)) && source;
	if (!finding->ok) {
		snprintf(finding->text, sizeof(finding->text), "%s",
			 *reason ? reason
				 : "not on PATH: no GPU, EMC, temperature or power samples");
		return;
	}
	wait_for_sample(source, begin_ns, options->interval_ms);
	end_ns = clock_ns(CLOCK_MONOTONIC);
	tegra_source_close(source, end_ns, &summary);
	finding->ok = summary.samples > 0;
	snprintf(finding->text, sizeof(finding->text), "%.60s: %lld sample%s in %.1f s%s%.60s",
		 summary.source, (long long)summary.samples, summary.samples == 1 ? "" : "s",
		 (double)(end_ns - begin_ns) / 1e9, *summary.note ? ", " : "", summary.note);
}

static void check_board(struct finding *finding)
{
	struct board_info board;

	board_info_read(&board);
	finding->what = "board";
	finding->ok = *board.module && board.module_certain;
	*finding->text = '\0';
	if (!*board.module && !*board.model)
		snprintf(finding->text, sizeof(finding->text), "not a Jetson (no device tree)");
	else
		text_appendf(finding->text, sizeof(finding->text), "%s%s%s, mode %s%s%s",
			     *board.module ? board.module : board.model, *board.l4t ? ", L4T " : "",
			     board.l4t, *board.mode ? board.mode : "unknown",
			     *board.module_doubt ? ", module uncertain: " : "", board.module_doubt);
}

/* On a board only: what can be read without tegrastats, and where. */
static void check_sensors(struct doctor *doctor)
{
	static struct sysfs_quantity quantities[SYSFS_QUANTITIES];
	struct sysfs *sysfs = sysfs_open();
	size_t n = 0;

	if (sysfs && sysfs_usable(sysfs))
		n = sysfs_describe(sysfs, quantities, SYSFS_QUANTITIES);
	for (size_t i = 0; i < n; i++) {
		struct finding *finding = add(doctor);

		finding->what = quantities[i].name;
		finding->ok = *quantities[i].path;
		snprintf(finding->text, sizeof(finding->text), "%.110s%s%.70s", quantities[i].path,
			 *quantities[i].path && *quantities[i].note ? ": " : "",
			 quantities[i].note);
	}
	sysfs_close(sysfs);
}

/* Only where something is wrong. */
static void check_clocks(struct doctor *doctor)
{
	char line[CLOCK_STATE_LINE];
	enum clocks_found found = clocks_look(line, sizeof(line));
	struct finding *finding;

	if (found == CLOCKS_OWN)
		return;
	finding = add(doctor);
	finding->what = found == CLOCKS_LEFT ? DOCTOR_CLOCKS_LEFT : "clock file";
	snprintf(finding->text, sizeof(finding->text), "%.*s%s", (int)sizeof(finding->text) - 64,
		 line, found == CLOCKS_LEFT ? ": " CLOCKS_REMEDY " puts them back" : "");
}

static void add_all(struct doctor *doctor, const struct finding *findings, int n)
{
	for (int i = 0; i < n; i++)
		*add(doctor) = findings[i];
}

int doctor_command(int argc, char **argv)
{
	static const struct argp argp = {entries, parse_option, NULL, doc, NULL, NULL, NULL};
	static struct doctor doctor;
	struct settings settings = {.source.interval_ms = 100};
	struct finding findings[FINDINGS], features[KERNEL_FEATURES];
	bool some_rung;
	int status;

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &settings))
		return EXIT_USAGE;
	board_read(&doctor.host);
	some_rung = check_rungs(&doctor, settings.btf);
	check_config(&doctor);
	add_all(&doctor, findings, environment_check(findings));
	add_all(&doctor, features, kernel_features_check(&doctor.config, features));
	check_tracepoints(&doctor);
	check_board(add(&doctor));
	check_clocks(&doctor);
	check_tegrastats(add(&doctor), &settings.source);
	check_sensors(&doctor);
	doctor_advise(&doctor);
	status = settings.json ? doctor_print_json(&doctor) : doctor_print_text(&doctor);
	kernel_config_free(&doctor.config);
	if (status)
		return status;
	if (some_rung)
		return EXIT_OK;
	return geteuid() ? EXIT_PERMISSION : EXIT_UNSUPPORTED;
}
