/* SPDX-License-Identifier: GPL-2.0-only */
/* The power mode in force, the caps that follow, and the modes above it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tegra/board.h"
#include "tegra/board_parts.h"
#include "tegra/sysfs.h"

/* "pmode:0002", "pmode:0002 fmode:quiet" */
static int read_status(void)
{
	char text[128];
	const char *at;
	int id;

	if (sysfs_read_text(text, sizeof(text), "/var/lib/nvpmodel/status") < 0)
		return -1;
	at = strstr(text, "pmode:");
	return at && sscanf(at, "pmode:%6d", &id) == 1 && id >= 0 ? id : -1;
}

int board_power_mode_now(const struct power_conf *conf)
{
	int id = read_status();

	return id >= 0 ? id : conf->default_id;
}

void board_read_mode(struct board_parts *parts)
{
	struct board_info *info = parts->info;
	int id = read_status();

	info->mode_id = id >= 0 ? id : parts->conf.default_id;
	if (info->mode_id < 0)
		return;
	parts->mode = power_conf_mode(&parts->conf, info->mode_id);
	if (!parts->mode) {
		text_appendf(info->mode_doubt, sizeof(info->mode_doubt),
			     "mode %d is not in nvpmodel.conf", info->mode_id);
		return;
	}
	info->mode_source = id >= 0 ? BOARD_MODE_STATUS : BOARD_MODE_DEFAULT;
	text_copy(info->mode, sizeof(info->mode), parts->mode->name);
	if (parts->module)
		parts->table_mode = module_mode_by_name(parts->module, info->mode);
}

/* The cap of a mode where it is known: no more than the hardware's. */
static double effective(double cap, double hw_max)
{
	if (isinf(cap))
		return hw_max;
	return isnan(cap) ? NAN : fmin(cap, hw_max);
}

static void set_cap(double *cap, enum board_source *source, double value, enum board_source from)
{
	if (!isnan(*cap) || isnan(value))
		return;
	*cap = value;
	*source = from;
}

static void fill_gpu(struct board_parts *parts)
{
	struct board_gpu *gpu = &parts->info->gpu;
	const struct module_mode *max = parts->module ? module_mode_max(parts->module) : NULL;

	if (max)
		set_cap(&gpu->hw_max_mhz, &gpu->hw_max_source, max->gpu_mhz, BOARD_TABLE);
	if (parts->mode)
		set_cap(&gpu->cap_mhz, &gpu->cap_source,
			effective(parts->mode->gpu_mhz, gpu->hw_max_mhz), BOARD_CONF);
	if (parts->table_mode)
		set_cap(&gpu->cap_mhz, &gpu->cap_source, parts->table_mode->gpu_mhz, BOARD_TABLE);
}

static void fill_emc(struct board_parts *parts)
{
	struct board_emc *emc = &parts->info->emc;
	const struct module_mode *max = parts->module ? module_mode_max(parts->module) : NULL;
	bool uncapped = isinf(parts->emc_file_mhz);

	if (max)
		set_cap(&emc->hw_max_mhz, &emc->hw_max_source, max->emc_mhz, BOARD_TABLE);
	set_cap(&emc->cap_mhz, &emc->cap_source, effective(parts->emc_file_mhz, emc->hw_max_mhz),
		uncapped ? emc->hw_max_source : BOARD_READ);
	if (parts->mode)
		set_cap(&emc->cap_mhz, &emc->cap_source,
			effective(parts->mode->emc_mhz, emc->hw_max_mhz), BOARD_CONF);
	if (parts->table_mode)
		set_cap(&emc->cap_mhz, &emc->cap_source, parts->table_mode->emc_mhz, BOARD_TABLE);
	if (emc->locked == 1 && !isnan(emc->now_mhz) && !(emc->cap_mhz <= emc->now_mhz)) {
		emc->cap_mhz = emc->now_mhz;
		emc->cap_source = BOARD_READ;
	}
}

/* Modules that no mode gates: -1 when the modes differ or are not all known. */
static int ungated_sm(const struct module *module)
{
	if (!module)
		return -1;
	for (size_t i = 0; i < module->nmodes; i++) {
		if (module->modes[i].sm != module->sm)
			return -1;
	}
	return module->sm;
}

