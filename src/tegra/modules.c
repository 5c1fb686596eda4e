/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/modules.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 64

enum tegra_soc soc_by_name(const char *name)
{
	if (!strncmp(name, "nvidia,", 7))
		name += 7;
	for (int soc = SOC_UNKNOWN + 1; soc < SOCS; soc++) {
		if (!strcasecmp(name, gpu_rates(soc)->soc))
			return soc;
	}
	return SOC_UNKNOWN;
}

static bool has_pnumber(const struct module *module, const char *pnumber)
{
	for (int i = 0; i < MODULE_PNUMBERS; i++) {
		if (module->pnumbers[i] && !strcasecmp(module->pnumbers[i], pnumber))
			return true;
	}
	return false;
}

const struct module *module_by_pnumber(const char *pnumber, bool super)
{
	const struct module *modules, *ordinary = NULL;
	size_t n;

	modules = modules_all(&n);
	for (size_t i = 0; i < n; i++) {
		if (!has_pnumber(&modules[i], pnumber))
			continue;
		if (modules[i].super == super)
			return &modules[i];
		if (!modules[i].super)
			ordinary = &modules[i];
	}
	return ordinary;
}

/* Lower-case letters and digits of a name, up to a parenthesis; false when too long. */
static bool squeeze(char *dst, size_t size, const char *src)
{
	size_t n = 0;

	for (; *src && *src != '('; src++) {
		if (!isalnum((unsigned char)*src))
			continue;
		if (n + 1 >= size)
			return false;
		dst[n++] = (char)tolower((unsigned char)*src);
	}
	dst[n] = '\0';
	return true;
}

static bool cut_word(char *text, const char *word)
{
	char *at = strstr(text, word);
	size_t len = strlen(word);

	if (!at)
		return false;
	memmove(at, at + len, strlen(at + len) + 1);
	return true;
}

static bool is_memory_size(int gigabytes)
{
	return gigabytes >= 2 && gigabytes <= 128 && !(gigabytes & (gigabytes - 1));
}

/* Cuts "8gb" out of "orinnano8gb" and of "tx28gb"; 0 when it is no size, -1 without one. */
static int cut_gigabytes(char *text)
{
	char *end = strstr(text, "gb"), *start = end;
	int gigabytes = 0;

	if (!end)
		return -1;
	while (start > text && end - start < 3 && isdigit((unsigned char)start[-1]))
		start--;
	for (; start < end; start++) {
		gigabytes = *start == '0' ? 0 : atoi(start);
		if (is_memory_size(gigabytes))
			break;
	}
	memmove(start, end + 2, strlen(end + 2) + 1);
	return start < end ? gigabytes : 0;
}

struct family_name {
	char family[NAME_MAX_LEN];
	int ram_gb;
	bool super;
};

static const char *family_alias(const char *family)
{
	static const char *const aliases[][2] = {
		{"xavier", "agxxavier"},      {"xavieragx", "agxxavier"},
		{"nxxavier", "xaviernx"},     {"nanoorin", "orinnano"},
		{"nxorin", "orinnx"},	      {"orin", "agxorin"},
		{"orinagx", "agxorin"},	      {"igxorin", "agxorinindustrial"},
		{"igx", "agxorinindustrial"}, {"agxthor", "t5000"},
		{"thoragx", "t5000"},	      {"thor", "t5000"},
		{"thort5000", "t5000"},	      {"thort4000", "t4000"},
	};

	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++) {
		if (!strcmp(family, aliases[i][0]))
			return aliases[i][1];
	}
	return family;
}

static bool split_name(struct family_name *split, const char *name)
{
	static const char *const noise[] = {
		"nvidia", "jetson", "developerkit", "devkit", "module",
	};
	char text[NAME_MAX_LEN];

	if (!squeeze(text, sizeof(text), name))
		return false;
	for (size_t i = 0; i < sizeof(noise) / sizeof(*noise); i++)
		cut_word(text, noise[i]);
	split->super = cut_word(text, "super");
	split->ram_gb = cut_gigabytes(text);
	snprintf(split->family, sizeof(split->family), "%s", family_alias(text));
	return *text;
}

static const struct module *by_typed_pnumber(const char *name)
{
	char pnumber[sizeof("p0000-0000")];

	if (!strncasecmp(name, "nvidia,", 7))
		name += 7;
	if (tolower((unsigned char)*name) != 'p' || strlen(name) < sizeof(pnumber) - 1)
		return NULL;
	memcpy(pnumber, name, sizeof(pnumber) - 1);
	pnumber[sizeof(pnumber) - 1] = '\0';
	name += sizeof(pnumber) - 1;
	if (*name && strcasecmp(name, "-super"))
		return NULL;
	return module_by_pnumber(pnumber, *name);
}

const struct module *module_by_name(const char *name, bool *assumed)
{
	const struct module *modules, *found = by_typed_pnumber(name);
	struct family_name wanted, have;
	bool several = false;
	size_t n;

	if (assumed)
		*assumed = false;
	if (found)
		return found;
	if (!split_name(&wanted, name))
		return NULL;
	modules = modules_all(&n);
	for (size_t i = 0; i < n; i++) {
		if (!split_name(&have, modules[i].name) || strcmp(have.family, wanted.family) ||
		    have.super != wanted.super)
			continue;
		if (wanted.ram_gb >= 0 && modules[i].ram_gb != wanted.ram_gb)
			continue;
		several |= found != NULL;
		if (!found)
			found = &modules[i];
	}
	if (assumed)
		*assumed = several;
	return found;
}

