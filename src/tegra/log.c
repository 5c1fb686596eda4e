/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "tegra/guess.h"
#include "tegra/summary.h"
#include "tegra/writers.h"

#define CHUNK 65536

struct log {
	struct session *session;
	const struct tegra_log_options *options;
	struct tegra_reader reader;
	struct tegra_writers writers;
	struct tegra_traits traits;
	bool stopped;
	int err;
};

static bool take_record(const struct tegra_record *record, void *ctx)
{
	struct log *log = ctx;
	const struct tegra_sample *sample = record->sample;

	if (log->options->on_record && !log->options->on_record(record, log->options->ctx)) {
		log->stopped = true;
		return false;
	}
	tegra_summary_add(&log->session->tegra, sample);
	tegra_traits_add(&log->traits, sample);
	log->err = tegra_writers_add(&log->writers, sample);
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
 * Lines get the fitted period times their number (facts on tegrastats, interval drift): dates have
 * a resolution of 1 s. Pauses, as between runs, are left out.
 */
static void set_times(struct session *session, double period_ns)
{
	struct tegra_series *series = &session->series;

	for (size_t i = 0; i < series->n; i++)
		series->points[i].t_ns =
			isnan(period_ns) ? UNKNOWN_NS
					 : (int64_t)((double)i * series->merged * period_ns);
	if (isnan(period_ns))
		return;
	session->start_ns = 0;
	session->end_ns = (int64_t)(period_ns * (double)tegra_series_samples(series));
	session->tegra.interval_ms = period_ns / 1e6;
}

/* What is judged: the samples of one tegrastats. */
static void take_main_writer(struct log *log, char *note, size_t size)
{
	int number, n = tegra_writers_count(&log->writers);
	struct tegra_writer *writer = tegra_writers_main(&log->writers, &number);
	struct session *session = log->session;
	double period_ns = log->options->interval_ms * 1e6;

	session->series = writer->series;
	writer->series = (struct tegra_series){0};
	set_times(session, isnan(period_ns) ? tegra_writer_period_ns(writer) : period_ns);
	if (n < 2)
		return;
	session->tegra.left_aside = session->tegra.samples - writer->lines;
	text_appendf(note, size,
		     "%d tegrastats wrote this log at the same time: judged are the %" PRId64
		     " lines of number %d, left aside %" PRId64 " of the others",
		     n, writer->lines, number, session->tegra.left_aside);
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
	uint32_t restarts = log->writers.runs.restarts;
	uint64_t rejoined = log->reader.stats.rejoined;
	char *note = tegra->note;
	size_t size = sizeof(tegra->note);

	tegra->state = TEGRA_LOG;
	tegra->rejected = (int64_t)log->reader.stats.rejected;
	log->session->losses.tegra_rejected = tegra->rejected;
	if (strcmp(path, "-"))
		text_sanitize(tegra->source, sizeof(tegra->source), path, strlen(path));
	else
		text_copy(tegra->source, sizeof(tegra->source), "standard input");
	take_main_writer(log, note, size);
	if (restarts)
		text_appendf(note, size, "%s%u more tegrastats runs follow the first",
			     *note ? "; " : "", restarts);
	if (rejoined)
		text_appendf(note, size,
			     "%s%" PRIu64 " records put together from lines wrapped at %d columns",
			     *note ? "; " : "", rejoined, TEGRA_ROW_COLUMNS);
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
	tegra_reader_init(&log->reader);
	tegra_writers_init(&log->writers);
	fd = open_log(path);
	err = fd < 0 ? fd : read_all(log, fd);
	if (fd >= 0)
		close(fd);
	if (err) {
		snprintf(error, error_size, "cannot read %s: %s", shown, strerror(-err));
	} else if (!log->reader.stats.records) {
		err = no_records(log, shown, error, error_size);
	} else {
		set_board(log);
		set_summary(log, path);
	}
	tegra_writers_free(&log->writers);
	free(log);
	return err;
}
