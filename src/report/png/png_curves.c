/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/png/png_parts.h"

/* With fewer points a mark on each: one alone would be no line. */
#define MARKED_POINTS 80

/* About one for each pixel: more of them would only hide each other. */
#define ROWS_MAX 1500

#define NARROW_PHASE 0.06 /* of the width: no room for its name */

enum column { TIME = 1, GPU_BUSY, EMC_BUSY, GPU_MHZ, EMC_MHZ, TEMPERATURE, POWER };

/* Told apart without colour vision too (Okabe and Ito). */
#define BLUE   "#0072B2"
#define RED    "#C8401A"
#define GREEN  "#008A63"
#define ORANGE "#D08A00"
#define PURPLE "#9A4F96"
#define MAROON "#8A1010"

struct picture {
	FILE *script;
	const struct session *session;
	const struct verdict *verdict;
	bool dated;
	double end;    /* of the time axis */
	size_t merged; /* points in a row of the data */
	bool begun;    /* a plot command */
};

static bool all_dated(const struct tegra_series *series)
{
	for (size_t i = 0; i < series->n; i++) {
		if (series->points[i].t_ns == UNKNOWN_NS)
			return false;
	}
	return true;
}

static double value_of(const struct tegra_point *point, enum column column)
{
	switch (column) {
	case TIME:
		return (double)point->t_ns / 1e9;
	case GPU_BUSY:
		return 100 * (double)point->gpu_busy;
	case EMC_BUSY:
		return 100 * (double)point->emc_busy;
	case GPU_MHZ:
		return (double)point->gpu_mhz;
	case EMC_MHZ:
		return (double)point->emc_mhz;
	case TEMPERATURE:
		return (double)point->hottest_c;
	case POWER:
		return (double)point->power_mw / 1e3;
	}
	return NAN;
}

/* NAN without a known value. */
static double largest(const struct session *session, enum column column)
{
	double found = NAN;

	for (size_t i = 0; i < session->series.n; i++)
		found = fmax(found, value_of(&session->series.points[i], column));
	return found;
}

static double smallest(const struct session *session, enum column column)
{
	double found = NAN;

	for (size_t i = 0; i < session->series.n; i++)
		found = fmin(found, value_of(&session->series.points[i], column));
	return found;
}

bool png_has_curves(const struct session *session)
{
	for (enum column column = GPU_BUSY; column <= POWER; column++) {
		if (!isnan(largest(session, column)))
			return true;
	}
	return false;
}

struct range {
	double sum, least, most;
	int n;
};

static void put_range(FILE *script, const struct range *range)
{
	if (range->n)
		fprintf(script, " %.6g %.6g %.6g", range->sum / range->n, range->least,
			range->most);
	else
		fputs(" NaN NaN NaN", script);
}

/* Points [from, to) as one row: the time of the first, and mean, least and most of each column. */
static void put_row(const struct picture *picture, size_t from, size_t to)
{
	const struct tegra_point *points = picture->session->series.points;

	fprintf(picture->script, "%.3f",
		picture->dated ? value_of(&points[from], TIME) : (double)from);
	for (enum column column = GPU_BUSY; column <= POWER; column++) {
		struct range range = {.least = NAN, .most = NAN};

		for (size_t i = from; i < to; i++) {
			double value = value_of(&points[i], column);

			if (!isfinite(value))
				continue;
			range.sum += value;
			range.least = fmin(range.least, value);
			range.most = fmax(range.most, value);
			range.n++;
		}
		put_range(picture->script, &range);
	}
	fputc('\n', picture->script);
}

/* A blank line parts the runs of tegrastats: no curve goes over the time between them. */
static void put_data(const struct picture *picture)
{
	const struct tegra_series *series = &picture->session->series;
	size_t from = 0;

	fputs("$data << END\n", picture->script);
	while (from < series->n) {
		uint32_t run = series->points[from].run;
		size_t to = from + 1;

		if (from && series->points[from - 1].run != run)
			fputc('\n', picture->script);
		while (to < series->n && to - from < picture->merged &&
		       series->points[to].run == run)
			to++;
		put_row(picture, from, to);
		from = to;
	}
	fputs("END\n", picture->script);
}

static void next_item(struct picture *picture)
{
	fputs(picture->begun ? ", \\\n\t" : "plot ", picture->script);
	picture->begun = true;
}

static void curve(struct picture *picture, enum column column, const char *color, const char *name,
		  const char *axes)
{
	bool marks = picture->session->series.n < MARKED_POINTS;
	int at = 2 + 3 * ((int)column - GPU_BUSY);

	if (isnan(largest(picture->session, column)))
		return;
	if (picture->merged > 1) {
		next_item(picture);
		fprintf(picture->script,
			"$data using 1:%d:%d axes %s with filledcurves fs transparent solid 0.25 "
			"noborder fc rgb '%s' notitle",
			at + 1, at + 2, axes, color);
	}
	next_item(picture);
	fprintf(picture->script, "$data using 1:%d axes %s with %s lw 3 %slc rgb '%s' title ", at,
		axes, marks ? "linespoints" : "lines", marks ? "pt 7 ps 0.9 " : "", color);
	png_quote(picture->script, name, PNG_LABEL_CHARS);
}

