/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json/json_values.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const char *state_name(enum tegra_state state)
{
	switch (state) {
	case TEGRA_NONE:
		return "none";
	case TEGRA_LIVE:
		return "live";
	case TEGRA_DIED:
		return "died";
	case TEGRA_SILENT:
		return "silent";
	case TEGRA_GARBAGE:
		return "garbage";
	case TEGRA_RECORDED:
		return "recorded";
	case TEGRA_LOG:
		return "log";
	}
	return "none";
}

/* A figure of a sampled quantity: unknown without samples, whatever the field holds. */
static json_t *figure(const struct sampled *s, double value)
{
	return s->n > 0 ? json_number(value) : json_null();
}

static json_t *engine_json(const struct sampled *busy, const struct sampled *clock, double cap_mhz,
			   double max_mhz)
{
	json_t *engine = json_object();

	json_put(&engine, "busy", figure(busy, busy->mean));
	json_put(&engine, "busy_min", figure(busy, busy->min));
	json_put(&engine, "busy_max", figure(busy, busy->max));
	json_put(&engine, "busy_samples", json_integer(busy->n));
	json_put(&engine, "clock_mhz", figure(clock, clock->mean));
	json_put(&engine, "clock_min_mhz", figure(clock, clock->min));
	json_put(&engine, "clock_max_mhz", figure(clock, clock->max));
	json_put(&engine, "cap_mhz", json_number(cap_mhz));
	json_put(&engine, "max_mhz", json_number(max_mhz));
	return engine;
}

static json_t *memory_json(const struct sampled *used, double total)
{
	json_t *memory = json_object();

	json_put(&memory, "used_mean_mb", figure(used, used->mean));
	json_put(&memory, "used_max_mb", figure(used, used->max));
	json_put(&memory, "used_last_mb", figure(used, used->last));
	json_put(&memory, "total_mb", json_number(total));
	return memory;
}

static json_t *cpu_json(const struct tegra_summary *tegra)
{
	const struct sampled *busiest = &tegra->cpu_busy_max;
	json_t *cpu = json_object();

	json_put(&cpu, "busiest_mean", figure(busiest, busiest->mean));
	json_put(&cpu, "busiest_max", figure(busiest, busiest->max));
	json_put(&cpu, "off", tegra->cpus_off < 0 ? json_null() : json_integer(tegra->cpus_off));
	return cpu;
}

/* tegrastats prints some names twice ("NC"): the second is "NC #2", so that neither is lost. */
static void put_sensor(json_t **sensors, const char *name, json_t *value)
{
	char key[TEXT_SANITIZED_SIZE(SESSION_NAME_LEN) + 16];
	size_t len = text_sanitize(key, sizeof(key), name, strnlen(name, SESSION_NAME_LEN));

	for (int i = 2; *sensors && json_object_get(*sensors, key); i++)
		snprintf(key + len, sizeof(key) - len, " #%d", i);
	json_put(sensors, key, value);
}

static json_t *temps_json(const struct tegra_summary *tegra)
{
	json_t *temps = json_object();

	for (int i = 0; i < tegra->temps && i < SESSION_SENSORS; i++) {
		const struct sampled *s = &tegra->temps_c[i].value;
		json_t *temp = json_object();

		json_put(&temp, "mean", figure(s, s->mean));
		json_put(&temp, "max", figure(s, s->max));
		json_put(&temp, "last", figure(s, s->last));
		put_sensor(&temps, tegra->temps_c[i].name, temp);
	}
	return temps;
}

static json_t *power_json(const struct tegra_summary *tegra)
{
	json_t *power = json_object();

	for (int i = 0; i < tegra->rails && i < SESSION_SENSORS; i++) {
		const struct sampled *s = &tegra->power_mw[i].value;
		json_t *rail = json_object();

		json_put(&rail, "mean", figure(s, s->mean));
		json_put(&rail, "max", figure(s, s->max));
		put_sensor(&power, tegra->power_mw[i].name, rail);
	}
	return power;
}

/* null where the board counts nothing of it */
static json_t *throttle_json(const struct throttle_summary *throttle)
{
	static const char *const names[THROTTLE_OC] = {"oc1_events", "oc2_events", "oc3_events"};
	json_t *object;
	bool known = throttle->cooling_active >= 0 || throttle->cpu_measurements;

	for (int i = 0; i < THROTTLE_OC; i++)
		known |= throttle->oc_events[i] != UNKNOWN_COUNT;
	if (!known)
		return json_null();
	object = json_object();
	for (int i = 0; i < THROTTLE_OC; i++)
		json_put(&object, names[i], json_count(throttle->oc_events[i]));
	json_put(&object, "cooling_active",
		 throttle->cooling_active >= 0 ? json_integer(throttle->cooling_active)
					       : json_null());
	json_put(&object, "cooling_device", json_text(throttle->cooling_name));
	json_put(&object, "cpu_clock_share", json_number(throttle->cpu_clock_share));
	json_put(&object, "cpu_measurements", json_count(throttle->cpu_measurements));
	json_put(&object, "margin_c", json_number(throttle->margin_c));
	json_put(&object, "margin_zone", json_text(throttle->margin_zone));
	return object;
}

json_t *json_tegra(const struct session *session)
{
	const struct tegra_summary *tegra = &session->tegra;
	const struct board_info *board = &session->board;
	json_t *object = json_object();

	json_put(&object, "state", json_string(state_name(tegra->state)));
	json_put(&object, "source", json_text(tegra->source));
	json_put(&object, "note", json_text(tegra->note));
	json_put(&object, "samples", json_count(tegra->samples));
	json_put(&object, "rejected", json_count(tegra->rejected));
	json_put(&object, "left_aside", json_count(tegra->left_aside));
	json_put(&object, "interval_ms", json_number(tegra->interval_ms));
	json_put(&object, "gpu",
		 engine_json(&tegra->gpu_busy, &tegra->gpu_clock_mhz, board->gpu.cap_mhz,
			     board->gpu.hw_max_mhz));
	json_put(&object, "emc",
		 engine_json(&tegra->emc_busy, &tegra->emc_clock_mhz, board->emc.cap_mhz,
			     board->emc.hw_max_mhz));
	json_put(&object, "cpu", cpu_json(tegra));
	json_put(&object, "ram", memory_json(&tegra->ram_used_mb, tegra->ram_total_mb));
	json_put(&object, "swap", memory_json(&tegra->swap_used_mb, tegra->swap_total_mb));
	json_put(&object, "temps", temps_json(tegra));
	json_put(&object, "power", power_json(tegra));
	json_put(&object, "throttle", throttle_json(&session->throttle));
	return object;
}
