/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of tegrastats straight from the kernel, on boards or in containers without it. What
 * a release calls a file is found out once, by trying: the first path that exists and can be read
 * wins. All paths lie below TEGRATRACE_ROOT when that is set.
 *
 * Numbers are cut to whole units as tegrastats cuts them. What cannot be read, is no number or is
 * no possible value is unknown.
 */
#ifndef TEGRATRACE_TEGRA_SYSFS_H
#define TEGRATRACE_TEGRA_SYSFS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegra/line.h"

#define SYSFS_PATH_SIZE 192

struct sysfs;

/* Probes and keeps the files open; NULL when out of memory. */
struct sysfs *sysfs_open(void);
void sysfs_close(struct sysfs *sysfs);

/* A board whose GPU, EMC or rails can be read; a PC has only the rest. */
bool sysfs_usable(const struct sysfs *sysfs);

/*
 * Reads everything once, allocating nothing. CPU loads need 100 ms since they were last known (a
 * tick is 10 ms at most) and keep their value until then; rails have no average. The time it takes
 * is mostly firmware and I2C: a few ms on a board.
 */
void sysfs_sample(struct sysfs *sysfs, struct tegra_sample *out);

/*
 * GPU load in per mille or TEGRA_UNKNOWN: one pread, for polling at up to 1 kHz. The driver renews
 * the value every 16.7 ms (nvgpu, pmu_perfmon.c).
 */
int32_t sysfs_gpu_load(struct sysfs *sysfs);

/* What the calls so far have cost. */
struct sysfs_cost {
	uint64_t calls;
	uint64_t failed; /* calls without a value (GPU load only) */
	int64_t total_ns, max_ns;
};

struct sysfs_cost sysfs_gpu_cost(const struct sysfs *sysfs);
struct sysfs_cost sysfs_sample_cost(const struct sysfs *sysfs);

struct sysfs_fan {
	int32_t pwm; /* 0-255 */
	int32_t rpm;
};

struct sysfs_fan sysfs_fan(struct sysfs *sysfs);

/* The period in us of the EMC activity monitor's samples (R36 and later), TEGRA_UNKNOWN else. */
int32_t sysfs_emc_period_us(struct sysfs *sysfs);

/* One quantity, for doctor. */
struct sysfs_quantity {
	const char *name;
	char path[SYSFS_PATH_SIZE]; /* without TEGRATRACE_ROOT; empty when there is none */
	char note[96];		    /* how many, or why not */
};

#define SYSFS_QUANTITIES 12

/* Fills at most `max` entries; returns the number filled. */
size_t sysfs_describe(const struct sysfs *sysfs, struct sysfs_quantity *out, size_t max);

/* The rest is shared by sysfs*.c, throttle.c and board*.c only. */

/* One open file. error: 0, or the negative errno that says why there is none. */
struct sysfs_file {
	int fd;
	int error;
	char path[SYSFS_PATH_SIZE];
};

