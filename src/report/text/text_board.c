/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/text_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"

#define TEXT	    1024
#define RAILS_SHOWN 3

static void text_mhz(char *dst, size_t size, const struct sampled *clock)
{
	*dst = 0;
	if (clock->n > 0)
		text_appendf(dst, size, " at %.0f MHz", clock->mean);
}

static void append_engine(char *text, const char *name, const struct sampled *busy,
			  const struct sampled *clock)
{
	char percent[32], mhz[48];

	text_percent_sign(percent, sizeof(percent), busy->n > 0 ? busy->mean : NAN);
	text_mhz(mhz, sizeof(mhz), clock);
	text_appendf(text, TEXT, "%s%s %s%s", *text ? ", " : "", name, percent, mhz);
}

static void append_ram(char *text, const struct tegra_summary *tegra)
{
	const struct sampled *swap = &tegra->swap_used_mb;

	if (tegra->ram_used_mb.n > 0 && isfinite(tegra->ram_total_mb))
		text_appendf(text, TEXT, ", RAM %.1f/%.1f GiB", tegra->ram_used_mb.max / 1024,
			     tegra->ram_total_mb / 1024);
	if (swap->n > 0 && swap->max > 0)
		text_appendf(text, TEXT, ", swap %.1f GiB", swap->max / 1024);
}

static void append_hottest(char *text, const struct tegra_summary *tegra)
{
	const struct named_sampled *hottest = NULL;

	for (int i = 0; i < tegra->temps && i < SESSION_SENSORS; i++) {
		const struct named_sampled *zone = &tegra->temps_c[i];

		if (zone->value.n > 0 && (!hottest || zone->value.max > hottest->value.max))
			hottest = zone;
	}
	if (hottest)
		text_appendf(text, TEXT, ", %.*s up to %.1f C", SESSION_NAME_LEN, hottest->name,
			     hottest->value.max);
	else
		text_appendf(text, TEXT, ", temperature unknown");
}

static void append_rail(char *text, const struct named_sampled *rail)
{
	text_appendf(text, TEXT, ", %.*s %.1f W (max %.1f)", SESSION_NAME_LEN, rail->name,
		     rail->value.mean / 1000, rail->value.max / 1000);
}

/* The rail through which all power comes, where the board measures one. */
static bool is_input_rail(const struct named_sampled *rail)
{
	static const char *const names[] = {"VDD_IN", "POM_5V_IN", "VIN"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(rail->name, names[i], sizeof(rail->name)) == 0)
			return true;
	return false;
}

/* The input rail, or the rails that take most. */
static void append_power(char *text, const struct tegra_summary *tegra)
{
	bool used[SESSION_SENSORS] = {false};
	int shown;

	for (int i = 0; i < tegra->rails && i < SESSION_SENSORS; i++) {
		used[i] = tegra->power_mw[i].value.n <= 0;
		if (!used[i] && is_input_rail(&tegra->power_mw[i])) {
			append_rail(text, &tegra->power_mw[i]);
			return;
		}
	}
	for (shown = 0; shown < RAILS_SHOWN; shown++) {
		int top = -1;

		for (int i = 0; i < tegra->rails && i < SESSION_SENSORS; i++)
			if (!used[i] && (top < 0 || tegra->power_mw[i].value.mean >
							    tegra->power_mw[top].value.mean))
				top = i;
		if (top < 0)
			break;
		used[top] = true;
		append_rail(text, &tegra->power_mw[top]);
	}
	if (shown == 0)
		text_appendf(text, TEXT, ", power unknown");
}

static const char *why_no_samples(enum tegra_state state)
{
	switch (state) {
	case TEGRA_NONE:
		return "no tegrastats";
	case TEGRA_LIVE:
		return "tegrastats had no time to print";
	case TEGRA_DIED:
		return "tegrastats ended without a line";
	case TEGRA_SILENT:
		return "tegrastats runs but prints nothing";
	case TEGRA_GARBAGE:
		return "no line of tegrastats was understood";
	case TEGRA_RECORDED:
	case TEGRA_LOG:
		return "the log has no sample";
	}
	return "?";
}

void text_board(struct lines *lines, const struct session *session)
{
	const struct tegra_summary *tegra = &session->tegra;
	char text[TEXT] = "";

	if (tegra->samples > 0) {
		append_engine(text, "GPU", &tegra->gpu_busy, &tegra->gpu_clock_mhz);
		append_engine(text, "EMC", &tegra->emc_busy, &tegra->emc_clock_mhz);
		append_hottest(text, tegra);
		append_power(text, tegra);
		append_ram(text, tegra);
		if (tegra->state == TEGRA_RECORDED && session->nthreads > 0)
			text_appendf(text, TEXT, " - from a log, not of this window");
	} else {
		text_appendf(text, TEXT,
			     "%s: GPU, EMC, temperature and power are unknown, so this verdict "
			     "cannot tell whether the GPU waits for the CPU or is busy itself",
			     why_no_samples(tegra->state));
	}
	lines_label(lines, "board", text, 2);
	if (*tegra->note)
		lines_label(lines, "", tegra->note, 2);
}

