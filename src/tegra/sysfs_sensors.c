/* SPDX-License-Identifier: GPL-2.0-only */
/* Temperatures, rails, engines, fan. */
#include "tegra/sysfs.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Outside: no sensor. A powered-off zone of R35 reads -256000. */
#define TEMP_MIN_MC    (-100000)
#define TEMP_MAX_MC    250000
#define MILLI_MAX      1000000 /* mV, mA, mW: nothing on a module comes near */
#define MICRO_MAX      INT64_C(1000000000)
#define RATE_HZ_MAX    INT64_C(20000000000)
#define CHIPS_MAX      8
#define ENABLES_MAX    1000000
#define INA3221_INPUTS 3 /* further channels of the driver are shunts and their sum */

static bool cut_suffix(char *name, const char *suffix)
{
	size_t len = strlen(name), cut = strlen(suffix);

	if (len <= cut || strcmp(name + len - cut, suffix))
		return false;
	name[len - cut] = '\0';
	return true;
}

/* As tegrastats names zones: CPU-therm, cpu-thermal, PMIC-Die, Tboard_tegra, thermal-fan-est. */
static void zone_name(char name[TEGRA_NAME_SIZE], const char *type)
{
	static const char *const suffixes[] = {"-thermal", "-therm",   "_thermal", "_therm",
					       "-Die",	   "-fan-est", "_tegra"};

	sysfs_name(name, type);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (cut_suffix(name, suffixes[i]))
			return;
	}
}

void sysfs_zones_open(struct sysfs_zones *zones)
{
	char paths[TEGRA_TEMPS_MAX][SYSFS_PATH_SIZE], type[TEGRA_NAME_SIZE];
	size_t n = sysfs_glob("/sys/class/thermal/thermal_zone*", paths, TEGRA_TEMPS_MAX);

	zones->count = 0;
	for (size_t i = 0; i < n; i++) {
		struct sysfs_zone *zone = &zones->zone[zones->count];

		if (sysfs_read_text(type, sizeof(type), "%s/type", paths[i]) <= 0)
			continue;
		zone_name(zone->name, type);
		text_copy(zone->path, sizeof(zone->path), paths[i]);
		zone->placeholder = !strncmp(zone->name, "PMIC", 4);
		sysfs_file_open(&zone->temp, "%s/temp", paths[i]);
		zones->count++;
	}
}

void sysfs_zones_close(struct sysfs_zones *zones)
{
	for (uint32_t i = 0; i < zones->count; i++)
		sysfs_file_close(&zones->zone[i].temp);
}

double sysfs_zone_read(const struct sysfs_zone *zone)
{
	int64_t mc;

	if (zone->placeholder || sysfs_file_range(&zone->temp, TEMP_MIN_MC, TEMP_MAX_MC, &mc))
		return NAN;
	return (double)mc / 1000;
}

void sysfs_zones_sample(struct sysfs_zones *zones, struct tegra_sample *out)
{
	for (uint32_t i = 0; i < zones->count; i++) {
		struct tegra_temp *temp = &out->temp[out->temp_count++];

		text_copy(temp->name, sizeof(temp->name), zones->zone[i].name);
		temp->cur_c = sysfs_zone_read(&zones->zone[i]);
		temp->max_c = NAN;
	}
}

static struct sysfs_rail *new_rail(struct sysfs_rails *rails, const char *label)
{
	struct sysfs_rail *rail;

	/* NC is an input without a rail, the sum one of the same currents again. */
	if (rails->count == TEGRA_RAILS_MAX || !strcmp(label, "NC") || strcasestr(label, "sum of"))
		return NULL;
	rail = &rails->rail[rails->count];
	sysfs_name(rail->name, label);
	sysfs_file_init(&rail->power);
	sysfs_file_init(&rail->voltage);
	sysfs_file_init(&rail->current);
	rail->power_per_mw = 1;
	rail->warn_ma = rail->critical_ma = TEGRA_UNKNOWN;
	return rail;
}

static int32_t limit(int error, const int64_t *ma)
{
	return error || *ma <= 0 || *ma > MILLI_MAX ? TEGRA_UNKNOWN : (int32_t)*ma;
}

/* Inputs of an ina3221 count from 1 here, from 0 in the older driver below. */
static void add_hwmon_inputs(struct sysfs_rails *rails, const char *dir)
{
	char label[TEGRA_NAME_SIZE];

	for (int i = 1; i <= INA3221_INPUTS; i++) {
		struct sysfs_rail *rail;
		int64_t ma;

		if (sysfs_read_text(label, sizeof(label), "%s/in%d_label", dir, i) <= 0)
			continue;
		rail = new_rail(rails, label);
		if (!rail)
			continue;
		sysfs_file_open(&rail->voltage, "%s/in%d_input", dir, i);
		sysfs_file_open(&rail->current, "%s/curr%d_input", dir, i);
		rail->warn_ma = limit(sysfs_read_number(&ma, "%s/curr%d_max", dir, i), &ma);
		rail->critical_ma = limit(sysfs_read_number(&ma, "%s/curr%d_crit", dir, i), &ma);
		rails->count++;
	}
}