/* Before the curves: arrows and labels belong to the plot that follows. */
static void level(const struct picture *picture, double value, const char *color, const char *name,
		  bool name_above)
{
	if (!isfinite(value))
		return;
	fprintf(picture->script,
		"set arrow from graph 0,first %.6g to graph 1,first %.6g nohead front lw 2 dt "
		"(12,8) "
		"lc rgb '%s'\nset label ",
		value, value, color);
	png_quote(picture->script, name, PNG_LABEL_CHARS);
	fprintf(picture->script,
		" at graph 0.995,first %.6g right offset 0,%s front font ',14' textcolor rgb "
		"'%s'\n",
		value, name_above ? "0.62" : "-0.62", color);
}

static void begin_panel(struct picture *picture, int number, const char *title)
{
	static const double tops[] = {0.885, 0.595, 0.305};

	picture->begun = false;
	fprintf(picture->script,
		"unset label\nunset arrow\nunset y2tics\nunset y2label\n"
		"set tmargin at screen %.3f\nset bmargin at screen %.3f\n"
		"set label 1 '%s' at graph 0,1.09 left font ',19'\n",
		tops[number], tops[number] - 0.225, title);
}

static void end_panel(struct picture *picture)
{
	if (!picture->begun)
		fputs("set label 2 'not in these samples' at graph 0.5,0.5 center "
		      "textcolor rgb '#666666'\nunset ytics\nplot NaN notitle",
		      picture->script);
	fputc('\n', picture->script);
}

/* Where the phases of the run begin, with their names while there is room. */
static void phases(const struct picture *picture)
{
	const struct verdict *verdict = picture->verdict;

	if (!picture->dated || verdict->nphases < 2)
		return;
	for (int i = 0; i < verdict->nphases && i < VERDICT_PHASES; i++) {
		const struct phase_verdict *phase = &verdict->phases[i];
		double from, to;

		if (phase->start_ns == UNKNOWN_NS || phase->end_ns == UNKNOWN_NS)
			continue;
		from = (double)phase->start_ns / 1e9;
		to = (double)phase->end_ns / 1e9;
		if (from > 0)
			fprintf(picture->script,
				"set arrow from %.6g,graph 0 to %.6g,graph 1 nohead lw 1.5 dt 3 lc "
				"rgb '#777777'\n",
				from, from);
		if ((to - from) / picture->end < NARROW_PHASE)
			continue;
		fprintf(picture->script, "set label ");
		png_quote(picture->script, phase->name, PNG_LABEL_CHARS);
		fprintf(picture->script,
			" at %.6g,graph 0.95 left offset 0.5,0 font ',14' textcolor rgb "
			"'#555555'\n",
			from);
	}
}

static double threshold(const struct verdict *verdict, const char *rule)
{
	for (int i = 0; i < verdict->nrules && i < VERDICT_RULES; i++) {
		if (!strcmp(verdict->rules[i].name, rule))
			return verdict->rules[i].threshold;
	}
	return NAN;
}

static void saturation(const struct picture *picture, enum column column, const char *rule,
		       const char *color, const char *engine)
{
	double percent = 100 * threshold(picture->verdict, rule);
	char name[64];

	if (isnan(largest(picture->session, column)))
		return;
	snprintf(name, sizeof(name), "%s saturated: %.0f %%", engine, percent);
	level(picture, percent, color, name, false);
}

/* The first panel carries them: labels go with the panel that is drawn next. */
static void titles(const struct picture *picture)
{
	char title[256];

	png_title(title, sizeof(title), picture->session);
	fputs("set label ", picture->script);
	png_quote(picture->script, title, PNG_TITLE_CHARS);
	fputs(" at screen 0.08,0.975 left font ',21'\nset label ", picture->script);
	png_quote(picture->script, picture->verdict->headline, PNG_HEADLINE_CHARS);
	fputs(" at screen 0.08,0.948 left font ',15' textcolor rgb '#444444'\n", picture->script);
}

static void use_panel(struct picture *picture)
{
	begin_panel(picture, 0, "GPU and memory controller (EMC)");
	fputs("set yrange [0:116]\nset ytics 0,25,100\nset ylabel 'Busy (%)'\n", picture->script);
	titles(picture);
	phases(picture);
	saturation(picture, GPU_BUSY, "gpu-saturated", BLUE, "GPU");
	saturation(picture, EMC_BUSY, "emc-saturated", RED, "EMC");
	curve(picture, GPU_BUSY, BLUE, "GPU", "x1y1");
	curve(picture, EMC_BUSY, RED, "EMC", "x1y1");
	end_panel(picture);
}

static void cap(const struct picture *picture, enum column column, double mhz, const char *color,
		const char *engine)
{
	char name[64];

	if (isnan(largest(picture->session, column)))
		return;
	snprintf(name, sizeof(name), "%s cap: %.4g MHz", engine, mhz);
	level(picture, mhz, color, name, false);
}