static void append_loss(char *text, const char *what, int64_t n)
{
	if (n != 0 && n != UNKNOWN_COUNT)
		text_appendf(text, TEXT, "%s%s: %" PRId64, *text ? ", " : "", what, n);
}

static void append_unknown_time(char *text, const struct session *session)
{
	struct thread_account sum = {.unknown_ns = 0};
	char time[32];

	for (size_t i = 0; i < session->nthreads; i++)
		thread_account_merge(&sum, &session->threads[i]);
	if (sum.unknown_ns == 0)
		return;
	text_duration(time, sizeof(time), sum.unknown_ns);
	text_appendf(text, TEXT, "%sthread time that could not be told: %s", *text ? ", " : "",
		     time);
}

void text_losses(struct lines *lines, const struct session *session, bool verbose)
{
	const struct session_losses *losses = &session->losses;
	char text[TEXT] = "";

	append_loss(text, "threads whose times do not add up (a bug: please report it)",
		    losses->identity_violations);
	append_loss(text, "threads not traced", losses->threads_untracked);
	append_unknown_time(text, session);
	append_loss(text, "switch-ins missed", losses->gaps_switch_out);
	append_loss(text, "switch-outs or wakeups missed", losses->gaps_switch_in);
	append_loss(text, "scheduler events lost in full rings", losses->events_lost);
	append_loss(text, "waits whose cause was not kept", losses->edges_dropped);
	append_loss(text, "stacks not kept", losses->stacks_dropped);
	append_loss(text, "run-queue delays whose CPU holder was not kept",
		    losses->holders_dropped);
	append_loss(text, "on-CPU samples not kept", losses->samples_dropped);
	append_loss(text, "page faults whose mapping was not kept", losses->faults_dropped);
	append_loss(text, "events not in the timeline", losses->timeline_lost);
	append_loss(text, "wakeups without a waker", losses->wakes_without_waker);
	append_loss(text, "events out of order", losses->clamped);
	append_loss(text, "block requests whose issue was missed", losses->block_unmatched);
	append_loss(text, "block requests not seen to complete", losses->block_unfinished);
	append_loss(text, "block requests not kept", losses->block_dropped);
	append_loss(text, "tegrastats lines not understood", losses->tegra_rejected);
	if (*text)
		lines_label(lines, "losses", text, verbose ? NO_LIMIT : 3);
	else if (verbose)
		lines_label(lines, "losses", "none", 1);
}

static void append_end(char *text, const struct session *session)
{
	int status = session->command_status;

	if (session->ended_by == END_INTERRUPT)
		text_appendf(text, TEXT, " (interrupted)");
	else if (session->ended_by == END_TARGET_EXIT)
		text_appendf(text, TEXT, " (until the target ended)");
	if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status))
		text_appendf(text, TEXT, "; the command failed with status %d",
			     WEXITSTATUS(status));
	else if (status != -1 && WIFSIGNALED(status))
		text_appendf(text, TEXT, "; the command was killed by signal %d", WTERMSIG(status));
}

static void append_host(char *text, const struct host_info *host)
{
	if (*host->kernel)
		text_appendf(text, TEXT, "; kernel %s %s", host->kernel, host->arch);
	if (host->cpus > 0)
		text_appendf(text, TEXT, ", %d CPU%s", host->cpus, host->cpus == 1 ? "" : "s");
	if (*host->power_mode)
		text_appendf(text, TEXT, ", mode %s", host->power_mode);
	if (*host->module)
		text_appendf(text, TEXT, ", %s", host->module);
}

/* A window, or else the log that is all there is. */
static void append_window(char *text, const struct session *session)
{
	const struct capability *capability = &session->capability;
	const struct tegra_summary *tegra = &session->tegra;
	char duration[32];

	if (session_duration_ns(session) == UNKNOWN_NS) {
		text_appendf(text, TEXT, "%s; %" PRId64 " samples",
			     *tegra->source ? tegra->source : "nothing", tegra->samples);
		return;
	}
	text_duration(duration, sizeof(duration), session_duration_ns(session));
	text_appendf(text, TEXT, "%s", duration);
	append_end(text, session);
	if (*capability->rung)
		text_appendf(text, TEXT, "; %" PRId64 " thread%s, rung %s", session->threads_seen,
			     session->threads_seen == 1 ? "" : "s", capability->rung);
	if (capability->nmissing > 0)
		text_appendf(text, TEXT, " (%d thing%s missing: -v)", capability->nmissing,
			     capability->nmissing == 1 ? "" : "s");
}

void text_measured(struct lines *lines, const struct session *session)
{
	char text[TEXT] = "";

	append_window(text, session);
	append_host(text, &session->host);
	lines_label(lines, "measured", text, 2);
}
