/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>

#include "base/text.h"
#include "report/png/png_parts.h"

#define RED  "#C8401A"
#define INK  "#333333"
#define FADE "#999999"

#define LABEL_GAP 0.032 /* of the height: two lines of text */

struct ranges {
	double x0, x1, y0, y1;
};

struct roof {
	enum precision precision;
	double flops;
	double label; /* height of its name, 0-1 of the graph */
};

struct roofs {
	struct roof roof[PRECISIONS];
	int n; /* lowest first */
};

static void sort_in(struct roofs *roofs, enum precision precision, double flops)
{
	int at = roofs->n++;

	for (; at && roofs->roof[at - 1].flops > flops; at--)
		roofs->roof[at] = roofs->roof[at - 1];
	roofs->roof[at] = (struct roof){.precision = precision, .flops = flops};
}

static struct roofs find_roofs(const struct roofline_input *input)
{
	struct roofs roofs = {.n = 0};

	for (enum precision p = 0; p < PRECISIONS; p++) {
		if (input->now.flops[p] > 0)
			sort_in(&roofs, p, input->now.flops[p]);
	}
	return roofs;
}

static bool is_placed(const struct roofline_point *point)
{
	return point->intensity > 0 && point->flops > 0;
}

static struct ranges find_ranges(const struct roofs *roofs, double dram,
				 const struct roofline_point *point)
{
	double low = roofs->n ? roofs->roof[0].flops : point->flops;
	double peak = roofs->n ? roofs->roof[roofs->n - 1].flops : point->flops;
	struct ranges r;

	if (!(low > 0))
		low = peak = 1e12;
	if (!(dram > 0))
		dram = peak / 100;
	r = (struct ranges){low / dram / 40, peak / dram * 12, low / 60, peak * 2.5};
	if (point->flops > 0) {
		r.y0 = fmin(r.y0, point->flops / 4);
		r.y1 = fmax(r.y1, point->flops * 3);
	}
	if (is_placed(point)) {
		r.x0 = fmin(r.x0, point->intensity / 4);
		r.x1 = fmax(r.x1, point->intensity * 4);
	}
	return r;
}

static void place_labels(struct roofs *roofs, const struct ranges *r)
{
	for (int i = 0; i < roofs->n; i++) {
		double height = log(roofs->roof[i].flops / r->y0) / log(r->y1 / r->y0);

		if (i)
			height = fmax(height, roofs->roof[i - 1].label + LABEL_GAP);
		roofs->roof[i].label = height;
	}
}

static const char *unit_of(enum precision precision)
{
	return precision == PREC_INT8_TC ? "OP/s" : "FLOP/s";
}

/* From where the memory roof meets it to the right edge; the workload's own stands out. */
static void put_roof(FILE *script, const struct roof *roof, const struct roofline_input *input,
		     const struct ranges *r)
{
	bool own = roof->precision == input->precision;
	double from = input->now.dram > 0 ? fmax(r->x0, roof->flops / input->now.dram) : r->x0;
	char rate[32], name[96];

	roofline_format_si(rate, sizeof(rate), roof->flops, unit_of(roof->precision));
	snprintf(name, sizeof(name), "%s  %s", roofline_precision_label(roof->precision), rate);
	fprintf(script, "set arrow from %.6g,%.6g to %.6g,%.6g nohead lw %s lc rgb '%s'\n", from,
		roof->flops, r->x1, roof->flops, own ? "4" : "2", own ? INK : FADE);
	fputs("set label ", script);
	png_quote(script, name, PNG_LABEL_CHARS);
	fprintf(script, " at graph 1.01,graph %.4f left font ',%d' textcolor rgb '%s'\n",
		roof->label, own ? 16 : 14, own ? INK : "#777777");
	if (input->now.dram > 0)
		fprintf(script,
			"set label '' at %.6g,%.6g point pt 7 ps %s lc rgb '%s'\n"
			"set arrow from %.6g,graph 0 to %.6g,%.6g nohead lw 1 dt 3 lc rgb '%s'\n",
			from, roof->flops, own ? "1.8" : "1.2", own ? INK : FADE, from, from,
			roof->flops, own ? INK : "#bbbbbb");
}

/* Of the workload's own precision: the number of FLOP a byte from which DRAM is no limit. */
static void name_ridge(FILE *script, const struct roofline_input *input,
		       const struct roofline_point *point)
{
	char name[64];

	if (input->precision >= PRECISIONS || !(point->ridge[input->precision] > 0))
		return;
	snprintf(name, sizeof(name), "ridge: %.3g FLOP/byte", point->ridge[input->precision]);
	fputs("set label ", script);
	png_quote(script, name, PNG_LABEL_CHARS);
	fprintf(script, " at %.6g,graph 0.02 left offset 0.6,0 font ',14' textcolor rgb '%s'\n",
		point->ridge[input->precision], INK);
}