/* A chip of one input without a label is that of the whole board: VIN of tegrastats on Thor. */
static void add_hwmon_power(struct sysfs_rails *rails, const char *dir)
{
	char label[TEGRA_NAME_SIZE];
	struct sysfs_rail *rail;
	struct sysfs_file power;

	sysfs_file_open(&power, "%s/power1_input", dir);
	if (!sysfs_file_keep(&power))
		return;
	if (sysfs_read_text(label, sizeof(label), "%s/power1_label", dir) <= 0 &&
	    sysfs_read_text(label, sizeof(label), "%s/in1_label", dir) <= 0)
		text_copy(label, sizeof(label), "VIN");
	rail = new_rail(rails, label);
	if (!rail) {
		sysfs_file_close(&power);
		return;
	}
	rail->power = power;
	rail->power_per_mw = 1000;
	rails->count++;
}

static void add_iio_inputs(struct sysfs_rails *rails, const char *dir)
{
	char label[TEGRA_NAME_SIZE];

	for (int i = 0; i < INA3221_INPUTS; i++) {
		struct sysfs_rail *rail;
		int64_t ma;

		if (sysfs_read_text(label, sizeof(label), "%s/rail_name_%d", dir, i) <= 0)
			continue;
		rail = new_rail(rails, label);
		if (!rail)
			continue;
		sysfs_file_open(&rail->power, "%s/in_power%d_input", dir, i);
		sysfs_file_open(&rail->voltage, "%s/in_voltage%d_input", dir, i);
		sysfs_file_open(&rail->current, "%s/in_current%d_input", dir, i);
		rail->warn_ma =
			limit(sysfs_read_number(&ma, "%s/warn_current_limit_%d", dir, i), &ma);
		rail->critical_ma =
			limit(sysfs_read_number(&ma, "%s/crit_current_limit_%d", dir, i), &ma);
		rails->count++;
	}
}

static void add_chips(struct sysfs_rails *rails, const char *pattern,
		      void (*add)(struct sysfs_rails *, const char *))
{
	char dirs[CHIPS_MAX][SYSFS_PATH_SIZE];
	size_t n = sysfs_glob(pattern, dirs, CHIPS_MAX);

	for (size_t i = 0; i < n; i++)
		add(rails, dirs[i]);
}

static void add_named(struct sysfs_rails *rails, const char *name,
		      void (*add)(struct sysfs_rails *, const char *))
{
	char dirs[CHIPS_MAX][SYSFS_PATH_SIZE];
	size_t n = sysfs_hwmon(name, dirs, CHIPS_MAX);

	for (size_t i = 0; i < n; i++)
		add(rails, dirs[i]);
}

void sysfs_rails_open(struct sysfs_rails *rails)
{
	rails->count = 0;
	/* By bus and address, which is the order of tegrastats. */
	add_chips(rails, "/sys/bus/i2c/drivers/ina3221/*/hwmon/hwmon*", add_hwmon_inputs);
	add_chips(rails, "/sys/bus/i2c/drivers/ina3221x/*/iio:device*", add_iio_inputs);
	if (!rails->count)
		add_named(rails, "ina3221*", add_hwmon_inputs);
	add_named(rails, "ina23*", add_hwmon_power);
}

void sysfs_rails_close(struct sysfs_rails *rails)
{
	for (uint32_t i = 0; i < rails->count; i++) {
		sysfs_file_close(&rails->rail[i].power);
		sysfs_file_close(&rails->rail[i].voltage);
		sysfs_file_close(&rails->rail[i].current);
	}
}

int32_t sysfs_rail_read_ma(const struct sysfs_rail *rail)
{
	int64_t ma;

	if (sysfs_file_range(&rail->current, -MILLI_MAX, MILLI_MAX, &ma))
		return TEGRA_UNKNOWN;
	return (int32_t)ma;
}

static int32_t read_mw(const struct sysfs_rail *rail)
{
	int64_t power, mv, mw;
	int32_t ma;

	if (!sysfs_file_range(&rail->power, -MICRO_MAX, MICRO_MAX, &power)) {
		mw = power / rail->power_per_mw;
	} else {
		ma = sysfs_rail_read_ma(rail);
		if (ma == TEGRA_UNKNOWN ||
		    sysfs_file_range(&rail->voltage, -MILLI_MAX, MILLI_MAX, &mv))
			return TEGRA_UNKNOWN;
		mw = mv * ma / 1000;
	}
	return mw < -MILLI_MAX || mw > MILLI_MAX ? TEGRA_UNKNOWN : (int32_t)mw;
}

void sysfs_rails_sample(struct sysfs_rails *rails, struct tegra_sample *out)
{
	for (uint32_t i = 0; i < rails->count; i++) {
		struct tegra_rail *rail = &out->rail[out->rail_count++];

		text_copy(rail->name, sizeof(rail->name), rails->rail[i].name);
		rail->cur_mw = read_mw(&rails->rail[i]);
		rail->avg_mw = rail->max_mw = TEGRA_UNKNOWN;
	}
}

