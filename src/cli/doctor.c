/* SPDX-License-Identifier: GPL-2.0-only */
/* Tries every rung for real and looks at what a run would use. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/run.h"
#include "probe/environment.h"
#include "probe/tracer.h"
#include "tegra/board.h"
#include "tegra/source.h"
#include "tegra/sysfs.h"

#define DOCTOR_LINES (FINDINGS + SYSFS_QUANTITIES + 6)

static void check_rung(struct finding *finding, const char *what, enum rung rung)
{
	struct tracer_options options = {.rung = rung, .follow_children = true};
	struct capability unused = {0};
	struct tracer *tracer = NULL;
	char reason[192] = "";
	int err = tracer_open(&options, &tracer, &unused, reason, sizeof(reason));

	finding->what = what;
	finding->ok = !err;
	snprintf(finding->text, sizeof(finding->text), "%s",
		 !err	   ? "loads and attaches"
		 : *reason ? reason
			   : strerror(-err));
	tracer_close(tracer);
}

static void check_tegrastats(struct finding *finding, const struct options *options)
{
	struct tegra_source_options source_options = {
		.command = options->tegrastats,
		.log = options->tegra_log,
		.interval_ms = options->interval_ms,
	};
	struct tegra_summary summary;
	struct tegra_source *source;
	char reason[192];

	finding->what = "tegrastats";
	finding->ok =
		!tegra_source_open(&source_options, &source, reason, sizeof(reason)) && source;
	if (!finding->ok) {
		snprintf(finding->text, sizeof(finding->text),
			 "not on PATH: no GPU, EMC, temperature or power samples");
		return;
	}
	usleep(300000);
	tegra_source_close(source, 0, &summary);
	finding->ok = summary.samples > 0;
	snprintf(finding->text, sizeof(finding->text), "%.60s: %lld samples in 0.3 s%s%.60s",
		 summary.source, (long long)summary.samples, *summary.note ? ", " : "",
		 summary.note);
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
static int check_sensors(struct finding *findings)
{
	static struct sysfs_quantity quantities[SYSFS_QUANTITIES];
	struct sysfs *sysfs = sysfs_open();
	size_t n = 0;

	if (sysfs && sysfs_usable(sysfs))
		n = sysfs_describe(sysfs, quantities, SYSFS_QUANTITIES);
	for (size_t i = 0; i < n; i++) {
		findings[i].what = quantities[i].name;
		findings[i].ok = *quantities[i].path;
		snprintf(findings[i].text, sizeof(findings[i].text), "%.110s%s%.70s",
			 quantities[i].path, *quantities[i].path && *quantities[i].note ? ": " : "",
			 quantities[i].note);
	}
	sysfs_close(sysfs);
	return (int)n;
}

static int print_text(const struct host_info *host, const struct finding *findings, int n)
{
	printf("kernel %s %s, %d CPUs, board %s\n", host->kernel, host->arch, host->cpus,
	       *host->module ? host->module : "unknown (no device tree)");
	for (int i = 0; i < n; i++)
		printf("  %-4s %-24s %s\n", findings[i].ok ? "ok" : "no", findings[i].what,
		       findings[i].text);
	return fflush(stdout) ? EXIT_RUN : EXIT_OK;
}

static int print_json(const struct host_info *host, const struct finding *findings, int n)
{
	json_t *checks = json_array(), *object;
	int err;

	for (int i = 0; i < n; i++)
		json_array_append_new(checks,
				      json_pack("{s:s,s:b,s:s}", "what", findings[i].what, "ok",
						findings[i].ok, "text", findings[i].text));
	object = json_pack("{s:s,s:{s:s,s:s,s:i,s:s?},s:o}", "schema", "tegratrace-doctor/1",
			   "host", "kernel", host->kernel, "arch", host->arch, "cpus", host->cpus,
			   "module", *host->module ? host->module : NULL, "checks", checks);
	err = !object || json_dumpf(object, stdout, JSON_COMPACT) || putchar('\n') == EOF ||
	      fflush(stdout);
	json_decref(object);
	return err ? EXIT_RUN : EXIT_OK;
}

int run_doctor(const struct options *options)
{
	struct finding findings[DOCTOR_LINES];
	struct host_info host;
	bool some_rung;
	int n = 0, status;

	board_read(&host);
	check_rung(&findings[n++], "rung btf", RUNG_BTF);
	check_rung(&findings[n++], "rung tracepoint", RUNG_TRACEPOINT);
	some_rung = findings[0].ok || findings[1].ok;
	check_tegrastats(&findings[n++], options);
	check_board(&findings[n++]);
	n += check_sensors(&findings[n]);
	n += environment_check(&findings[n]);
	status = outputs_wants(&options->outputs, "json") ? print_json(&host, findings, n)
							  : print_text(&host, findings, n);
	if (status)
		return status;
	if (some_rung)
		return EXIT_OK;
	return geteuid() ? EXIT_PERMISSION : EXIT_UNSUPPORTED;
}