static void put_point(FILE *script, const struct roofline_input *input,
		      const struct roofline_point *point)
{
	double roof = point->flops / point->share_of_roof;
	char share[32], rate[32], name[128];

	roofline_format_si(rate, sizeof(rate), point->flops, unit_of(input->precision));
	if (!is_placed(point)) {
		snprintf(name, sizeof(name), "this workload: %s, DRAM traffic unknown", rate);
		if (!(point->flops > 0))
			return;
		fprintf(script,
			"set arrow from graph 0,first %.6g to graph 1,first %.6g nohead lw 3 "
			"dt 2 lc rgb '" RED "'\nset label ",
			point->flops, point->flops);
		png_quote(script, name, PNG_LABEL_CHARS);
		fprintf(script,
			" at graph 0.02,first %.6g left offset 0,0.8 textcolor rgb '" RED "'\n",
			point->flops);
		return;
	}
	if (isfinite(roof) && point->share_of_roof < 1)
		fprintf(script,
			"set arrow from %.6g,%.6g to %.6g,%.6g heads size 0.006,90 lw 2 dt 2 lc "
			"rgb "
			"'" RED "'\n",
			point->intensity, point->flops, point->intensity, roof);
	if (isfinite(point->share_of_roof))
		snprintf(name, sizeof(name), "%s of the roof (%s)",
			 roofline_format_share(share, sizeof(share), point->share_of_roof), rate);
	else
		snprintf(name, sizeof(name), "%s, its roof is unknown", rate);
	fputs("set label ", script);
	png_quote(script, name, PNG_LABEL_CHARS);
	fprintf(script,
		" at %.6g,%.6g left offset 1.8,-1.1 font ',17' textcolor rgb '" RED
		"' point pt 7 ps 3 lc rgb '" RED "' front boxed\n",
		point->intensity, point->flops);
}

static void put_dram(FILE *script, const char *comma, double bytes_per_s, double peak,
		     const char *style, const char *what)
{
	char rate[32], name[96];

	if (!(bytes_per_s > 0))
		return;
	roofline_format_si(rate, sizeof(rate), bytes_per_s, "B/s");
	snprintf(name, sizeof(name), "%s: %s", what, rate);
	fprintf(script, "%s(x <= %.6g ? x * %.6g : 1/0) with lines %s title ", comma,
		peak / bytes_per_s, bytes_per_s, style);
	png_quote(script, name, PNG_LABEL_CHARS);
}

static void put_titles(FILE *script, const struct session *session, const struct verdict *verdict)
{
	struct roofline_wording words;
	char title[400];

	png_title(title, sizeof(title), session);
	if (*session->workload.model)
		text_appendf(title, sizeof(title), ": %s", session->workload.model);
	roofline_words(&verdict->roofline_input, &verdict->roofline_point, &words);
	fputs("set label ", script);
	png_quote(script, title, PNG_TITLE_CHARS);
	fputs(" at screen 0.08,0.965 left font ',20'\nset label ", script);
	png_quote(script, words.headline, PNG_HEADLINE_CHARS);
	fputs(" at screen 0.08,0.925 left font ',15' textcolor rgb '#444444'\n", script);
}

void png_roofline(FILE *script, const struct session *session, const struct verdict *verdict)
{
	const struct roofline_input *input = &verdict->roofline_input;
	const struct roofline_point *point = &verdict->roofline_point;
	struct roofs roofs = find_roofs(input);
	struct ranges r = find_ranges(&roofs, input->now.dram, point);
	double peak = roofs.n ? roofs.roof[roofs.n - 1].flops : r.y1;

	place_labels(&roofs, &r);
	fprintf(script,
		"set encoding utf8\n"
		"set terminal pngcairo noenhanced size %d,%d font 'Sans,16' background '#ffffff'\n"
		"set lmargin at screen 0.08\nset rmargin at screen 0.80\n"
		"set tmargin at screen 0.88\nset bmargin at screen 0.09\n"
		"set border 3 lc rgb '#555555'\nset tics nomirror out textcolor rgb '#333333'\n"
		"set grid lc rgb '#e4e4e4' lt 1 lw 1\nset logscale xy\n"
		"set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\nset samples 1000\n"
		"set format x '%%g'\nset format y '%%.0s %%c'\n"
		"set xlabel 'Arithmetic intensity (FLOP/byte of DRAM traffic)'\n"
		"set ylabel 'Performance (FLOP/s)'\n"
		"set style textbox opaque noborder\n"
		"set key at graph 0.02,0.98 left top Left reverse samplen 2.5 font ',15'\n",
		PNG_WIDTH, PNG_HEIGHT * 4 / 5, r.x0, r.x1, r.y0, r.y1);
	put_titles(script, session, verdict);
	for (int i = 0; i < roofs.n; i++)
		put_roof(script, &roofs.roof[i], input, &r);
	name_ridge(script, input, point);
	put_point(script, input, point);
	if (!roofs.n || !(input->now.dram > 0))
		fputs("set label 'Not all ceilings of this board are known: give --peak-flops and "
		      "--peak-bw' at graph 0.5,0.96 center textcolor rgb '#666666'\n",
		      script);
	fputs("plot NaN notitle", script);
	put_dram(script, ", ", input->now.dram, peak, "lw 4 lc rgb '" INK "'", "DRAM");
	put_dram(script, ", ", input->now.dram_practical, peak, "lw 2 dt (12,8) lc rgb '" FADE "'",
		 "DRAM, 80 % in practice");
	fputc('\n', script);
}
