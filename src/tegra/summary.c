/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/summary.h"

#include <string.h>

#include "base/text.h"

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

static float known(int32_t value, float scale)
{
	return value == TEGRA_UNKNOWN ? NAN : (float)value * scale;
}

static float rail_mw(const struct tegra_sample *sample, const char *name)
{
	const struct tegra_rail *rail = tegra_sample_rail(sample, name);

	return rail ? known(rail->cur_mw, 1) : NAN;
}

/* Rails that make up the input of a board without a rail for it (facts on rails). */
static float rails_sum_mw(const struct tegra_sample *sample, const char *const *names)
{
	float sum = 0;

	for (; *names; names++)
		sum += rail_mw(sample, *names);
	return sum;
}

/* The input rail where the board measures one; else the rails that make it up. */
static float input_power_mw(const struct tegra_sample *sample)
{
	static const char *const inputs[] = {"VDD_IN", "POM_5V_IN", "VIN"};
	static const char *const agx_orin[] = {"VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0", NULL};
	static const char *const agx_xavier[] = {"GPU", "CPU", "SOC", "CV", "VDDRQ", "SYS5V", NULL};
	float sum;

	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		float power = rail_mw(sample, inputs[i]);

		if (!isnan(power))
			return power;
	}
	sum = rails_sum_mw(sample, agx_orin);
	return isnan(sum) ? rails_sum_mw(sample, agx_xavier) : sum;
}

static void point_cpus(const struct tegra_sample *sample, struct tegra_point *point)
{
	if (!sample->cpu_count || sample->cpu_partial)
		return;
	point->core_max = point->cores_used = 0;
	for (uint32_t i = 0; i < sample->cpu_count; i++) {
		float load = known(sample->cpu[i].load_pct, 0.01f);

		if (isnan(load))
			continue;
		point->cores_used += load;
		point->core_max = fmaxf(point->core_max, load);
	}
}

void tegra_point_of(const struct tegra_sample *sample, int64_t t_ns, struct tegra_point *point)
{
	*point = (struct tegra_point){
		.t_ns = t_ns,
		.gpu_busy = known(sample->gr3d_pct, 0.01f),
		.gpu_mhz = sample->gr3d_mhz_count ? known(sample->gr3d_mhz[0], 1) : NAN,
		.emc_busy = known(sample->emc_pct, 0.01f),
		.emc_mhz = known(sample->emc_mhz, 1),
		.core_max = NAN,
		.cores_used = NAN,
		.ram_mb = known(sample->ram_used_mb, 1),
		.swap_mb = known(sample->swap_used_mb, 1),
		.hottest_c = NAN,
		.power_mw = input_power_mw(sample),
	};
	point_cpus(sample, point);
	for (uint32_t i = 0; i < sample->temp_count; i++) {
		if (!isnan(sample->temp[i].cur_c))
			point->hottest_c = fmaxf(point->hottest_c, (float)sample->temp[i].cur_c);
	}
}
