/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/throttle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tegra/sysfs.h"

#define POLL_NS	       INT64_C(100000000)
#define OC_NS	       INT64_C(500000000)
#define NEVER	       INT64_MIN
#define HZ_MAX	       INT64_C(20000000000)
#define COUNT_MAX      INT64_MAX
#define STATE_MAX      INT64_C(1000000)
#define COOLING_MAX    64
#define TRIPS_MAX      16
#define CDEVS_MAX      32
#define TRIP_MAX_MC    250000
#define FREQS_SIZE     4096
#define TYPE_SIZE      64
#define EMC_DEBUGFS    "/sys/kernel/debug/bpmp/debug/clk/emc"
#define CPU_CLOCKS_MAX (THROTTLE_CLOCKS - 2)

/* The files of one struct throttle_clock, and what one unit of them is. */
struct clock_files {
	struct sysfs_file now, cap, floor, measured;
	int64_t hz_per_unit;
	bool zero_is_no_cap;
	double sum, ratio_sum;
};

struct throttle {
	struct throttle_window window;
	int64_t polled_ns, oc_read_ns;
	int measure_next;
	struct sysfs_file counter[THROTTLE_COUNTERS];
	int64_t count[THROTTLE_COUNTERS]; /* as read last */
	struct sysfs_file device[THROTTLE_DEVICES];
	struct sysfs_zones zones;
	struct clock_files clock[THROTTLE_CLOCKS];
	struct sysfs_rails rails;
	const struct sysfs_rail *rail[THROTTLE_RAILS];
};

/*
 * R32 and R35: cpu-balanced, gpu-balanced, aux-balanced; T210 soctherm: throttle_heavy; R36:
 * cpufreq-cpuN, devfreq-NAME and the notices of the same trips, gpu-throttle-alert. A list of what
 * counts, since pwm-fan, hot-surface-alert and voltage scaling are cooling devices as well.
 */