static const char *bare_mode(const char *squeezed)
{
	return strncmp(squeezed, "mode", 4) ? squeezed : squeezed + 4;
}

const struct module_mode *module_mode_by_name(const struct module *module, const char *name)
{
	char wanted[NAME_MAX_LEN], have[NAME_MAX_LEN];

	if (!squeeze(wanted, sizeof(wanted), name) || !*bare_mode(wanted))
		return NULL;
	for (size_t i = 0; i < module->nmodes; i++) {
		if (squeeze(have, sizeof(have), module->modes[i].name) &&
		    !strcmp(bare_mode(wanted), bare_mode(have)))
			return &module->modes[i];
	}
	return NULL;
}

const struct module_mode *module_mode_default(const struct module *module)
{
	for (size_t i = 0; i < module->nmodes; i++) {
		if (module->modes[i].is_default)
			return &module->modes[i];
	}
	return NULL;
}

const struct module_mode *module_mode_max(const struct module *module)
{
	for (size_t i = 0; i < module->nmodes; i++) {
		if (module->modes[i].is_max)
			return &module->modes[i];
	}
	return NULL;
}

double soc_peak_flops(enum tegra_soc soc, enum precision precision, int sm, double gpu_mhz)
{
	const struct gpu_rates *rates = gpu_rates(soc);

	if (!rates || (unsigned int)precision >= PRECISIONS || !rates->fma[precision] || sm <= 0 ||
	    !(gpu_mhz > 0))
		return NAN;
	return sm * (double)rates->fma[precision] * 2 * gpu_mhz * 1e6;
}

double module_peak_flops(const struct module *module, enum precision precision, int sm,
			 double gpu_mhz)
{
	return soc_peak_flops(module->soc, precision, sm, gpu_mhz);
}

/* Twice the clock: double data rate, confirmed by the data sheets of 68, 102 and 204.8 GB/s. */
double dram_peak_bandwidth(int bus_bits, double emc_mhz)
{
	if (bus_bits <= 0 || !(emc_mhz > 0))
		return NAN;
	return emc_mhz * 1e6 * 2 * bus_bits / 8;
}

double module_bandwidth(const struct module *module, double emc_mhz)
{
	return dram_peak_bandwidth(module->bus_bits, emc_mhz);
}

/* Tuned streams reach 0.93-0.98 of the theoretical bandwidth, plain loads 0.69-0.83. */
#define DRAM_PRACTICAL 0.8

void ceilings_at(struct board_ceilings *ceilings, enum tegra_soc soc, int sm, double gpu_mhz,
		 int bus_bits, double emc_mhz)
{
	for (int i = 0; i < PRECISIONS; i++)
		ceilings->flops[i] = soc_peak_flops(soc, i, sm, gpu_mhz);
	ceilings->dram = dram_peak_bandwidth(bus_bits, emc_mhz);
	ceilings->dram_practical = DRAM_PRACTICAL * ceilings->dram;
}

void module_mode_ceilings(struct board_ceilings *ceilings, const struct module *module,
			  const struct module_mode *mode)
{
	ceilings_at(ceilings, module->soc, mode->sm, mode->gpu_mhz, module->bus_bits,
		    mode->emc_mhz);
}

/* GPC i is in bits 4i..4i+3, at most 2 GPCs (nvgpu). */
#define TPC_MASK_MAX 255

int soc_active_sm(enum tegra_soc soc, long long tpc_pg_mask)
{
	const struct gpu_rates *rates = gpu_rates(soc);
	int left;

	if (!rates || rates->tpcs < 0 || tpc_pg_mask < 0 || tpc_pg_mask > TPC_MASK_MAX)
		return -1;
	left = rates->tpcs - __builtin_popcountll((unsigned long long)tpc_pg_mask);
	return left > 0 ? 2 * left : -1;
}

int precision_parse(const char *name)
{
	static const struct {
		const char *name;
		enum precision precision;
	} names[] = {
		{"fp32", PREC_FP32},	  {"float", PREC_FP32},	   {"fp16", PREC_FP16},
		{"half", PREC_FP16},	  {"tf32", PREC_TF32_TC},  {"tf32tc", PREC_TF32_TC},
		{"fp16tc", PREC_FP16_TC}, {"int8", PREC_INT8_TC},  {"int8tc", PREC_INT8_TC},
		{"fp8", PREC_FP8_TC},	  {"fp8tc", PREC_FP8_TC},  {"fp4", PREC_FP4_TC},
		{"fp4tc", PREC_FP4_TC},	  {"nvfp4", PREC_FP4_TC},  {"bf16tc", PREC_FP16_TC},
		{"fp16cuda", PREC_FP16},  {"fp32cuda", PREC_FP32},
	};
	char wanted[NAME_MAX_LEN];

	if (!squeeze(wanted, sizeof(wanted), name))
		return -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(wanted, names[i].name))
			return names[i].precision;
	}
	return -1;
}