void sysfs_file_init(struct sysfs_file *file);
int sysfs_file_open(struct sysfs_file *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void sysfs_file_close(struct sysfs_file *file);

/* What it held, NUL-terminated: the length, or -errno; an empty file is -ENODATA. */
int sysfs_file_text(const struct sysfs_file *file, char *text, size_t size);

/* Its only word as a number: 0, or -errno; -EBADMSG when it is none. */
int sysfs_file_number(const struct sysfs_file *file, int64_t *value);

/* The same, as -ERANGE outside of [min, max]. */
int sysfs_file_range(const struct sysfs_file *file, int64_t min, int64_t max, int64_t *value);

/*
 * Whether a probe should keep it: it gives a number, or nothing for now (a gated unit says EAGAIN).
 * Otherwise closes it.
 */
bool sysfs_file_keep(struct sysfs_file *file);

/* Opens the first of the patterns, up to NULL, with a file to keep; file->error says why none. */
bool sysfs_file_probe(struct sysfs_file *file, const char *const *patterns);

/* One file, once: as sysfs_file_text without the line end, as sysfs_file_number. */
int sysfs_read_text(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int sysfs_read_number(int64_t *value, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Paths that match, thermal_zone2 before thermal_zone10; returns how many, at most `max`. */
size_t sysfs_glob(const char *pattern, char (*paths)[SYSFS_PATH_SIZE], size_t max);

/* hwmon folders of that name ("soctherm_oc"); a trailing * matches any rest. */
size_t sysfs_hwmon(const char *name, char (*paths)[SYSFS_PATH_SIZE], size_t max);

/* Name bytes as in a tegrastats line; any other byte becomes _. */
void sysfs_name(char name[TEGRA_NAME_SIZE], const char *raw);

struct sysfs_gpu {
	struct sysfs_file load;
	struct sysfs_file clock[TEGRA_GPU_MHZ_MAX]; /* one a GPC where the driver shows them */
	uint32_t clocks;
};

/* devfreq folders of the GPU: one, or one a GPC (Thor). */
size_t sysfs_gpu_devfreq(char (*paths)[SYSFS_PATH_SIZE], size_t max);
/* The devfreq folder of the EMC (Thor), or false. */
bool sysfs_emc_devfreq(char path[SYSFS_PATH_SIZE]);
void sysfs_gpu_open(struct sysfs_gpu *gpu);
void sysfs_gpu_close(struct sysfs_gpu *gpu);
int32_t sysfs_gpu_read_load(const struct sysfs_gpu *gpu);
void sysfs_gpu_sample(struct sysfs_gpu *gpu, struct tegra_sample *out);

struct sysfs_emc {
	struct sysfs_file clock;    /* Hz */
	struct sysfs_file activity; /* kHz of busy DRAM clocks */
	struct sysfs_file period;   /* us */
};

void sysfs_emc_open(struct sysfs_emc *emc);
void sysfs_emc_close(struct sysfs_emc *emc);
void sysfs_emc_sample(struct sysfs_emc *emc, struct tegra_sample *out);

struct sysfs_core {
	struct sysfs_file clock; /* kHz */
	uint64_t total, idle;	 /* ticks when the load was last known */
	int32_t load_pct;
	bool has_base, online;
};

struct sysfs_cpus {
	struct sysfs_file stat, online;
	struct sysfs_core core[TEGRA_CORES_MAX];
	uint32_t count;
};

void sysfs_cpus_open(struct sysfs_cpus *cpus);
void sysfs_cpus_close(struct sysfs_cpus *cpus);
void sysfs_cpus_sample(struct sysfs_cpus *cpus, struct tegra_sample *out);

struct sysfs_memory {
	struct sysfs_file meminfo, buddyinfo;
};

void sysfs_memory_open(struct sysfs_memory *memory);
void sysfs_memory_close(struct sysfs_memory *memory);
void sysfs_memory_sample(struct sysfs_memory *memory, struct tegra_sample *out);

struct sysfs_zone {
	char name[TEGRA_NAME_SIZE]; /* as tegrastats prints it */
	char path[SYSFS_PATH_SIZE];
	struct sysfs_file temp;
	bool placeholder; /* a constant, no sensor behind it (PMIC) */
};

struct sysfs_zones {
	struct sysfs_zone zone[TEGRA_TEMPS_MAX];
	uint32_t count;
};

void sysfs_zones_open(struct sysfs_zones *zones);
void sysfs_zones_close(struct sysfs_zones *zones);
/* NAN: no reading now. */
double sysfs_zone_read(const struct sysfs_zone *zone);
void sysfs_zones_sample(struct sysfs_zones *zones, struct tegra_sample *out);

struct sysfs_rail {
	char name[TEGRA_NAME_SIZE];
	struct sysfs_file power;	    /* a power register, where the driver shows one */
	struct sysfs_file voltage, current; /* else mV and mA */
	int32_t power_per_mw;		    /* of power: 1 or 1000 */
	int32_t warn_ma, critical_ma;	    /* limits of the current */
};

struct sysfs_rails {
	struct sysfs_rail rail[TEGRA_RAILS_MAX];
	uint32_t count;
};

void sysfs_rails_open(struct sysfs_rails *rails);
void sysfs_rails_close(struct sysfs_rails *rails);
int32_t sysfs_rail_read_ma(const struct sysfs_rail *rail);
void sysfs_rails_sample(struct sysfs_rails *rails, struct tegra_sample *out);

struct sysfs_engine {
	char name[TEGRA_NAME_SIZE];
	struct sysfs_file rate, enabled, load; /* Hz, count, per mille */
};

struct sysfs_engines {
	struct sysfs_engine engine[TEGRA_ENGINES_MAX];
	uint32_t count;
	int error; /* why there is none */
};

void sysfs_engines_open(struct sysfs_engines *engines);
void sysfs_engines_close(struct sysfs_engines *engines);
void sysfs_engines_sample(struct sysfs_engines *engines, struct tegra_sample *out);

struct sysfs_fan_files {
	struct sysfs_file pwm, rpm;
};

void sysfs_fan_open(struct sysfs_fan_files *fan);
void sysfs_fan_close(struct sysfs_fan_files *fan);
struct sysfs_fan sysfs_fan_read(const struct sysfs_fan_files *fan);

#endif