static void clocks_panel(struct picture *picture)
{
	const struct session *session = picture->session;
	const struct board_info *board = &session->board;
	double gpu = largest(session, GPU_MHZ), emc = largest(session, EMC_MHZ),
	       top = fmax(gpu, emc);

	if (!isnan(gpu))
		top = fmax(top, board->gpu.cap_mhz);
	if (!isnan(emc))
		top = fmax(top, board->emc.cap_mhz);
	begin_panel(picture, 1, "Clocks");
	fprintf(picture->script, "set yrange [0:%.6g]\nset ytics autofreq\nset ylabel 'MHz'\n",
		top > 0 ? top * 1.1 : 1.0);
	cap(picture, GPU_MHZ, board->gpu.cap_mhz, GREEN, "GPU");
	cap(picture, EMC_MHZ, board->emc.cap_mhz, ORANGE, "EMC");
	curve(picture, GPU_MHZ, GREEN, "GPU", "x1y1");
	curve(picture, EMC_MHZ, ORANGE, "EMC", "x1y1");
	end_panel(picture);
}

struct trip {
	double celsius;
	const char *color;
	char name[96];
};

/* The kernel's own trip of a zone if it was read, else what the module's table says. */
static int find_trips(const struct session *session, struct trip trips[2])
{
	const struct throttle_summary *live = &session->throttle;
	const struct board_trips *table = &session->board.trips;
	double software = fmin(fmin(table->sw_cpu_c, table->sw_gpu_c), table->sw_other_c);
	int n = 0;

	if (isfinite(live->trip_c)) {
		trips[n] = (struct trip){.celsius = live->trip_c, .color = RED};
		snprintf(trips[n++].name, sizeof(trips->name), "throttles at %.4g °C%s%s",
			 live->trip_c, *live->margin_zone ? ": " : "", live->margin_zone);
	} else if (isfinite(software)) {
		trips[n] = (struct trip){.celsius = software, .color = RED};
		snprintf(trips[n++].name, sizeof(trips->name), "throttles at %.4g °C", software);
	}
	if (isfinite(table->hw_c)) {
		trips[n] = (struct trip){.celsius = table->hw_c, .color = MAROON};
		snprintf(trips[n++].name, sizeof(trips->name), "hardware throttle: %.4g °C",
			 table->hw_c);
	}
	return n;
}

static void heat_panel(struct picture *picture)
{
	const struct session *session = picture->session;
	double hottest = largest(session, TEMPERATURE), coolest = smallest(session, TEMPERATURE);
	double watts = largest(session, POWER);
	struct trip trips[2];
	int n = isnan(hottest) ? 0 : find_trips(session, trips);

	for (int i = 0; i < n; i++)
		hottest = fmax(hottest, trips[i].celsius);
	begin_panel(picture, 2, "Temperature and power");
	fprintf(picture->script, "set xlabel '%s'\nset format x '%%g'\n",
		picture->dated ? "Time (s)" : "Sample");
	fprintf(picture->script,
		"set yrange [%.6g:%.6g]\nset ytics autofreq\nset ylabel 'Hottest sensor (°C)'\n",
		isnan(coolest) ? 0 : fmin(30, floor(coolest) - 5),
		isnan(hottest) ? 100 : ceil(hottest) + 12);
	fprintf(picture->script, "set y2range [0:%.6g]\n", watts > 0 ? watts * 1.5 : 1.0);
	if (!isnan(watts))
		fputs("set y2tics autofreq\nset y2label 'Power (W)'\n", picture->script);
	for (int i = 0; i < n; i++)
		level(picture, trips[i].celsius, trips[i].color, trips[i].name, i > 0);
	curve(picture, TEMPERATURE, RED, "temperature", "x1y1");
	curve(picture, POWER, PURPLE, "power", "x1y2");
	end_panel(picture);
}

static void set_end(struct picture *picture)
{
	const struct tegra_series *series = &picture->session->series;

	picture->dated = all_dated(series);
	picture->merged = (series->n + ROWS_MAX - 1) / ROWS_MAX;
	picture->end = picture->dated ? value_of(&series->points[series->n - 1], TIME)
				      : (double)series->n - 1;
	if (!(picture->end > 0))
		picture->end = 1;
}

void png_curves(FILE *script, const struct session *session, const struct verdict *verdict)
{
	struct picture picture = {.script = script, .session = session, .verdict = verdict};

	set_end(&picture);
	fprintf(script,
		"set encoding utf8\n"
		"set terminal pngcairo noenhanced size %d,%d font 'Sans,16' background '#ffffff'\n",
		PNG_WIDTH, PNG_HEIGHT);
	put_data(&picture);
	fprintf(script,
		"set multiplot\n"
		"set lmargin at screen 0.08\nset rmargin at screen 0.94\n"
		"set border 3 lc rgb '#555555'\nset tics nomirror out textcolor rgb '#333333'\n"
		"set grid lc rgb '#dddddd' lt 1 lw 1\n"
		"set key at graph 1,1.15 right top horizontal samplen 2.5 font ',16'\n"
		"set xrange [0:%.6g]\nset format x ''\nset samples 2\n",
		picture.end);
	use_panel(&picture);
	clocks_panel(&picture);
	heat_panel(&picture);
	fputs("unset multiplot\n", script);
}