static int table_sm(const struct board_parts *parts, const struct module_mode *table_mode)
{
	int sm = table_mode ? table_mode->sm : -1;

	return sm > 0 ? sm : ungated_sm(parts->module);
}

static void fill_sm(struct board_parts *parts)
{
	struct board_gpu *gpu = &parts->info->gpu;
	int sm = soc_active_sm(parts->soc, gpu->tpc_pg_mask);
	enum board_source source = BOARD_READ;

	if (sm < 0 && parts->mode) {
		sm = soc_active_sm(parts->soc, parts->mode->tpc_pg_mask);
		source = BOARD_CONF;
	}
	if (sm < 0) {
		sm = table_sm(parts, parts->table_mode);
		source = BOARD_TABLE;
	}
	gpu->sm_active = sm;
	gpu->sm_source = sm > 0 ? source : BOARD_UNKNOWN;
	for (int i = 0; !parts->module && i < parts->conf.nmodes; i++) {
		sm = soc_active_sm(parts->soc, parts->conf.modes[i].tpc_pg_mask);
		if (sm > gpu->sm_total)
			gpu->sm_total = sm;
	}
}

void board_fill_gaps(struct board_parts *parts)
{
	fill_gpu(parts);
	fill_emc(parts);
	fill_sm(parts);
}

static void doubt(struct board_info *info, const char *what, double read, double mode)
{
	text_appendf(info->mode_doubt, sizeof(info->mode_doubt), "%s%s %.0f, the mode has %.0f",
		     *info->mode_doubt ? "; " : "", what, read, mode);
}

static bool differs(double read, double mode)
{
	return fabs(read - mode) > CLOCK_TOLERANCE * mode;
}

/*
 * The status file can lie: over SSH a change of mode can fail without a word
 * (ARK-Electronics/ark_jetson_kernel#116), and MAXN_SUPER was seen with an EMC at 2133.
 */
void board_check_mode(struct board_parts *parts)
{
	const struct power_conf_mode *mode = parts->mode;
	struct board_info *info = parts->info;
	int sm;

	if (!mode)
		return;
	if (info->gpu.cap_source == BOARD_READ &&
	    differs(info->gpu.cap_mhz, effective(mode->gpu_mhz, info->gpu.hw_max_mhz)))
		doubt(info, "GPU cap in MHz is", info->gpu.cap_mhz,
		      effective(mode->gpu_mhz, info->gpu.hw_max_mhz));
	sm = soc_active_sm(parts->soc, mode->tpc_pg_mask);
	if (info->gpu.sm_source == BOARD_READ && sm > 0 && sm != info->gpu.sm_active)
		doubt(info, "active SMs are", info->gpu.sm_active, sm);
	if (info->emc.cap_source == BOARD_READ &&
	    differs(info->emc.cap_mhz, effective(mode->emc_mhz, info->emc.hw_max_mhz)))
		doubt(info, "EMC cap in MHz is", info->emc.cap_mhz,
		      effective(mode->emc_mhz, info->emc.hw_max_mhz));
	if (info->cpu.online > 0 && mode->cpus > 0 && info->cpu.online != mode->cpus)
		doubt(info, "online CPUs are", info->cpu.online, mode->cpus);
}

static void resolve_mode(const struct board_parts *parts, const struct power_conf_mode *mode,
			 struct board_mode *out)
{
	const struct board_info *info = parts->info;
	const struct module_mode *table =
		parts->module ? module_mode_by_name(parts->module, mode->name) : NULL;

	board_mode_init(out);
	out->id = mode->id;
	text_copy(out->name, sizeof(out->name), mode->name);
	out->cpus = mode->cpus > 0 || !table ? mode->cpus : table->cpus;
	out->cpu_mhz = effective(mode->cpu_mhz, info->cpu.hw_max_mhz);
	out->gpu_mhz = effective(mode->gpu_mhz, info->gpu.hw_max_mhz);
	out->emc_mhz = effective(mode->emc_mhz, info->emc.hw_max_mhz);
	out->sm = soc_active_sm(parts->soc, mode->tpc_pg_mask);
	if (out->sm < 0)
		out->sm = table_sm(parts, table);
	if (!table)
		return;
	if (isnan(out->cpu_mhz))
		out->cpu_mhz = table->cpu_mhz;
	if (isnan(out->gpu_mhz))
		out->gpu_mhz = table->gpu_mhz;
	if (isnan(out->emc_mhz))
		out->emc_mhz = table->emc_mhz;
}