/* Clock names of T210 to T264; an engine's further clocks (dla0_falcon) are left out. */
static const char *const engine_clocks[] = {
	"nvenc", "nvenc[0-9]", "nvdec", "nvdec[0-9]", "nvjpg", "nvjpg[0-9]",
	"vic",	 "vic03",      "ofa",	"ape",	      "se",    "dla[0-9]",
};

static void add_engine(struct sysfs_engines *engines, const char *dir)
{
	const char *clock = strrchr(dir, '/') + 1;
	struct sysfs_engine *engine;

	if (engines->count == TEGRA_ENGINES_MAX)
		return;
	engine = &engines->engine[engines->count++];
	snprintf(engine->name, sizeof(engine->name), "%s%.16s", *clock == 'd' ? "nv" : "",
		 strcmp(clock, "vic03") ? clock : "vic");
	for (char *p = engine->name; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	sysfs_file_open(&engine->rate, "%s/clk_rate", dir);
	sysfs_file_open(&engine->enabled, "%s/clk_enable_count", dir);
	/* nvhost and host1x, actmon.c */
	sysfs_file_open(&engine->load, "/sys/kernel/debug/%s/actmon_avg_norm", clock);
}

void sysfs_engines_open(struct sysfs_engines *engines)
{
	struct sysfs_file probe;
	char dirs[CHIPS_MAX][SYSFS_PATH_SIZE], pattern[SYSFS_PATH_SIZE];

	/* To an outsider a closed debugfs and one without the file look alike, but not to open(). */
	engines->error = sysfs_file_open(&probe, "/sys/kernel/debug/clk");
	sysfs_file_close(&probe);
	engines->count = 0;
	for (size_t i = 0; i < sizeof(engine_clocks) / sizeof(*engine_clocks); i++) {
		size_t n;

		snprintf(pattern, sizeof(pattern), "/sys/kernel/debug/clk/%s", engine_clocks[i]);
		n = sysfs_glob(pattern, dirs, CHIPS_MAX);
		for (size_t j = 0; j < n; j++)
			add_engine(engines, dirs[j]);
	}
}

void sysfs_engines_close(struct sysfs_engines *engines)
{
	for (uint32_t i = 0; i < engines->count; i++) {
		sysfs_file_close(&engines->engine[i].rate);
		sysfs_file_close(&engines->engine[i].enabled);
		sysfs_file_close(&engines->engine[i].load);
	}
}

static bool sample_engine(const struct sysfs_engine *engine, struct tegra_engine *out)
{
	int64_t enabled, hz, load;
	bool has_rate = !sysfs_file_range(&engine->rate, 0, RATE_HZ_MAX, &hz);
	bool has_state = !sysfs_file_range(&engine->enabled, 0, ENABLES_MAX, &enabled);

	if (!has_rate && !has_state)
		return false;
	memset(out, 0, sizeof(*out));
	text_copy(out->name, sizeof(out->name), engine->name);
	out->off = has_state && !enabled;
	if (out->off)
		return true;
	out->mhz = has_rate ? (int32_t)(hz / 1000000) : TEGRA_UNKNOWN;
	if (!sysfs_file_range(&engine->load, 0, 1000, &load)) {
		out->pct[0] = (int32_t)(load / 10);
		out->pct_count = 1;
	}
	return true;
}

void sysfs_engines_sample(struct sysfs_engines *engines, struct tegra_sample *out)
{
	for (uint32_t i = 0; i < engines->count; i++) {
		if (sample_engine(&engines->engine[i], &out->engine[out->engine_count]))
			out->engine_count++;
	}
}

void sysfs_fan_open(struct sysfs_fan_files *fan)
{
	static const char *const pwm[] = {
		"/sys/class/hwmon/hwmon*/pwm1",
		"/sys/devices/pwm-fan/cur_pwm",
		"/sys/devices/pwm-fan/target_pwm",
		NULL,
	};
	static const char *const rpm[] = {
		"/sys/class/hwmon/hwmon*/rpm",
		"/sys/class/hwmon/hwmon*/fan1_input",
		"/sys/devices/pwm-fan/rpm_measured",
		NULL,
	};

	sysfs_file_probe(&fan->pwm, pwm);
	sysfs_file_probe(&fan->rpm, rpm);
}

void sysfs_fan_close(struct sysfs_fan_files *fan)
{
	sysfs_file_close(&fan->pwm);
	sysfs_file_close(&fan->rpm);
}

struct sysfs_fan sysfs_fan_read(const struct sysfs_fan_files *fan)
{
	struct sysfs_fan now = {.pwm = TEGRA_UNKNOWN, .rpm = TEGRA_UNKNOWN};
	int64_t value;

	if (!sysfs_file_range(&fan->pwm, 0, 255, &value))
		now.pwm = (int32_t)value;
	if (!sysfs_file_range(&fan->rpm, 0, 100000, &value))
		now.rpm = (int32_t)value;
	return now;
}