bool throttle_type_is_clock(const char *type)
{
	static const char *const prefixes[] = {"devfreq-",	   "cpufreq-",	"thermal-devfreq-",
					       "thermal-cpufreq-", "throttle_", "throttle-"};
	static const char *const suffixes[] = {"-balanced", "-throttle-alert"};
	size_t len = strlen(type);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		if (!strncmp(type, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t n = strlen(suffixes[i]);

		if (len > n && !strcmp(type + len - n, suffixes[i]))
			return true;
	}
	return false;
}

static int64_t read_or_unknown(const struct sysfs_file *file, int64_t max)
{
	int64_t value;

	return sysfs_file_range(file, 0, max, &value) ? UNKNOWN_COUNT : value;
}

static void open_counters(struct throttle *t)
{
	struct throttle_window *w = &t->window;
	char dir[1][SYSFS_PATH_SIZE];

	if (!sysfs_hwmon("soctherm_oc", dir, 1))
		return;
	for (int id = 1; id <= THROTTLE_COUNTERS; id++) {
		struct sysfs_file *file = &t->counter[w->counters];
		struct throttle_counter *counter = &w->counter[w->counters];

		if (sysfs_file_open(file, "%s/oc%d_event_cnt", dir[0], id))
			continue;
		counter->id = id;
		if (sysfs_read_number(&counter->enabled, "%s/oc%d_throt_en", dir[0], id))
			counter->enabled = UNKNOWN_COUNT;
		w->counters++;
	}
}

static void open_devices(struct throttle *t)
{
	char paths[COOLING_MAX][SYSFS_PATH_SIZE], type[TYPE_SIZE];
	size_t n = sysfs_glob("/sys/class/thermal/cooling_device*", paths, COOLING_MAX);
	struct throttle_window *w = &t->window;

	for (size_t i = 0; i < n; i++) {
		struct throttle_device *device = &w->device[w->devices];

		if (sysfs_read_text(type, sizeof(type), "%s/type", paths[i]) <= 0)
			continue;
		if (!throttle_type_is_clock(type) || w->devices == THROTTLE_DEVICES) {
			w->devices_ignored++;
			continue;
		}
		sysfs_name(device->type, type);
		if (sysfs_read_number(&device->max_state, "%s/max_state", paths[i]))
			device->max_state = UNKNOWN_COUNT;
		sysfs_file_open(&t->device[w->devices++], "%s/cur_state", paths[i]);
	}
}

static double trip_c(const char *zone, int64_t trip)
{
	int64_t mc;

	/* 0 and below: a trip that is switched off. */
	if (sysfs_read_number(&mc, "%s/trip_point_%" PRId64 "_temp", zone, trip) || mc <= 0 ||
	    mc > TRIP_MAX_MC)
		return NAN;
	return (double)mc / 1000;
}

static void keep_lower(double *lowest, double c)
{
	*lowest = fmin(*lowest, c); /* fmin passes over NAN */
}

/* The lowest trip that a clock is bound to; false when no binding at all can be seen. */
static bool bound_trip(const char *zone, double *c)
{
	bool any = false;

	*c = NAN;
	for (int i = 0; i < CDEVS_MAX; i++) {
		char type[TYPE_SIZE];
		int64_t trip;

		if (sysfs_read_text(type, sizeof(type), "%s/cdev%d/type", zone, i) <= 0 ||
		    sysfs_read_number(&trip, "%s/cdev%d_trip_point", zone, i))
			continue;
		any = true;
		if (throttle_type_is_clock(type))
			keep_lower(c, trip_c(zone, trip));
	}
	return any;
}

/*
 * Without bindings the highest passive trip: Orin has one of 70 C for the surface notice below
 * that of the clocks, and a missed margin is better than a false alarm.
 */
static void read_trips(const char *path, struct throttle_zone *zone)
{
	double passive = NAN;

	zone->critical_c = NAN;
	for (int i = 0; i < TRIPS_MAX; i++) {
		char type[TYPE_SIZE];

		if (sysfs_read_text(type, sizeof(type), "%s/trip_point_%d_type", path, i) <= 0)
			continue;
		if (!strcmp(type, "critical"))
			keep_lower(&zone->critical_c, trip_c(path, i));
		else if (!strcmp(type, "passive"))
			passive = fmax(passive, trip_c(path, i));
	}
	if (!bound_trip(path, &zone->trip_c))
		zone->trip_c = passive;
	else
		zone->trip_bound = !isnan(zone->trip_c);
}

static void open_zones(struct throttle *t)
{
	struct throttle_window *w = &t->window;

	sysfs_zones_open(&t->zones);
	for (uint32_t i = 0; i < t->zones.count && w->zones < THROTTLE_ZONES; i++) {
		struct throttle_zone *zone = &w->zone[w->zones++];

		text_copy(zone->name, sizeof(zone->name), t->zones.zone[i].name);
		read_trips(t->zones.zone[i].path, zone);
	}
}

static struct clock_files *new_clock(struct throttle *t, const char *name, int64_t hz_per_unit)
{
	struct throttle_clock *clock = &t->window.clock[t->window.clocks];
	struct clock_files *files = &t->clock[t->window.clocks++];

	text_copy(clock->name, sizeof(clock->name), name);
	clock->hardware = UNKNOWN_COUNT;
	memset(files, 0, sizeof(*files));
	files->hz_per_unit = hz_per_unit;
	sysfs_file_init(&files->now);
	sysfs_file_init(&files->cap);
	sysfs_file_init(&files->floor);
	sysfs_file_init(&files->measured);
	return files;
}

static int64_t last_frequency(const char *dir)
{
	char text[FREQS_SIZE];
	const char *p = text;
	int64_t highest = UNKNOWN_COUNT;

	if (sysfs_read_text(text, sizeof(text), "%s/available_frequencies", dir) <= 0)
		return UNKNOWN_COUNT;
	for (;;) {
		char *end;
		long long hz = strtoll(p, &end, 10);

		if (end == p)
			return highest;
		if (hz > 0 && hz <= HZ_MAX && hz > highest)
			highest = hz;
		p = end;
	}
}

static struct clock_files *open_devfreq(struct throttle *t, const char *name, const char *dir)
{
	struct throttle_clock *clock = &t->window.clock[t->window.clocks];
	struct clock_files *files = new_clock(t, name, 1);

	sysfs_file_open(&files->now, "%s/cur_freq", dir);
	sysfs_file_open(&files->cap, "%s/max_freq", dir);
	sysfs_file_open(&files->floor, "%s/min_freq", dir);
	clock->hardware = last_frequency(dir);
	return files;
}

static void open_gpu(struct throttle *t)
{
	char dir[1][SYSFS_PATH_SIZE];

	if (sysfs_gpu_devfreq(dir, 1))
		open_devfreq(t, "GPU", dir[0]);
}

static int64_t emc_hardware(void)
{
	static const char *const paths[] = {EMC_DEBUGFS "/max_rate",
					    "/sys/kernel/debug/tegra_bwmgr/emc_max_rate", NULL};
	struct sysfs_file file;
	int64_t hz;

	sysfs_file_probe(&file, paths);
	if (sysfs_file_range(&file, 1, HZ_MAX, &hz))
		hz = UNKNOWN_COUNT;
	sysfs_file_close(&file);
	return hz;
}

/* nvpmodel writes the cap of the mode to a file of its own, also where the clock needs root. */
static void open_emc(struct throttle *t)
{
	static const char *const caps[] = {"/sys/kernel/nvpmodel_clk_cap/emc",
					   "/sys/kernel/nvpmodel_emc_cap/emc_iso_cap", NULL};
	struct throttle_clock *clock = &t->window.clock[t->window.clocks];
	char dir[SYSFS_PATH_SIZE];
	struct clock_files *files;
	struct sysfs_emc emc;

	if (sysfs_emc_devfreq(dir)) {
		files = open_devfreq(t, "EMC", dir);
	} else {
		files = new_clock(t, "EMC", 1);
		sysfs_emc_open(&emc);
		files->now = emc.clock;
		sysfs_file_init(&emc.clock);
		sysfs_emc_close(&emc);
		sysfs_file_open(&files->floor, EMC_DEBUGFS "/min_rate");
	}
	if (files->cap.fd < 0)
		files->zero_is_no_cap = sysfs_file_probe(&files->cap, caps);
	if (clock->hardware == UNKNOWN_COUNT)
		clock->hardware = emc_hardware();
	if (files->now.fd < 0 && files->cap.fd < 0) {
		sysfs_file_close(&files->floor);
		t->window.clocks--;
	}
}

static void open_cpus(struct throttle *t)
{
	char dirs[CPU_CLOCKS_MAX][SYSFS_PATH_SIZE], name[TEGRA_NAME_SIZE];
	size_t n = sysfs_glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq", dirs, CPU_CLOCKS_MAX);

	for (size_t i = 0; i < n; i++) {
		struct throttle_clock *clock = &t->window.clock[t->window.clocks];
		struct clock_files *files;
		int64_t khz;
		unsigned int cpu;

		if (sscanf(dirs[i], "/sys/devices/system/cpu/cpu%u", &cpu) != 1)
			continue;
		snprintf(name, sizeof(name), "cpu%u", cpu);
		files = new_clock(t, name, 1000);
		sysfs_file_open(&files->now, "%s/scaling_cur_freq", dirs[i]);
		sysfs_file_open(&files->cap, "%s/scaling_max_freq", dirs[i]);
		sysfs_file_open(&files->floor, "%s/scaling_min_freq", dirs[i]);
		sysfs_file_open(&files->measured, "%s/cpuinfo_cur_freq", dirs[i]);
		if (!sysfs_read_number(&khz, "%s/cpuinfo_max_freq", dirs[i]) && khz > 0 &&
		    khz <= HZ_MAX / 1000)
			clock->hardware = khz * 1000;
	}
}

static void open_rails(struct throttle *t)
{
	struct throttle_window *w = &t->window;

	sysfs_rails_open(&t->rails);
	for (uint32_t i = 0; i < t->rails.count && w->rails < THROTTLE_RAILS; i++) {
		const struct sysfs_rail *from = &t->rails.rail[i];
		struct throttle_rail *rail = &w->rail[w->rails];

		if (from->warn_ma == TEGRA_UNKNOWN && from->critical_ma == TEGRA_UNKNOWN)
			continue;
		text_copy(rail->name, sizeof(rail->name), from->name);
		rail->warn = from->warn_ma == TEGRA_UNKNOWN ? UNKNOWN_COUNT : from->warn_ma;
		rail->critical =
			from->critical_ma == TEGRA_UNKNOWN ? UNKNOWN_COUNT : from->critical_ma;
		t->rail[w->rails++] = from;
	}
}

struct throttle *throttle_open(void)
{
	struct throttle *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->polled_ns = t->oc_read_ns = NEVER;
	open_counters(t);
	open_devices(t);
	open_zones(t);
	open_gpu(t);
	open_emc(t);
	open_cpus(t);
	open_rails(t);
	return t;
}

void throttle_close(struct throttle *t)
{
	if (!t)
		return;
	for (int i = 0; i < t->window.counters; i++)
		sysfs_file_close(&t->counter[i]);
	for (int i = 0; i < t->window.devices; i++)
		sysfs_file_close(&t->device[i]);
	for (int i = 0; i < t->window.clocks; i++) {
		sysfs_file_close(&t->clock[i].now);
		sysfs_file_close(&t->clock[i].cap);
		sysfs_file_close(&t->clock[i].floor);
		sysfs_file_close(&t->clock[i].measured);
	}
	sysfs_zones_close(&t->zones);
	sysfs_rails_close(&t->rails);
	free(t);
}

static int64_t larger(int64_t known, int64_t value)
{
	return value > known ? value : known; /* unknown is the lowest number */
}

static int64_t smaller(int64_t known, int64_t value)
{
	if (known == UNKNOWN_COUNT || value == UNKNOWN_COUNT)
		return larger(known, value);
	return value < known ? value : known;
}

static void read_counters(struct throttle *t)
{
	for (int i = 0; i < t->window.counters; i++)
		t->count[i] = read_or_unknown(&t->counter[i], COUNT_MAX);
}

static void read_devices(struct throttle *t)
{
	for (int i = 0; i < t->window.devices; i++) {
		struct throttle_device *device = &t->window.device[i];
		int64_t state = read_or_unknown(&t->device[i], STATE_MAX);

		device->end = state;
		if (state == UNKNOWN_COUNT)
			continue;
		device->max_seen = larger(device->max_seen, state);
		device->polls++;
		device->active += state > 0;
	}
}

static void read_zones(struct throttle *t)
{
	for (int i = 0; i < t->window.zones; i++) {
		struct throttle_zone *zone = &t->window.zone[i];

		zone->end_c = sysfs_zone_read(&t->zones.zone[i]);
		zone->max_c = fmax(zone->max_c, zone->end_c);
	}
}

static int64_t read_hz(const struct clock_files *files, const struct sysfs_file *file)
{
	int64_t value = read_or_unknown(file, HZ_MAX / files->hz_per_unit);

	return value == UNKNOWN_COUNT ? value : value * files->hz_per_unit;
}

static void read_clock(struct throttle_clock *clock, struct clock_files *files)
{
	int64_t hz = read_hz(files, &files->now), cap = read_hz(files, &files->cap);

	if (cap == 0)
		cap = files->zero_is_no_cap ? clock->hardware : UNKNOWN_COUNT;
	clock->cap_end = cap;
	clock->cap_min_seen = smaller(clock->cap_min_seen, cap);
	clock->floor = read_hz(files, &files->floor);
	clock->end = hz;
	if (hz == UNKNOWN_COUNT)
		return;
	clock->min_seen = smaller(clock->min_seen, hz);
	clock->max_seen = larger(clock->max_seen, hz);
	files->sum += (double)hz;
	clock->mean = files->sum / (double)++clock->polls;
}

/* Counts only when the requested clock did not change around the measurement. */
static void measure_clock(struct throttle_clock *clock, struct clock_files *files)
{
	int64_t before = read_hz(files, &files->now);
	int64_t measured = read_hz(files, &files->measured);
	double ratio;

	if (before <= 0 || measured <= 0 || before != read_hz(files, &files->now))
		return;
	ratio = (double)measured / (double)before;
	clock->measured_ratio_min = fmin(clock->measured_ratio_min, ratio);
	files->ratio_sum += ratio;
	clock->measured_ratio_mean = files->ratio_sum / (double)++clock->measurements;
}

/* One a turn: tegra194-cpufreq wakes the core and counts for half a millisecond. */
static void measure_next_clock(struct throttle *t)
{
	for (int i = 0; i < t->window.clocks; i++) {
		int next = t->measure_next++ % t->window.clocks;

		if (t->clock[next].measured.fd >= 0) {
			measure_clock(&t->window.clock[next], &t->clock[next]);
			return;
		}
	}
}

static void read_rails(struct throttle *t)
{
	for (int i = 0; i < t->window.rails; i++) {
		int32_t ma = sysfs_rail_read_ma(t->rail[i]);

		if (ma != TEGRA_UNKNOWN)
			t->window.rail[i].max_seen = larger(t->window.rail[i].max_seen, ma);
	}
}

static bool is_due(int64_t last_ns, int64_t now_ns, int64_t period_ns)
{
	return last_ns == NEVER || now_ns - last_ns >= period_ns;
}

static void read_all(struct throttle *t, int64_t now_ns)
{
	read_devices(t);
	read_zones(t);
	for (int i = 0; i < t->window.clocks; i++)
		read_clock(&t->window.clock[i], &t->clock[i]);
	read_rails(t);
	if (is_due(t->oc_read_ns, now_ns, OC_NS)) {
		t->oc_read_ns = now_ns;
		read_counters(t);
		measure_next_clock(t);
	}
	t->polled_ns = now_ns;
}

static void forget_window(struct throttle *t)
{
	struct throttle_window *w = &t->window;

	for (int i = 0; i < w->devices; i++) {
		w->device[i].max_seen = UNKNOWN_COUNT;
		w->device[i].polls = w->device[i].active = 0;
	}
	for (int i = 0; i < w->zones; i++)
		w->zone[i].max_c = NAN;
	for (int i = 0; i < w->clocks; i++) {
		struct throttle_clock *clock = &w->clock[i];

		clock->min_seen = clock->max_seen = clock->cap_min_seen = UNKNOWN_COUNT;
		clock->mean = clock->measured_ratio_min = clock->measured_ratio_mean = NAN;
		clock->polls = clock->measurements = 0;
		t->clock[i].sum = t->clock[i].ratio_sum = 0;
	}
	for (int i = 0; i < w->rails; i++)
		w->rail[i].max_seen = UNKNOWN_COUNT;
}

void throttle_begin(struct throttle *t, int64_t now_ns)
{
	struct throttle_window *w = &t->window;

	forget_window(t);
	read_all(t, now_ns);
	w->begin_ns = now_ns;
	for (int i = 0; i < w->counters; i++)
		w->counter[i].begin = t->count[i];
	for (int i = 0; i < w->devices; i++)
		w->device[i].begin = w->device[i].end;
	for (int i = 0; i < w->zones; i++)
		w->zone[i].begin_c = w->zone[i].end_c;
	for (int i = 0; i < w->clocks; i++) {
		w->clock[i].begin = w->clock[i].end;
		w->clock[i].cap_begin = w->clock[i].cap_end;
	}
}

void throttle_poll(struct throttle *t, int64_t now_ns)
{
	if (is_due(t->polled_ns, now_ns, POLL_NS))
		read_all(t, now_ns);
}

void throttle_end(struct throttle *t, int64_t now_ns, struct throttle_window *out)
{
	struct throttle_window *w = &t->window;

	throttle_poll(t, now_ns);
	w->end_ns = now_ns;
	for (int i = 0; i < w->counters; i++) {
		struct throttle_counter *counter = &w->counter[i];

		counter->end = t->count[i];
		if (counter->begin == UNKNOWN_COUNT || counter->end < counter->begin)
			counter->delta = UNKNOWN_COUNT;
		else
			counter->delta = counter->end - counter->begin;
	}
	*out = *w;
}

int throttle_devices_active(const struct throttle_window *window)
{
	int active = 0;

	for (int i = 0; i < window->devices; i++)
		active += window->device[i].active > 0;
	return active;
}

const struct throttle_clock *throttle_clock_named(const struct throttle_window *window,
						  const char *name)
{
	for (int i = 0; i < window->clocks; i++) {
		if (!strcmp(window->clock[i].name, name))
			return &window->clock[i];
	}
	return NULL;
}

const struct throttle_counter *throttle_counter_of(const struct throttle_window *window, int id)
{
	for (int i = 0; i < window->counters; i++) {
		if (window->counter[i].id == id)
			return &window->counter[i];
	}
	return NULL;
}
