/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/summary.h"

#include <string.h>

#include "base/text.h"

void tegra_summary_init(struct tegra_summary *summary)
{
	memset(summary, 0, sizeof(*summary));
	summary->interval_ms = NAN;
	summary->ram_total_mb = NAN;
	summary->swap_total_mb = NAN;
	summary->cpus_off = -1;
	sampled_init(&summary->gpu_busy);
	sampled_init(&summary->gpu_clock_mhz);
	sampled_init(&summary->emc_busy);
	sampled_init(&summary->emc_clock_mhz);
	sampled_init(&summary->ram_used_mb);
	sampled_init(&summary->swap_used_mb);
	sampled_init(&summary->cpu_busy_max);
}

static void add_known(struct sampled *sampled, int32_t value, double scale)
{
	if (value != TEGRA_UNKNOWN)
		sampled_add(sampled, value * scale);
}

/* The series of that name, a new one when there is none yet; NULL when all places are taken. */
static struct sampled *series(struct named_sampled *list, int *n, const char *raw_name)
{
	char name[SESSION_NAME_LEN];

	text_sanitize(name, sizeof(name), raw_name, strlen(raw_name));
	for (int i = 0; i < *n; i++) {
		if (!strcmp(list[i].name, name))
			return &list[i].value;
	}
	if (*n == SESSION_SENSORS)
		return NULL;
	text_copy(list[*n].name, sizeof(list[*n].name), name);
	sampled_init(&list[*n].value);
	return &list[(*n)++].value;
}

static void add_cpus(struct tegra_summary *summary, const struct tegra_sample *sample)
{
	int32_t busiest = TEGRA_UNKNOWN;

	if (!sample->cpu_count)
		return;
	summary->cpus_off = 0;
	for (uint32_t i = 0; i < sample->cpu_count; i++) {
		const struct tegra_core *core = &sample->cpu[i];

		if (core->off)
			summary->cpus_off++;
		else if (core->load_pct > busiest)
			busiest = core->load_pct;
	}
	add_known(&summary->cpu_busy_max, busiest, 0.01);
}

static void add_sensors(struct tegra_summary *summary, const struct tegra_sample *sample)
{
	for (uint32_t i = 0; i < sample->temp_count; i++) {
		struct sampled *temp;

		if (isnan(sample->temp[i].cur_c))
			continue;
		temp = series(summary->temps_c, &summary->temps, sample->temp[i].name);
		if (temp)
			sampled_add(temp, sample->temp[i].cur_c);
	}
	for (uint32_t i = 0; i < sample->rail_count; i++) {
		struct sampled *rail =
			series(summary->power_mw, &summary->rails, sample->rail[i].name);

		if (rail)
			add_known(rail, sample->rail[i].cur_mw, 1);
	}
}

void tegra_summary_add(struct tegra_summary *summary, const struct tegra_sample *sample)
{
	summary->samples++;
	add_known(&summary->gpu_busy, sample->gr3d_pct, 0.01);
	if (sample->gr3d_mhz_count)
		add_known(&summary->gpu_clock_mhz, sample->gr3d_mhz[0], 1);
	add_known(&summary->emc_busy, sample->emc_pct, 0.01);
	add_known(&summary->emc_clock_mhz, sample->emc_mhz, 1);
	add_known(&summary->ram_used_mb, sample->ram_used_mb, 1);
	if (sample->ram_total_mb != TEGRA_UNKNOWN)
		summary->ram_total_mb = sample->ram_total_mb;
	add_known(&summary->swap_used_mb, sample->swap_used_mb, 1);
	if (sample->swap_total_mb != TEGRA_UNKNOWN)
		summary->swap_total_mb = sample->swap_total_mb;
	add_cpus(summary, sample);
	add_sensors(summary, sample);
}
