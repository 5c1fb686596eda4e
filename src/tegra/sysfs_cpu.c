/* SPDX-License-Identifier: GPL-2.0-only */
/* CPU cores and memory. */
#include "tegra/sysfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu_list.h"

#define KHZ_MAX	       20000000
#define LOAD_TICKS_MIN 10
#define STAT_SIZE      16384 /* the cpu lines of 64 cores, counters of 20 digits left out */
#define MEMINFO_SIZE   8192
#define BUDDYINFO_SIZE 4096
#define KB_MAX	       (INT64_C(1) << 40)
#define LFB_KB_MAX     4096 /* tegrastats counts no larger blocks */
#define ORDERS_MAX     20

static bool read_cpu_list(const struct sysfs_file *file, bool set[TEGRA_CORES_MAX])
{
	char text[CPU_LIST_TEXT];

	return sysfs_file_text(file, text, sizeof(text)) > 0 &&
	       cpu_list_parse(text, set, TEGRA_CORES_MAX);
}

/*
 * "cpu3 user nice system idle iowait irq softirq steal ...": guest time is part of user. The
 * length of a line of a core, 0 when this is none or not whole.
 */
static size_t parse_core_line(const char *line, unsigned int *cpu, uint64_t *total, uint64_t *idle)
{
	uint64_t ticks[8] = {0};
	const char *end = strchr(line, '\n');
	int at = 0, fields;

	if (!end || sscanf(line, "cpu%u %n", cpu, &at) != 1 || !at)
		return 0;
	fields = sscanf(line + at,
			"%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			" %" SCNu64 " %" SCNu64,
			&ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6],
			&ticks[7]);
	if (fields < 4)
		return 0;
	*total = 0;
	for (int i = 0; i < fields; i++)
		*total += ticks[i];
	*idle = ticks[3] + ticks[4];
	return (size_t)(end - line) + 1;
}

static void update_load(struct sysfs_core *core, uint64_t total, uint64_t idle)
{
	uint64_t all = total - core->total, slept = idle - core->idle;

	if (!core->has_base || total < core->total) {
		core->load_pct = TEGRA_UNKNOWN;
	} else {
		if (all < LOAD_TICKS_MIN)
			return;
		/* Idle and iowait are estimates of the kernel that may go back a little. */
		if (idle < core->idle)
			slept = 0;
		else if (slept > all)
			slept = all;
		core->load_pct = (int32_t)(100 * (all - slept) / all);
	}
	core->has_base = true;
	core->total = total;
	core->idle = idle;
}

/* Marks in `seen` the cores that have a line. */
static bool update_loads(struct sysfs_cpus *cpus, bool seen[TEGRA_CORES_MAX])
{
	char text[STAT_SIZE];
	const char *line;
	bool any = false;

	memset(seen, 0, TEGRA_CORES_MAX * sizeof(*seen));
	if (sysfs_file_text(&cpus->stat, text, sizeof(text)) < 0)
		return false;
	line = strchr(text, '\n'); /* the line of all cores */
	if (!line)
		return false;
	for (line++; !strncmp(line, "cpu", 3);) {
		unsigned int cpu;
		uint64_t total, idle;
		size_t len = parse_core_line(line, &cpu, &total, &idle);

		if (!len)
			break;
		if (cpu < cpus->count) {
			update_load(&cpus->core[cpu], total, idle);
			seen[cpu] = any = true;
		}
		line += len;
	}
	return any;
}

static void open_clock(struct sysfs_core *core, unsigned int cpu)
{
	/* The measured clock costs a firmware message and needs root: the requested one first. */
	static const char *const names[] = {"scaling_cur_freq", "cpuinfo_cur_freq"};

	for (size_t i = 0; i < 2; i++) {
		sysfs_file_open(&core->clock, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu,
				names[i]);
		if (sysfs_file_keep(&core->clock))
			return;
	}
}

static uint32_t count_cores(const struct sysfs_cpus *cpus)
{
	bool set[TEGRA_CORES_MAX];
	char text[STAT_SIZE];
	uint32_t count = 0;

	if (sysfs_read_text(text, sizeof(text), "/sys/devices/system/cpu/present") > 0 &&
	    cpu_list_parse(text, set, TEGRA_CORES_MAX)) {
		for (uint32_t i = 0; i < TEGRA_CORES_MAX; i++)
			count = set[i] ? i + 1 : count;
		return count;
	}
	if (sysfs_file_text(&cpus->stat, text, sizeof(text)) < 0)
		return 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		unsigned int cpu;

		line += *line == '\n';
		if (sscanf(line, "cpu%u ", &cpu) == 1 && cpu < TEGRA_CORES_MAX && cpu >= count)
			count = cpu + 1;
	}
	return count;
}

void sysfs_cpus_open(struct sysfs_cpus *cpus)
{
	bool seen[TEGRA_CORES_MAX];

	sysfs_file_open(&cpus->stat, "/proc/stat");
	sysfs_file_open(&cpus->online, "/sys/devices/system/cpu/online");
	cpus->count = count_cores(cpus);
	for (uint32_t i = 0; i < cpus->count; i++) {
		struct sysfs_core *core = &cpus->core[i];

		core->has_base = false;
		core->online = true;
		core->load_pct = TEGRA_UNKNOWN;
		open_clock(core, i);
	}
	update_loads(cpus, seen);
}

void sysfs_cpus_close(struct sysfs_cpus *cpus)
{
	sysfs_file_close(&cpus->stat);
	sysfs_file_close(&cpus->online);
	for (uint32_t i = 0; i < cpus->count; i++)
		sysfs_file_close(&cpus->core[i].clock);
}

