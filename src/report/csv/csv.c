/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/csv/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "report/csv/csv_values.h"

int csv_form_from_name(const char *name, enum csv_form *form)
{
	static const char *const names[] = {"own", "seed", "jtop"};

	for (int i = 0; i < 3; i++) {
		if (!strcmp(name ? name : "own", names[i])) {
			*form = (enum csv_form)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* A cell is quoted when it needs to be (RFC 4180), and never starts a formula in a spreadsheet. */
static void put_text(FILE *out, const char *raw)
{
	char safe[TEXT_SANITIZED_SIZE(64)];

	text_sanitize(safe, sizeof(safe), raw, strlen(raw));
	if (*safe && !strpbrk(safe, ",\"") && !csv_is_formula(safe))
		fputs(safe, out);
	else
		csv_put_quoted(out, safe);
}

static void put_int(FILE *out, int32_t value)
{
	if (value != TEGRA_UNKNOWN)
		fprintf(out, "%" PRId32, value);
}

static void put_number(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, "%.6g", value);
}

static void put_date(FILE *out, const struct tegra_sample *sample, int64_t index)
{
	time_t date_s = sample->date_s;
	struct tm tm;
	char text[32];

	if (sample->date_s == TEGRA_DATE_UNKNOWN || !gmtime_r(&date_s, &tm)) {
		fprintf(out, "%" PRId64, index);
		return;
	}
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	fputs(text, out);
}

static int32_t gpu_mhz(const struct tegra_sample *sample)
{
	return sample->gr3d_mhz_count ? sample->gr3d_mhz[0] : TEGRA_UNKNOWN;
}

static const struct tegra_temp *find_temp(const struct tegra_sample *sample, const char *name)
{
	for (uint32_t i = 0; i < sample->temp_count; i++) {
		if (!strcmp(sample->temp[i].name, name))
			return &sample->temp[i];
	}
	return NULL;
}

static double hottest_c(const struct tegra_sample *sample)
{
	double hottest = NAN;

	for (uint32_t i = 0; i < sample->temp_count; i++)
		hottest = fmax(hottest, sample->temp[i].cur_c);
	return hottest;
}

static int32_t rail_mw(const struct tegra_sample *sample, const char *name)
{
	const struct tegra_rail *rail = tegra_sample_rail(sample, name);

	return rail ? rail->cur_mw : TEGRA_UNKNOWN;
}

/* Six clock columns, as the script has them, whatever the board. */
#define SEED_CPUS 6

static void seed_row(FILE *out, const struct tegra_sample *sample, int64_t index)
{
	const struct tegra_temp *tj = find_temp(sample, "tj");
	const int32_t memory[] = {sample->ram_used_mb,	 sample->ram_total_mb, sample->swap_used_mb,
				  sample->swap_total_mb, sample->emc_pct,      sample->emc_mhz,
				  sample->gr3d_pct,	 gpu_mhz(sample)};

	put_date(out, sample, index);
	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		fputc(',', out);
		put_int(out, memory[i]);
	}
	for (uint32_t i = 0; i < SEED_CPUS; i++) {
		fputc(',', out);
		if (i < sample->cpu_count && !sample->cpu[i].off)
			put_int(out, sample->cpu[i].freq_mhz);
	}
	fputc(',', out);
	put_number(out, tj ? tj->cur_c : NAN);
	fputc(',', out);
	put_int(out, rail_mw(sample, "VDD_IN"));
	fputc('\n', out);
}

static void own_row(FILE *out, const struct tegra_sample *sample, int64_t index)
{
	const int32_t values[] = {sample->ram_used_mb,	 sample->ram_total_mb, sample->swap_used_mb,
				  sample->swap_total_mb, sample->emc_pct,      sample->emc_mhz,
				  sample->gr3d_pct,	 gpu_mhz(sample)};
	int32_t busiest = TEGRA_UNKNOWN;
	int off = 0, sum = 0;

	for (uint32_t i = 0; i < sample->cpu_count; i++) {
		off += sample->cpu[i].off;
		if (sample->cpu[i].load_pct == TEGRA_UNKNOWN)
			continue;
		sum += sample->cpu[i].load_pct;
		if (sample->cpu[i].load_pct > busiest)
			busiest = sample->cpu[i].load_pct;
	}
	fprintf(out, "%" PRId64 ",", index);
	if (sample->date_s != TEGRA_DATE_UNKNOWN)
		put_date(out, sample, index);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		fputc(',', out);
		put_int(out, values[i]);
	}
	fputc(',', out);
	put_int(out, busiest);
	if (busiest == TEGRA_UNKNOWN)
		fputs(",,", out);
	else
		fprintf(out, ",%d,%d", sum, off);
	fputc(',', out);
	put_number(out, hottest_c(sample));
	fputc(',', out);
	put_int(out, rail_mw(sample, "VDD_IN"));
	fputc('\n', out);
}

