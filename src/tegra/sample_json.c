/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/sample_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Each byte of a name can become "\xNN". */
#define SAFE_SIZE (4 * TEGRA_NAME_SIZE)

/* "#" and the digits of a 32-bit count */
#define KEY_SIZE (SAFE_SIZE + 12)

/* Bytes of the UTF-8 sequence at p (of n bytes), 0 when it is none. */
static size_t utf8_length(const unsigned char *p, size_t n)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = *p < 0x80 ? 1 : *p < 0xc0 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	uint32_t code;

	if (len < 2)
		return len;
	if (len > n || *p > 0xf4)
		return 0;
	code = *p & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3fu);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return len;
}

static void make_safe(const char *name, char out[SAFE_SIZE])
{
	const unsigned char *p = (const unsigned char *)name;
	size_t n = strlen(name);

	while (n) {
		size_t len = utf8_length(p, n);

		if (len) {
			memcpy(out, p, len);
			out += len;
		} else {
			out += snprintf(out, 5, "\\x%02X", *p);
			len = 1;
		}
		p += len;
		n -= len;
	}
	*out = '\0';
}

static json_t *from_int(int32_t value)
{
	return value == TEGRA_UNKNOWN ? json_null() : json_integer(value);
}

static json_t *from_double(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *from_ints(const int32_t *values, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		if (json_array_append_new(list, from_int(values[i]))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* AGX Orin prints the rail NC twice. */
static int set_by_name(json_t *object, const char *name, json_t *value)
{
	char safe[SAFE_SIZE], key[KEY_SIZE];

	make_safe(name, safe);
	snprintf(key, sizeof(key), "%s", safe);
	for (unsigned int i = 2; json_object_get(object, key); i++)
		snprintf(key, sizeof(key), "%s#%u", safe, i);
	return json_object_set_new(object, key, value);
}

static json_t *from_date(int64_t date_s)
{
	char text[32];
	time_t t = (time_t)date_s;
	struct tm tm;

	if (date_s == TEGRA_DATE_UNKNOWN || !gmtime_r(&t, &tm))
		return json_null();
	if (!strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		return json_null();
	return json_string(text);
}

static json_t *from_cores(const struct tegra_sample *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < s->cpu_count; i++) {
		const struct tegra_core *c = &s->cpu[i];
		json_t *core;

		core = c->off ? json_string("off")
			      : json_pack("{s:o, s:o}", "load", from_int(c->load_pct), "freq_mhz",
					  from_int(c->freq_mhz));
		if (json_array_append_new(list, core)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *from_rails(const struct tegra_sample *s)
{
	json_t *rails = json_object();

	for (uint32_t i = 0; i < s->rail_count; i++) {
		const struct tegra_rail *r = &s->rail[i];
		json_t *rail = json_pack("{s:o, s:o, s:o}", "cur_mw", from_int(r->cur_mw), "avg_mw",
					 from_int(r->avg_mw), "max_mw", from_int(r->max_mw));

		if (set_by_name(rails, r->name, rail)) {
			json_decref(rails);
			return NULL;
		}
	}
	return rails;
}

/* `max` selects the second temperature; zones without one are left out of it. */
static json_t *from_temps(const struct tegra_sample *s, bool max)
{
	json_t *temps = json_object();

	for (uint32_t i = 0; i < s->temp_count; i++) {
		const struct tegra_temp *t = &s->temp[i];

		if (max && isnan(t->max_c))
			continue;
		if (set_by_name(temps, t->name, from_double(max ? t->max_c : t->cur_c))) {
			json_decref(temps);
			return NULL;
		}
	}
	return temps;
}

static json_t *from_engine(const struct tegra_engine *e)
{
	json_t *pct;

	if (e->off)
		return json_string("off");
	if (!e->pct_count)
		return from_int(e->mhz);
	pct = e->pct_is_list ? from_ints(e->pct, e->pct_count) : from_int(e->pct[0]);
	return json_pack("{s:o, s:o}", "pct", pct, "mhz", from_int(e->mhz));
}

static json_t *from_engines(const struct tegra_sample *s)
{
	json_t *engines = json_object();

	for (uint32_t i = 0; i < s->engine_count; i++) {
		if (set_by_name(engines, s->engine[i].name, from_engine(&s->engine[i]))) {
			json_decref(engines);
			return NULL;
		}
	}
	return engines;
}

static json_t *from_unknown(const struct tegra_sample *s)
{
	json_t *list = json_array();
	char safe[SAFE_SIZE];

	for (uint32_t i = 0; i < s->unknown_count; i++) {
		make_safe(s->unknown[i], safe);
		if (json_array_append_new(list, json_string(safe))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Fields that every sample has, known or not. */
static int set_common(json_t *root, const struct tegra_sample *s)
{
	const struct {
		const char *key;
		int32_t value;
	} ints[] = {
		{"ram_used_mb", s->ram_used_mb},       {"ram_total_mb", s->ram_total_mb},
		{"lfb_blocks", s->lfb_blocks},	       {"lfb_kb", s->lfb_kb},
		{"swap_used_mb", s->swap_used_mb},     {"swap_total_mb", s->swap_total_mb},
		{"swap_cached_mb", s->swap_cached_mb},
	};
	int err = json_object_set_new(root, "date", from_date(s->date_s));

	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++)
		err |= json_object_set_new(root, ints[i].key, from_int(ints[i].value));
	err |= json_object_set_new(root, "cpu", from_cores(s));
	err |= json_object_set_new(root, "emc_pct", from_int(s->emc_pct));
	err |= json_object_set_new(root, "emc_mhz", from_int(s->emc_mhz));
	err |= json_object_set_new(root, "gr3d_pct", from_int(s->gr3d_pct));
	err |= json_object_set_new(root, "gr3d_mhz", from_ints(s->gr3d_mhz, s->gr3d_mhz_count));
	err |= json_object_set_new(root, "temps", from_temps(s, false));
	err |= json_object_set_new(root, "rails", from_rails(s));
	err |= json_object_set_new(root, "engines", from_engines(s));
	return err;
}

/* Fields that are there only if the line has them. */
static int set_optional(json_t *root, const struct tegra_sample *s)
{
	const struct {
		const char *key;
		int32_t value;
		bool has;
	} ints[] = {
		{"iram_used_kb", s->iram_used_kb, s->has_iram},
		{"iram_total_kb", s->iram_total_kb, s->has_iram},
		{"iram_lfb_kb", s->iram_lfb_kb, s->has_iram},
		{"gr3d2_pct", s->gr3d2_pct, s->has_gr3d2},
		{"gr3d2_mhz", s->gr3d2_mhz, s->has_gr3d2},
		{"gr3d_pci_pct", s->gr3d_pci_pct, s->has_gr3d_pci},
		{"gr3d_pci_mhz", s->gr3d_pci_mhz, s->has_gr3d_pci},
		{"mts_fg_pct", s->mts_fg_pct, s->has_mts},
		{"mts_bg_pct", s->mts_bg_pct, s->has_mts},
		{"edp_limit", s->edp_limit, s->has_edp},
	};
	bool has_max = false;
	int err = 0;

	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
		if (ints[i].has)
			err |= json_object_set_new(root, ints[i].key, from_int(ints[i].value));
	}
	for (uint32_t i = 0; i < s->temp_count; i++)
		has_max |= !isnan(s->temp[i].max_c);
	if (has_max)
		err |= json_object_set_new(root, "temps_max", from_temps(s, true));
	if (s->unknown_count)
		err |= json_object_set_new(root, "unknown", from_unknown(s));
	return err;
}

json_t *tegra_sample_json(const struct tegra_sample *sample)
{
	json_t *root = json_object();

	if (!root)
		return NULL;
	if (set_common(root, sample) || set_optional(root, sample)) {
		json_decref(root);
		return NULL;
	}
	return root;
}