/* Without a readable conf the names of the table, without ids: those differ from board to board. */
static void table_board_mode(const struct module_mode *mode, struct board_mode *out)
{
	board_mode_init(out);
	text_copy(out->name, sizeof(out->name), mode->name);
	out->cpus = mode->cpus;
	out->cpu_mhz = mode->cpu_mhz;
	out->gpu_mhz = mode->gpu_mhz;
	out->emc_mhz = mode->emc_mhz;
	out->sm = mode->sm;
}

/* The i-th mode that the board offers; false after the last. */
static bool offered_mode(const struct board_parts *parts, size_t i, struct board_mode *out)
{
	if (parts->conf.nmodes) {
		if (i >= (size_t)parts->conf.nmodes)
			return false;
		resolve_mode(parts, &parts->conf.modes[i], out);
	} else {
		if (!parts->module || i >= parts->module->nmodes)
			return false;
		table_board_mode(&parts->module->modes[i], out);
	}
	ceilings_at(&out->ceilings, parts->soc, out->sm, out->gpu_mhz, parts->info->emc.bus_bits,
		    out->emc_mhz);
	return true;
}

/* 1, 0, -1 as a is larger than, as large as or smaller than b; unknown is as large as any. */
static int compare_clock(double a, double b)
{
	if (a > b * (1 + CLOCK_TOLERANCE))
		return 1;
	return b > a * (1 + CLOCK_TOLERANCE) ? -1 : 0;
}

/* By what bounds the GPU: arithmetic first, then DRAM. */
static int compare_gpu(const struct board_mode *a, const struct board_mode *b)
{
	bool sm_known = a->sm > 0 && b->sm > 0;
	int order = compare_clock(a->gpu_mhz * (sm_known ? a->sm : 1),
				  b->gpu_mhz * (sm_known ? b->sm : 1));

	return order ? order : compare_clock(a->emc_mhz, b->emc_mhz);
}

static int compare_cpu(const struct board_mode *a, const struct board_mode *b)
{
	int order;

	if (a->cpus != b->cpus)
		return a->cpus > b->cpus ? 1 : -1;
	order = compare_clock(a->cpu_mhz, b->cpu_mhz);
	return order ? order : !strncmp(a->name, "MAXN", 4) - !strncmp(b->name, "MAXN", 4);
}

static bool is_larger(const struct board_mode *a, const struct board_mode *b)
{
	int order = compare_gpu(a, b);

	return order ? order > 0 : compare_cpu(a, b) > 0;
}

static bool is_smaller_step(const struct board_mode *a, const struct board_mode *b)
{
	int order = compare_gpu(a, b);

	return order ? order < 0 : compare_cpu(a, b) > 0;
}

void board_rank_modes(struct board_parts *parts)
{
	struct board_info *info = parts->info;
	const struct gpu_rates *rates = gpu_rates(parts->soc);
	struct board_mode now, mode;

	board_mode_init(&now);
	now.sm = info->gpu.sm_active;
	now.gpu_mhz = info->gpu.cap_mhz;
	now.emc_mhz = info->emc.cap_mhz;
	ceilings_at(&info->ceilings, parts->soc, now.sm, now.gpu_mhz, info->emc.bus_bits,
		    now.emc_mhz);
	info->unverified = rates ? rates->unverified : 0;
	for (size_t i = 0; offered_mode(parts, i, &mode); i++) {
		if (isnan(mode.gpu_mhz))
			continue;
		if (!*info->largest.name || is_larger(&mode, &info->largest))
			info->largest = mode;
		if (compare_gpu(&mode, &now) > 0 &&
		    (!*info->next.name || is_smaller_step(&mode, &info->next)))
			info->next = mode;
	}
}