static void jtop_header(FILE *out, const struct tegra_sample *first)
{
	fputs("time,uptime", out);
	for (uint32_t i = 0; i < first->cpu_count; i++)
		fprintf(out, ",CPU%u", i + 1);
	fputs(",RAM,SWAP,EMC,GPU", out);
	for (uint32_t i = 0; i < first->engine_count; i++) {
		fputc(',', out);
		put_text(out, first->engine[i].name);
	}
	for (uint32_t i = 0; i < first->temp_count; i++) {
		fputs(",Temp ", out);
		put_text(out, first->temp[i].name);
	}
	for (uint32_t i = 0; i < first->rail_count; i++) {
		fputs(",Power ", out);
		put_text(out, first->rail[i].name);
	}
	fputs(",Power TOT,jetson_clocks,nvp model\n", out);
}

static void put_share(FILE *out, int32_t part, int32_t whole)
{
	if (part != TEGRA_UNKNOWN && whole > 0)
		fprintf(out, "%.4f", (double)part / whole);
}

static void jtop_engines(FILE *out, const struct tegra_sample *first,
			 const struct tegra_sample *sample)
{
	for (uint32_t i = 0; i < first->engine_count; i++) {
		fputc(',', out);
		for (uint32_t k = 0; k < sample->engine_count; k++) {
			const struct tegra_engine *engine = &sample->engine[k];

			if (strcmp(engine->name, first->engine[i].name))
				continue;
			if (engine->off)
				fputs("OFF", out);
			else
				put_int(out, engine->mhz);
			break;
		}
	}
}

static void jtop_row(FILE *out, const struct tegra_sample *first, const struct tegra_sample *sample,
		     int64_t index)
{
	put_date(out, sample, index);
	fputc(',', out);
	for (uint32_t i = 0; i < first->cpu_count; i++) {
		fputc(',', out);
		if (i < sample->cpu_count && sample->cpu[i].off)
			fputs("OFF", out);
		else if (i < sample->cpu_count)
			put_int(out, sample->cpu[i].load_pct);
	}
	fputc(',', out);
	put_share(out, sample->ram_used_mb, sample->ram_total_mb);
	fputc(',', out);
	put_share(out, sample->swap_used_mb, sample->swap_total_mb);
	fputc(',', out);
	put_int(out, sample->emc_pct);
	fputc(',', out);
	put_int(out, sample->gr3d_pct);
	jtop_engines(out, first, sample);
	for (uint32_t i = 0; i < first->temp_count; i++) {
		const struct tegra_temp *temp = find_temp(sample, first->temp[i].name);

		fputc(',', out);
		put_number(out, temp ? temp->cur_c : NAN);
	}
	for (uint32_t i = 0; i < first->rail_count; i++) {
		fputc(',', out);
		put_int(out, rail_mw(sample, first->rail[i].name));
	}
	fputc(',', out);
	put_int(out, rail_mw(sample, "VDD_IN"));
	fputs(",,\n", out);
}

void csv_header(FILE *out, enum csv_form form, const struct tegra_sample *first)
{
	switch (form) {
	case CSV_SEED:
		fputs("timestamp,ram_used,ram_total,swap_used,swap_total,emc_usage,emc_freq,"
		      "gpu_usage,gpu_freq,cpu0_freq,cpu1_freq,cpu2_freq,cpu3_freq,cpu4_freq,"
		      "cpu5_freq,tj_temp,power_total\n",
		      out);
		break;
	case CSV_JTOP:
		jtop_header(out, first);
		break;
	default:
		fputs("sample,date,ram_used_mb,ram_total_mb,swap_used_mb,swap_total_mb,emc_pct,"
		      "emc_mhz,gpu_pct,gpu_mhz,busiest_core_pct,cores_sum_pct,cores_off,"
		      "hottest_c,vdd_in_mw\n",
		      out);
	}
}

void csv_row(FILE *out, enum csv_form form, const struct tegra_sample *first,
	     const struct tegra_sample *sample, int64_t index)
{
	if (form == CSV_SEED)
		seed_row(out, sample, index);
	else if (form == CSV_JTOP)
		jtop_row(out, first, sample, index);
	else
		own_row(out, sample, index);
}
