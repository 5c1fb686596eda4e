/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/sysfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define CLK_DEBUGFS   "/sys/kernel/debug/clk"
#define PERIOD_US_MAX 10000000

struct sysfs {
	struct sysfs_gpu gpu;
	struct sysfs_emc emc;
	struct sysfs_cpus cpus;
	struct sysfs_memory memory;
	struct sysfs_zones zones;
	struct sysfs_rails rails;
	struct sysfs_engines engines;
	struct sysfs_fan_files fan;
	struct sysfs_cost gpu_cost, sample_cost;
};

struct sysfs *sysfs_open(void)
{
	struct sysfs *sysfs = calloc(1, sizeof(*sysfs));

	if (!sysfs)
		return NULL;
	sysfs_gpu_open(&sysfs->gpu);
	sysfs_emc_open(&sysfs->emc);
	sysfs_cpus_open(&sysfs->cpus);
	sysfs_memory_open(&sysfs->memory);
	sysfs_zones_open(&sysfs->zones);
	sysfs_rails_open(&sysfs->rails);
	sysfs_engines_open(&sysfs->engines);
	sysfs_fan_open(&sysfs->fan);
	return sysfs;
}

void sysfs_close(struct sysfs *sysfs)
{
	if (!sysfs)
		return;
	sysfs_gpu_close(&sysfs->gpu);
	sysfs_emc_close(&sysfs->emc);
	sysfs_cpus_close(&sysfs->cpus);
	sysfs_memory_close(&sysfs->memory);
	sysfs_zones_close(&sysfs->zones);
	sysfs_rails_close(&sysfs->rails);
	sysfs_engines_close(&sysfs->engines);
	sysfs_fan_close(&sysfs->fan);
	free(sysfs);
}

bool sysfs_usable(const struct sysfs *sysfs)
{
	return sysfs->gpu.load.fd >= 0 || sysfs->gpu.clocks || sysfs->emc.clock.fd >= 0 ||
	       sysfs->rails.count;
}

static void add_cost(struct sysfs_cost *cost, int64_t ns, bool failed)
{
	cost->calls++;
	cost->failed += failed;
	cost->total_ns += ns;
	if (ns > cost->max_ns)
		cost->max_ns = ns;
}

/* The arrays keep what they held: only their counts say what is set. */
static void all_unknown(struct tegra_sample *out)
{
	out->date_s = TEGRA_DATE_UNKNOWN;
	out->ram_used_mb = out->ram_total_mb = TEGRA_UNKNOWN;
	out->lfb_blocks = out->lfb_kb = TEGRA_UNKNOWN;
	out->swap_used_mb = out->swap_total_mb = out->swap_cached_mb = TEGRA_UNKNOWN;
	out->iram_used_kb = out->iram_total_kb = out->iram_lfb_kb = TEGRA_UNKNOWN;
	out->emc_pct = out->emc_mhz = out->gr3d_pct = TEGRA_UNKNOWN;
	out->gr3d2_pct = out->gr3d2_mhz = TEGRA_UNKNOWN;
	out->gr3d_pci_pct = out->gr3d_pci_mhz = TEGRA_UNKNOWN;
	out->mts_fg_pct = out->mts_bg_pct = out->edp_limit = TEGRA_UNKNOWN;
	out->gr3d_mhz_count = out->cpu_count = out->rail_count = out->temp_count = 0;
	out->engine_count = out->unknown_count = out->unknown_total = out->dropped = 0;
	out->cpu_partial = out->has_iram = out->has_gr3d2 = out->has_gr3d_pci = false;
	out->has_mts = out->has_edp = false;
}

void sysfs_sample(struct sysfs *sysfs, struct tegra_sample *out)
{
	int64_t start = clock_ns(CLOCK_MONOTONIC);

	all_unknown(out);
	/* Load and clock of one unit next to each other in time. */
	sysfs_gpu_sample(&sysfs->gpu, out);
	sysfs_emc_sample(&sysfs->emc, out);
	sysfs_cpus_sample(&sysfs->cpus, out);
	sysfs_memory_sample(&sysfs->memory, out);
	sysfs_zones_sample(&sysfs->zones, out);
	sysfs_rails_sample(&sysfs->rails, out);
	sysfs_engines_sample(&sysfs->engines, out);
	add_cost(&sysfs->sample_cost, clock_ns(CLOCK_MONOTONIC) - start, false);
}

