/* SPDX-License-Identifier: GPL-2.0-only */
/* Module, release and memory from the EEPROM, the device tree and /etc. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tegra/board_parts.h"
#include "tegra/sysfs.h"

#define PNUMBER_LEN	10 /* p0000-0000 */
#define COMPATIBLE_SIZE 1024

/*
 * The module's EEPROM is at 0x50 of one of these buses. Its part number, "699-13767-0005-300 R.1",
 * has the board number behind the first dash and one digit, then the SKU (jetson_stats).
 */
#define EEPROM_SIZE  256
#define PART_AT	     20
#define PART_LEN     28
#define PART_PNUMBER 5

/* A P-number at the start of text, as a string; false when there is none. */
static bool take_pnumber(char pnumber[PNUMBER_LEN + 1], const char *text)
{
	static const char form[] = "p0000-0000";

	for (int i = 0; i < PNUMBER_LEN; i++) {
		if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
			return false;
	}
	memcpy(pnumber, text, PNUMBER_LEN);
	pnumber[PNUMBER_LEN] = '\0';
	return true;
}

/* Whether the first is a better answer: one that the table knows, else the first found. */
static void offer_pnumber(struct board_parts *parts, const char *pnumber)
{
	char *have = parts->info->pnumber;

	if (parts->from_eeprom)
		return;
	if (*have && (module_by_pnumber(have, false) || !module_by_pnumber(pnumber, false)))
		return;
	text_copy(have, sizeof(parts->info->pnumber), pnumber);
}

static bool take_part_number(struct board_parts *parts, const char *part)
{
	static const char form[] = "000-00000-0000";
	char pnumber[PNUMBER_LEN + 1] = "p";

	for (size_t i = 0; form[i]; i++) {
		if (form[i] == '0' ? !isdigit((unsigned char)part[i]) : part[i] != form[i])
			return false;
	}
	memcpy(pnumber + 1, part + PART_PNUMBER, PNUMBER_LEN - 1);
	text_copy(parts->info->pnumber, sizeof(parts->info->pnumber), pnumber);
	return true;
}

/* Only root can read it on most releases. Trees are shared by modules, the EEPROM is not. */
static void read_eeprom(struct board_parts *parts)
{
	static const int buses[] = {0, 1, 2, 7};
	char bytes[EEPROM_SIZE + 1];

	for (size_t i = 0; i < sizeof(buses) / sizeof(buses[0]) && !parts->from_eeprom; i++) {
		int n = sysfs_read_text(bytes, sizeof(bytes), "/sys/bus/i2c/devices/%d-0050/eeprom",
					buses[i]);

		parts->from_eeprom =
			n >= PART_AT + PART_LEN && take_part_number(parts, bytes + PART_AT);
	}
}

/* "nvidia,p3768-0000+p3767-0005-super": carrier board + module. */
static void take_compatible(struct board_parts *parts, const char *entry)
{
	const char *plus = strchr(entry, '+');
	char pnumber[PNUMBER_LEN + 1];

	if (strncmp(entry, "nvidia,", 7))
		return;
	if (!strncmp(entry, "nvidia,tegra", 12) && !*parts->info->soc) {
		text_sanitize(parts->info->soc, sizeof(parts->info->soc), entry + 7,
			      strlen(entry + 7));
		parts->soc = soc_by_name(entry);
	}
	if (take_pnumber(pnumber, plus ? plus + 1 : entry + 7))
		offer_pnumber(parts, pnumber);
}

static void read_compatible(struct board_parts *parts)
{
	static const char super[] = "-super";
	char text[COMPATIBLE_SIZE];
	int n = sysfs_read_text(text, sizeof(text), "/proc/device-tree/compatible");
	size_t len;

	if (n < 0)
		return;
	len = strlen(text);
	parts->super = len >= strlen(super) && !strcmp(text + len - strlen(super), super);
	for (const char *entry = text; entry < text + n; entry += strlen(entry) + 1)
		take_compatible(parts, entry);
}

/*
 * Up to R35 some trees name only the board in compatible ("nvidia,quill"): the source file of the
 * tree has the numbers, "tegra186-quill-p3310-1000-c03-00-base.dts".
 */
static void read_dts_name(struct board_parts *parts)
{
	char text[512], pnumber[PNUMBER_LEN + 1];

	if (module_by_pnumber(parts->info->pnumber, false) ||
	    sysfs_read_text(text, sizeof(text), "/proc/device-tree/nvidia,dtsfilename") < 0)
		return;
	for (const char *at = text; *at; at++) {
		if (take_pnumber(pnumber, at))
			offer_pnumber(parts, pnumber);
	}
}

static void read_model(struct board_info *info)
{
	char text[sizeof(info->model)];

	if (sysfs_read_text(text, sizeof(text), "/proc/device-tree/model") >= 0)
		text_sanitize(info->model, sizeof(info->model), text, strlen(text));
}

/* "# R36 (release), REVISION: 4.7, GCID: ..." */
static bool read_release_file(struct board_info *info)
{
	static const char revision[] = "REVISION: ";
	char text[512], release[16], minor[16] = "";
	const char *at;

	if (sysfs_read_text(text, sizeof(text), "/etc/nv_tegra_release") < 0 ||
	    sscanf(text, "# R%15[0-9]", release) != 1)
		return false;
	text[strcspn(text, "\n")] = '\0';
	at = strstr(text, revision);
	if (at)
		sscanf(at + strlen(revision), "%15[0-9.]", minor);
	snprintf(info->l4t, sizeof(info->l4t), "R%.8s%s%.12s", release, *minor ? "." : "", minor);
	return true;
}

