/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/msg.h"
#include "base/text.h"

/* Of a spark line; longer where samples of the board come less often, so that each cell has one. */
#define CELL_NS 1000000000LL
/* Smaller changes of the temperature do not fill the height. */
#define HEAT_SPAN_C 10
#define HINT	    "  Ctrl-C ends it with the report"

static const struct named_sampled *hottest(const struct tegra_summary *tegra)
{
	const struct named_sampled *found = NULL;

	for (int i = 0; i < tegra->temps; i++) {
		if (!found || tegra->temps_c[i].value.last > found->value.last)
			found = &tegra->temps_c[i];
	}
	return found;
}

static void take_board(struct status *status, const struct tegra_summary *tegra)
{
	const struct named_sampled *hot = hottest(tegra);

	/* Without a new sample nothing is known of now: the last one is no second value. */
	if (tegra->samples == status->board_samples)
		return;
	status->board_samples = tegra->samples;
	status->gpu_busy = tegra->gpu_busy.n ? tegra->gpu_busy.last : NAN;
	status->emc_busy = tegra->emc_busy.n ? tegra->emc_busy.last : NAN;
	status->hottest_c = hot ? hot->value.last : NAN;
	text_copy(status->hottest, sizeof(status->hottest), hot ? hot->name : "");
	spark_add(&status->gpu, status->gpu_busy);
	spark_add(&status->emc, status->emc_busy);
	spark_add(&status->heat, status->hottest_c);
}

static void take_host(struct status *status, const struct host_series *host)
{
	if (host->n == status->host_points || !host->n)
		return;
	status->host_points = host->n;
	status->runq_threads = host->points[host->n - 1].runq_threads;
	spark_add(&status->runq, status->runq_threads);
}

/* The mean interval of samples, and some more for those that come late. */
static int64_t cell_ns(const struct status *status)
{
	int64_t interval_ns =
		status->board_samples > 1 ? status->elapsed_ns / status->board_samples * 5 / 4 : 0;

	return interval_ns > CELL_NS ? interval_ns : CELL_NS;
}

void status_take(struct status *status, int64_t elapsed_ns, int threads,
		 const struct tegra_summary *tegra, const struct host_series *host)
{
	if (!status->cell_end_ns) {
		status->gpu_busy = status->emc_busy = status->hottest_c = status->runq_threads =
			NAN;
		status->cell_end_ns = CELL_NS;
	}
	status->elapsed_ns = elapsed_ns;
	status->threads = threads;
	if (tegra)
		take_board(status, tegra);
	take_host(status, host);
	if (elapsed_ns < status->cell_end_ns)
		return;
	status->cell_end_ns = elapsed_ns + cell_ns(status);
	spark_close_cell(&status->gpu);
	spark_close_cell(&status->emc);
	spark_close_cell(&status->heat);
	spark_close_cell(&status->runq);
}

/* A blank before it; nothing where no cell is known. */
static void draw(char *dst, size_t size, const struct spark *spark, int cells, double least,
		 double most)
{
	double low, high;

	if (!cells || !spark_range(spark, &low, &high))
		return;
	text_appendf(dst, size, " ");
	spark_append(dst, size, spark, cells, fmin(least, low), fmax(most, high));
}

/* Round the present values, so that noise stays small. */
static void draw_heat(char *dst, size_t size, const struct spark *spark, int cells)
{
	double low, high;

	if (!spark_range(spark, &low, &high))
		return;
	draw(dst, size, spark, cells, (low + high - HEAT_SPAN_C) / 2,
	     (low + high + HEAT_SPAN_C) / 2);
}

static void compose(char *dst, size_t size, const struct status *status, int cells)
{
	char elapsed[32];

	*dst = 0;
	text_duration(elapsed, sizeof(elapsed), status->elapsed_ns);
	text_appendf(dst, size, "%s  %d thread%s", elapsed, status->threads,
		     status->threads == 1 ? "" : "s");
	if (!isnan(status->gpu_busy)) {
		text_appendf(dst, size, "  GPU %.0f %%", 100 * status->gpu_busy);
		draw(dst, size, &status->gpu, cells, 0, 1);
	}
	if (!isnan(status->emc_busy)) {
		text_appendf(dst, size, "  EMC %.0f %%", 100 * status->emc_busy);
		draw(dst, size, &status->emc, cells, 0, 1);
	}
	if (!isnan(status->runq_threads)) {
		text_appendf(dst, size, "  runq %.1f", status->runq_threads);
		draw(dst, size, &status->runq, cells, 0, 1);
	}
	if (!isnan(status->hottest_c)) {
		text_appendf(dst, size, "  %s %.0f C", status->hottest, status->hottest_c);
		draw_heat(dst, size, &status->heat, cells);
	}
}

void status_render(char *dst, size_t size, const struct status *status, int columns, bool utf8)
{
	/* Fewer than three cells are no line. */
	int used, cells = utf8 ? SPARK_CELLS : 0;

	do {
		compose(dst, size, status, cells >= 3 ? cells : 0);
		used = (int)text_columns(dst);
	} while (used > columns && cells-- > 0);
	if (used + (int)strlen(HINT) <= columns)
		text_appendf(dst, size, HINT);
	dst[text_prefix_bytes(dst, (size_t)columns)] = 0;
}

static bool names_utf8(const char *locale)
{
	return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
}

bool status_is_utf8(const char *lc_all, const char *lc_ctype, const char *lang)
{
	/* The first that is set and not empty counts (POSIX, 8.2). */
	if (lc_all && *lc_all)
		return names_utf8(lc_all);
	if (lc_ctype && *lc_ctype)
		return names_utf8(lc_ctype);
	return lang && names_utf8(lang);
}

void status_show(const struct status *status)
{
	int columns = msg_status_columns();
	char line[512];

	if (!columns)
		return;
	status_render(line, sizeof(line), status, columns,
		      status_is_utf8(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")));
	msg_status(line);
}

void status_clear(void)
{
	msg_status("");
}