int32_t sysfs_gpu_load(struct sysfs *sysfs)
{
	int64_t start = clock_ns(CLOCK_MONOTONIC);
	int32_t load = sysfs_gpu_read_load(&sysfs->gpu);

	add_cost(&sysfs->gpu_cost, clock_ns(CLOCK_MONOTONIC) - start, load == TEGRA_UNKNOWN);
	return load;
}

struct sysfs_cost sysfs_gpu_cost(const struct sysfs *sysfs)
{
	return sysfs->gpu_cost;
}

struct sysfs_cost sysfs_sample_cost(const struct sysfs *sysfs)
{
	return sysfs->sample_cost;
}

struct sysfs_fan sysfs_fan(struct sysfs *sysfs)
{
	return sysfs_fan_read(&sysfs->fan);
}

int32_t sysfs_emc_period_us(struct sysfs *sysfs)
{
	int64_t us;

	if (sysfs_file_range(&sysfs->emc.period, 1, PERIOD_US_MAX, &us))
		return TEGRA_UNKNOWN;
	return (int32_t)us;
}

struct list {
	struct sysfs_quantity *out;
	size_t n, max;
};

static const char *why(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENOTDIR:
		return "no such file on this board";
	case -EACCES:
	case -EPERM:
		return "not allowed: needs root";
	case -EBADMSG:
	case -ERANGE:
		return "the file holds no such number";
	default:
		return strerror(-error);
	}
}

static struct sysfs_quantity *add(struct list *list, const char *name)
{
	struct sysfs_quantity *q;

	if (list->n == list->max)
		return NULL;
	q = &list->out[list->n++];
	q->name = name;
	q->path[0] = q->note[0] = '\0';
	return q;
}

static void add_file(struct list *list, const char *name, const struct sysfs_file *file)
{
	struct sysfs_quantity *q = add(list, name);

	if (!q)
		return;
	if (file->fd >= 0)
		text_copy(q->path, sizeof(q->path), file->path);
	else
		text_copy(q->note, sizeof(q->note), why(file->error));
}

static void add_many(struct list *list, const char *name, uint32_t count, const char *first,
		     const char *none)
{
	struct sysfs_quantity *q = add(list, name);

	if (!q)
		return;
	if (!count) {
		text_copy(q->note, sizeof(q->note), none);
		return;
	}
	text_copy(q->path, sizeof(q->path), first);
	text_appendf(q->note, sizeof(q->note), "%u found", count);
}

static const char *rail_path(const struct sysfs_rail *rail)
{
	return rail->power.fd >= 0 ? rail->power.path : rail->voltage.path;
}

/* Any core's that is there: CPU 0 may be off or have none. */
static const struct sysfs_file *first_cpu_clock(const struct sysfs_cpus *cpus)
{
	static const struct sysfs_file none = {.fd = -1, .error = -ENOENT};

	for (uint32_t i = 0; i < cpus->count; i++) {
		if (cpus->core[i].clock.fd >= 0)
			return &cpus->core[i].clock;
	}
	return cpus->count ? &cpus->core[0].clock : &none;
}

size_t sysfs_describe(const struct sysfs *sysfs, struct sysfs_quantity *out, size_t max)
{
	struct list list = {.out = out, .max = max};
	const struct sysfs_gpu *gpu = &sysfs->gpu;
	const char *missing = why(-ENOENT);

	add_file(&list, "GPU load", &gpu->load);
	if (list.n && gpu->load.error == -ENOENT && gpu->clocks)
		text_appendf(out->note, sizeof(out->note), "; NVML (nvidia-smi) may have it");
	add_many(&list, "GPU clock", gpu->clocks, gpu->clock[0].path, missing);
	add_file(&list, "EMC clock", &sysfs->emc.clock);
	add_file(&list, "EMC activity", &sysfs->emc.activity);
	add_file(&list, "CPU load", &sysfs->cpus.stat);
	add_file(&list, "CPU clock", first_cpu_clock(&sysfs->cpus));
	add_file(&list, "RAM and swap", &sysfs->memory.meminfo);
	add_file(&list, "free blocks", &sysfs->memory.buddyinfo);
	add_many(&list, "temperatures", sysfs->zones.count, sysfs->zones.zone[0].temp.path,
		 missing);
	add_many(&list, "power rails", sysfs->rails.count, rail_path(&sysfs->rails.rail[0]),
		 missing);
	add_many(&list, "engines", sysfs->engines.count, CLK_DEBUGFS,
		 why(sysfs->engines.error ? sysfs->engines.error : -ENOENT));
	add_file(&list, "fan", &sysfs->fan.pwm);
	return list.n;
}