/* The package that brings the file: "Version: 36.4.7-20250918154033". */
static void read_release_package(struct board_info *info)
{
	const char *root = getenv("TEGRATRACE_ROOT");
	char path[4096], line[256], version[16];
	bool inside = false;
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/var/lib/dpkg/status", root ? root : "") >=
	    (int)sizeof(path))
		return;
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "Package: ", 9))
			inside = !strcmp(line, "Package: nvidia-l4t-core\n");
		else if (inside && sscanf(line, "Version: %15[0-9.]", version) == 1)
			snprintf(info->l4t, sizeof(info->l4t), "R%s", version);
	}
	fclose(file);
}

static void read_memory(struct board_info *info)
{
	char text[512];
	const char *at;
	uint64_t kb;

	if (sysfs_read_text(text, sizeof(text), "/proc/meminfo") < 0)
		return;
	at = strstr(text, "MemTotal:");
	if (at && sscanf(at, "MemTotal: %12" SCNu64 " kB", &kb) == 1 && kb)
		info->ram_mb = (double)kb / 1024;
}

void board_read_identity(struct board_parts *parts)
{
	struct board_info *info = parts->info;

	read_model(info);
	read_eeprom(parts);
	read_compatible(parts);
	read_dts_name(parts);
	if (!read_release_file(info) && *info->soc)
		read_release_package(info);
	read_memory(info);
}

/* A module of 8 GB shows 6.7-7.6 GiB: firmware and carve-outs take up to a sixth. */
#define RAM_SHARE_MIN 0.7
#define RAM_SHARE_MAX 1.02

static bool differs(double read, double table)
{
	return fabs(read - table) > CLOCK_TOLERANCE * table;
}

/* Where the module and what was read disagree: a count, and the first reason. */
static int conflicts(const struct board_parts *parts, const struct module *module, char *why,
		     size_t size)
{
	const struct board_info *info = parts->info;
	const struct module_mode *max = module_mode_max(module);
	int sm = soc_active_sm(parts->soc, info->gpu.tpc_pg_mask), n = 0;
	double ram = info->ram_mb / 1024 / module->ram_gb;

	*why = '\0';
	if (parts->soc != SOC_UNKNOWN && parts->soc != module->soc && !n++)
		text_appendf(why, size, "the SoC is %s", info->soc);
	if ((ram < RAM_SHARE_MIN || ram > RAM_SHARE_MAX) && !n++)
		text_appendf(why, size, "MemTotal is %.1f GiB, the module has %d",
			     info->ram_mb / 1024, module->ram_gb);
	if (info->cpu.present > 0 && info->cpu.present != module->cpus && !n++)
		text_appendf(why, size, "%d CPUs are present, the module has %d", info->cpu.present,
			     module->cpus);
	if (differs(info->gpu.hw_max_mhz, max->gpu_mhz) && !n++)
		text_appendf(why, size, "the GPU goes to %.0f MHz, the module's to %.0f",
			     info->gpu.hw_max_mhz, max->gpu_mhz);
	if (sm > module->sm && !n++)
		text_appendf(why, size, "tpc_pg_mask leaves %d SMs, the module has %d", sm,
			     module->sm);
	if (differs(info->emc.hw_max_mhz, max->emc_mhz) && !n++)
		text_appendf(why, size, "the EMC goes to %.0f MHz, the module's to %.0f",
			     info->emc.hw_max_mhz, max->emc_mhz);
	return n;
}

/* Of the same board number (p3767), one that agrees in everything; NULL when none does. */
static const struct module *agreeing_sibling(const struct board_parts *parts)
{
	const struct module *modules;
	char why[BOARD_WHY_LEN];
	size_t n;

	modules = modules_all(&n);
	for (size_t i = 0; i < n; i++) {
		if (!strncmp(modules[i].pnumbers[0], parts->info->pnumber, strlen("p0000")) &&
		    !conflicts(parts, &modules[i], why, sizeof(why)))
			return &modules[i];
	}
	return NULL;
}

static void take_module(struct board_parts *parts, const struct module *module)
{
	parts->module = module;
	if (parts->soc == SOC_UNKNOWN)
		parts->soc = module->soc;
	text_copy(parts->info->module, sizeof(parts->info->module), module->name);
	parts->info->emc.bus_bits = module->bus_bits;
	parts->info->trips = module->trips;
	parts->info->gpu.sm_total = module->sm;
}

void board_choose_module(struct board_parts *parts)
{
	struct board_info *info = parts->info;
	const struct module *nominal, *sibling;
	char why[BOARD_WHY_LEN];

	nominal = *info->pnumber ? module_by_pnumber(info->pnumber, parts->super) : NULL;
	if (!nominal) {
		if (*info->pnumber)
			text_appendf(info->module_doubt, sizeof(info->module_doubt),
				     "%s is not in the module table", info->pnumber);
		else
			text_copy(info->module_doubt, sizeof(info->module_doubt),
				  "the device tree names no module");
		return;
	}
	if (!conflicts(parts, nominal, why, sizeof(why))) {
		info->module_certain = true;
		take_module(parts, nominal);
		return;
	}
	sibling = agreeing_sibling(parts);
	take_module(parts, sibling ? sibling : nominal);
	/* Modules that differ in memory size alone share a device tree (p2888 in R32). */
	info->module_certain = sibling && sibling->modes == nominal->modes;
	if (!info->module_certain)
		text_appendf(info->module_doubt, sizeof(info->module_doubt), "%s is a %s, but %s",
			     info->pnumber, nominal->name, why);
}