static void sample_core(struct sysfs_core *core, unsigned int cpu, bool online,
			struct tegra_core *out)
{
	int64_t khz;

	out->off = !online;
	if (!online) {
		out->load_pct = out->freq_mhz = 0;
		core->online = core->has_base = false;
		return;
	}
	/* The cpufreq files of a core go away with it and come back as others. */
	if (!core->online) {
		sysfs_file_close(&core->clock);
		open_clock(core, cpu);
		core->online = true;
	}
	out->load_pct = core->load_pct;
	out->freq_mhz = TEGRA_UNKNOWN;
	if (!sysfs_file_range(&core->clock, 0, KHZ_MAX, &khz))
		out->freq_mhz = (int32_t)(khz / 1000);
}

void sysfs_cpus_sample(struct sysfs_cpus *cpus, struct tegra_sample *out)
{
	bool seen[TEGRA_CORES_MAX], online[TEGRA_CORES_MAX];
	bool has_stat = update_loads(cpus, seen);
	bool has_online = read_cpu_list(&cpus->online, online);

	/* With neither there is no telling which cores run. */
	if (!has_stat && !has_online)
		return;
	for (uint32_t i = 0; i < cpus->count; i++) {
		if (!has_stat || !seen[i]) {
			cpus->core[i].load_pct = TEGRA_UNKNOWN;
			cpus->core[i].has_base = false;
		}
		sample_core(&cpus->core[i], i, has_online ? online[i] : seen[i], &out->cpu[i]);
	}
	out->cpu_count = cpus->count;
}

void sysfs_memory_open(struct sysfs_memory *memory)
{
	sysfs_file_open(&memory->meminfo, "/proc/meminfo");
	sysfs_file_open(&memory->buddyinfo, "/proc/buddyinfo");
}

void sysfs_memory_close(struct sysfs_memory *memory)
{
	sysfs_file_close(&memory->meminfo);
	sysfs_file_close(&memory->buddyinfo);
}

/* kB behind "\nName:"; -1 when it is not there. */
static int64_t meminfo_kb(const char *text, const char *name)
{
	size_t len = strlen(name);
	int64_t kb;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) || line[len] != ':')
			continue;
		if (sscanf(line + len + 1, "%" SCNd64, &kb) != 1 || kb < 0 || kb > KB_MAX)
			return -1;
		return kb;
	}
	return -1;
}

static int32_t to_mb(int64_t kb)
{
	return kb < 0 ? TEGRA_UNKNOWN : (int32_t)(kb / 1024);
}

static void sample_meminfo(const char *text, struct tegra_sample *out)
{
	int64_t total = meminfo_kb(text, "MemTotal"), unused = meminfo_kb(text, "MemFree");
	int64_t buffers = meminfo_kb(text, "Buffers"), cached = meminfo_kb(text, "Cached");
	int64_t swap = meminfo_kb(text, "SwapTotal"), swap_free = meminfo_kb(text, "SwapFree");

	out->ram_total_mb = to_mb(total);
	if (total >= 0 && unused >= 0 && buffers >= 0 && cached >= 0)
		out->ram_used_mb = to_mb(total - unused - buffers - cached);
	out->swap_total_mb = to_mb(swap);
	if (swap >= 0 && swap_free >= 0)
		out->swap_used_mb = to_mb(swap - swap_free);
	out->swap_cached_mb = to_mb(meminfo_kb(text, "SwapCached"));
}

/* "Node 0, zone   Normal     12     3 ...": free blocks by order, added up in `blocks`. */
static int add_zone(const char *line, uint64_t blocks[ORDERS_MAX])
{
	const char *p = strstr(line, "zone");
	const char *end = strchr(line, '\n');
	int orders = 0, at = 0;
	unsigned int count;

	if (!p || !end || p > end)
		return 0;
	sscanf(p, "zone %*s%n", &at);
	if (!at)
		return 0;
	for (p += at; orders < ORDERS_MAX && p < end; orders++, p += at) {
		if (sscanf(p, "%u%n", &count, &at) != 1 || p + at > end)
			break;
		blocks[orders] += count;
	}
	return orders;
}

static void sample_buddyinfo(const char *text, struct tegra_sample *out)
{
	uint64_t blocks[ORDERS_MAX] = {0}, count = 0;
	int64_t page_kb = sysconf(_SC_PAGESIZE) / 1024;
	int64_t lfb_kb = 0;
	int orders = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		int n;

		line += *line == '\n';
		n = add_zone(line, blocks);
		orders = n > orders ? n : orders;
	}
	for (int order = orders - 1; order >= 0; order--) {
		int64_t kb = page_kb << order;

		if (!blocks[order])
			continue;
		if (!lfb_kb)
			lfb_kb = kb < LFB_KB_MAX ? kb : LFB_KB_MAX;
		else if (kb < lfb_kb)
			break;
		count += blocks[order] * (uint64_t)(kb / lfb_kb);
	}
	if (!lfb_kb || count > INT32_MAX)
		return;
	out->lfb_kb = (int32_t)lfb_kb;
	out->lfb_blocks = (int32_t)count;
}

void sysfs_memory_sample(struct sysfs_memory *memory, struct tegra_sample *out)
{
	char text[MEMINFO_SIZE];

	if (sysfs_file_text(&memory->meminfo, text, sizeof(text)) > 0)
		sample_meminfo(text, out);
	if (sysfs_file_text(&memory->buddyinfo, text, BUDDYINFO_SIZE) > 0)
		sample_buddyinfo(text, out);
}
