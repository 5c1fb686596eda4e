/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "tegra/guess.h"
#include "tegra/summary.h"

#define CHUNK 65536

struct log {
	struct session *session;
	const struct tegra_log_options *options;
	struct tegra_reader reader;
	struct tegra_runs runs;
	struct tegra_traits traits;
	int64_t index; /* of the next record */
	int64_t first_date_s, last_date_s;
	int64_t last_date_index;
	bool stopped;
	int err;
};

static bool take_record(const struct tegra_record *record, void *ctx)
{
	struct log *log = ctx;
	const struct tegra_sample *sample = record->sample;
	struct tegra_point point;

	if (log->options->on_record && !log->options->on_record(record, log->options->ctx)) {
		log->stopped = true;
		return false;
	}
	tegra_summary_add(&log->session->tegra, sample);
	tegra_traits_add(&log->traits, sample);
	tegra_runs_add(&log->runs, sample, NULL);
	tegra_point_of(sample, log->index, &point);
	log->err = series_add(&log->session->series, &point);
	if (sample->date_s != TEGRA_DATE_UNKNOWN) {
		if (log->first_date_s == TEGRA_DATE_UNKNOWN)
			log->first_date_s = sample->date_s;
		log->last_date_s = sample->date_s;
		log->last_date_index = log->index;
	}
	log->index++;
	return !log->err;
}

static int read_all(struct log *log, int fd)
{
	char bytes[CHUNK];
	ssize_t n;

	for (;;) {
		n = read(fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (!tegra_reader_push(&log->reader, bytes, n, take_record, log))
			return log->err;
	}
	if (n < 0)
		return -errno;
	tegra_reader_finish(&log->reader, take_record, log);
	return log->err;
}

/*
 * A date has a resolution of 1 s and repeats, so lines get the fitted period times their index
 * (facts on tegrastats, interval drift). A date that steps back says nothing about the span.
 */
static double period_ns(const struct log *log)
{
	if (!isnan(log->options->interval_ms))
		return log->options->interval_ms * 1e6;
	if (log->first_date_s == TEGRA_DATE_UNKNOWN || log->last_date_s <= log->first_date_s ||
	    log->last_date_index < 2)
		return NAN;
	return (double)(log->last_date_s - log->first_date_s) * 1e9 / (double)log->last_date_index;
}

static void set_times(struct log *log)
{
	struct session *session = log->session;
	double period = period_ns(log);

	for (size_t i = 0; i < session->series.n; i++) {
		int64_t *t_ns = &session->series.points[i].t_ns;

		*t_ns = isnan(period) ? UNKNOWN_NS : (int64_t)((double)*t_ns * period);
	}
	if (isnan(period))
		return;
	session->start_ns = 0;
	session->end_ns = (int64_t)(period * (double)log->index);
	session->tegra.interval_ms = period / 1e6;
}

static void set_board(struct log *log)
{
	const struct module *module = tegra_guess_module(&log->traits);
	struct board_info *board = &log->session->board;
	const struct module_mode *max;

	board->ram_mb = log->traits.ram_mb > 0 ? log->traits.ram_mb : NAN;
	if (!module)
		return;
	log->session->board_guessed = true;
	text_copy(board->module, sizeof(board->module), module->name);
	text_copy(log->session->host.module, sizeof(log->session->host.module), module->name);
	board->trips = module->trips;
	board->emc.bus_bits = module->bus_bits;
	max = module_mode_max(module);
	if (!max)
		return;
	board->gpu.hw_max_mhz = max->gpu_mhz;
	board->emc.hw_max_mhz = max->emc_mhz;
	board->gpu.sm_total = max->sm;
	module_mode_ceilings(&board->largest.ceilings, module, max);
}

static void set_summary(struct log *log, const char *path)
{
	struct tegra_summary *tegra = &log->session->tegra;
	char note[sizeof(tegra->note)] = "";

	tegra->state = TEGRA_LOG;
	tegra->rejected = (int64_t)log->reader.stats.rejected;
	log->session->losses.tegra_rejected = tegra->rejected;
	if (strcmp(path, "-"))
		text_sanitize(tegra->source, sizeof(tegra->source), path, strlen(path));
	else
		text_copy(tegra->source, sizeof(tegra->source), "standard input");
	if (log->runs.restarts)
		text_appendf(note, sizeof(note), "%u more tegrastats runs follow the first",
			     log->runs.restarts);
	if (log->runs.interleaved)
		text_appendf(note, sizeof(note), "%s%u other tegrastats wrote in between",
			     *note ? "; " : "", log->runs.interleaved);
	if (log->reader.stats.rejoined)
		text_appendf(note, sizeof(note),
			     "%s%llu records put together from lines wrapped at %d columns",
			     *note ? "; " : "", (unsigned long long)log->reader.stats.rejoined,
			     TEGRA_ROW_COLUMNS);
	text_copy(tegra->note, sizeof(tegra->note), note);
}

static int no_records(const struct log *log, const char *shown, char *error, size_t size)
{
	const struct tegra_reader_stats *stats = &log->reader.stats;

	if (stats->rejected_by[TEGRA_LINE_COMPRESSED])
		snprintf(error, size,
			 "%s is compressed: unpack it first (zcat LOG | tegratrace "
			 "diagnose -)",
			 shown);
	else if (!stats->bytes)
		snprintf(error, size, "%s is empty: nothing to judge", shown);
	else
		snprintf(error, size,
			 "%s holds no tegrastats line (%llu lines; the first: \"%.60s\"): give the "
			 "output of tegrastats itself",
			 shown, (unsigned long long)stats->rejected, stats->example);
	return -ENODATA;
}

static int open_log(const char *path)
{
	struct stat st;
	int fd =
		strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : dup(STDIN_FILENO);
	int err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 0;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int tegra_log_read(struct session *session, const char *path,
		   const struct tegra_log_options *options, char *error, size_t error_size)
{
	struct log *log = calloc(1, sizeof(*log));
	char shown[256];
	int fd, err;

	if (!log)
		return -ENOMEM;
	text_sanitize(shown, sizeof(shown), path, strlen(path));
	log->session = session;
	log->options = options;
	log->first_date_s = log->last_date_s = TEGRA_DATE_UNKNOWN;
	tegra_reader_init(&log->reader);
	tegra_runs_init(&log->runs);
	fd = open_log(path);
	err = fd < 0 ? fd : read_all(log, fd);
	if (fd >= 0)
		close(fd);
	if (err) {
		snprintf(error, error_size, "cannot read %s: %s", shown, strerror(-err));
	} else if (!log->reader.stats.records) {
		err = no_records(log, shown, error, error_size);
	} else {
		set_times(log);
		set_board(log);
		set_summary(log, path);
	}
	free(log);
	return err;
}
