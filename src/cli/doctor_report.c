/* SPDX-License-Identifier: GPL-2.0-only */
/* What doctor advises, and its two forms. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/text.h"
#include "cli/clocks.h"
#include "cli/doctor.h"
#include "cli/options.h"
#include "probe/machine/kernel_needs.h"
#include "report/output.h"
#include "report/text/lines.h"

/* What helps most comes first. */
static const struct remedy {
	const char *what;
	const char *command;
	const char *only_with; /* no use where the kernel surely lacks that option; NULL */
} remedies[] = {
	{"root", "sudo tegratrace doctor", NULL},
	{DOCTOR_CLOCKS_LEFT, CLOCKS_REMEDY, NULL},
	{"PID namespace", "docker run --pid=host --privileged ...", NULL},
	{"capabilities", "docker run --pid=host --privileged ...", NULL},
	{"tracefs", "sudo mount -t tracefs tracefs /sys/kernel/tracing", "EVENT_TRACING"},
	{"BPF JIT", "sudo sysctl net.core.bpf_jit_enable=1", "BPF_JIT"},
	{"kernel symbols", "sudo sysctl kernel.kptr_restrict=1", "KALLSYMS"},
};

#define REMEDIES (sizeof(remedies) / sizeof(remedies[0]))

static bool is_rung(const struct doctor_check *check)
{
	return !strncmp(check->finding.what, "rung ", 5);
}

/* What to build into the kernel, run in its source; empty when it is not known to lack anything. */
static void advise_rebuild(const struct kernel_config *config, struct doctor_check *check)
{
	const char *lacking[KERNEL_OPTIONS_MAX];
	size_t n = kernel_needs_lacking(config, check->finding.what, lacking, KERNEL_OPTIONS_MAX);

	for (size_t i = 0; i < n; i++)
		text_appendf(check->remedy, sizeof(check->remedy), "%s -e %s",
			     i ? "" : "scripts/config", kernel_option_setting(lacking[i]));
	if (n)
		text_appendf(check->remedy, sizeof(check->remedy),
			     " in the kernel's source, then build and boot it");
}

/* Programs load and only the type data for them is missing: the kernel's headers have it too. */
static void advise_type_data(const struct doctor *doctor, struct doctor_check *check)
{
	const char *kernel = doctor->host.kernel;
	char path[192];

	snprintf(path, sizeof(path), "/lib/modules/%s/build/include/generated/autoconf.h", kernel);
	if (!access(path, F_OK))
		snprintf(check->remedy, sizeof(check->remedy),
			 "sudo tegratrace-make-btf kernel.btf && sudo tegratrace doctor --btf "
			 "kernel.btf");
	else if (strstr(kernel, "-rt-tegra"))
		snprintf(check->remedy, sizeof(check->remedy),
			 "sudo apt install gcc dwarves nvidia-l4t-rt-kernel-headers");
	else if (strstr(kernel, "-tegra"))
		snprintf(check->remedy, sizeof(check->remedy),
			 "sudo apt install gcc dwarves nvidia-l4t-kernel-headers");
	else
		snprintf(check->remedy, sizeof(check->remedy),
			 "sudo apt install gcc dwarves linux-headers-%s", kernel);
}

static struct doctor_check *find_check(struct doctor *doctor, const char *what)
{
	for (int i = 0; i < doctor->n; i++) {
		if (!strcmp(doctor->checks[i].finding.what, what))
			return &doctor->checks[i];
	}
	return NULL;
}

static bool wants_type_data(struct doctor *doctor)
{
	const struct doctor_check *btf = find_check(doctor, "rung btf");
	const struct doctor_check *raw = find_check(doctor, "rung raw");
	const struct doctor_check *tracepoint = find_check(doctor, "rung tracepoint");

	return btf && raw && tracepoint && tracepoint->finding.ok && !btf->finding.ok &&
	       !raw->finding.ok;
}

static void advise_modprobe(const struct doctor *doctor, struct doctor_check *check)
{
	static const char *const endings[] = {"", ".xz", ".zst", ".gz"};
	char path[192];

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		snprintf(path, sizeof(path), "/lib/modules/%s/kernel/kernel/configs.ko%s",
			 doctor->host.kernel, endings[i]);
		if (!access(path, F_OK))
			snprintf(check->remedy, sizeof(check->remedy), "sudo modprobe configs");
	}
}

void doctor_advise(struct doctor *doctor)
{
	size_t best = REMEDIES;
	bool some_rung = false;

	for (int i = 0; i < doctor->n; i++) {
		struct doctor_check *check = &doctor->checks[i];

		some_rung |= is_rung(check) && check->finding.ok;
		if (check->finding.ok)
			continue;
		if (!strcmp(check->finding.what, "kernel configuration"))
			advise_modprobe(doctor, check);
		for (size_t j = 0; j < REMEDIES; j++) {
			const struct remedy *remedy = &remedies[j];

			if (strcmp(check->finding.what, remedy->what) != 0 ||
			    (remedy->only_with &&
			     kernel_config_get(&doctor->config, remedy->only_with) ==
				     CONFIG_VALUE_OFF))
				continue;
			snprintf(check->remedy, sizeof(check->remedy), "%s", remedy->command);
			if (j < best) {
				best = j;
				doctor->next = check;
			}
		}
	}
	if (wants_type_data(doctor)) {
		struct doctor_check *raw = find_check(doctor, "rung raw");

		advise_type_data(doctor, raw);
		if (best >= REMEDIES)
			doctor->next = raw;
	}
	/* Building a kernel is the last resort, for who can trace nothing without. */
	for (int i = 0; i < doctor->n && !some_rung; i++) {
		if (!is_rung(&doctor->checks[i]))
			continue;
		advise_rebuild(&doctor->config, &doctor->checks[i]);
		if (*doctor->checks[i].remedy && best >= REMEDIES)
			doctor->next = &doctor->checks[i];
	}
}

static void add_check(struct lines *lines, const struct kernel_config *config,
		      const struct doctor_check *check)
{
	static const char indent[] = "                                  ";
	const char *lacking[KERNEL_OPTIONS_MAX];
	char first[64], text[160];
	size_t n = 0;

	snprintf(first, sizeof(first), "  %-4s %-26s ", check->finding.ok ? "ok" : "no",
		 check->finding.what);
	lines_wrap(lines, first, indent, check->finding.text, 6);
	if (!check->finding.ok)
		n = kernel_needs_lacking(config, check->finding.what, lacking, KERNEL_OPTIONS_MAX);
	for (size_t i = 0; i < n; i++) {
		kernel_option_explain(config, lacking[i], text, sizeof(text));
		lines_wrap(lines, indent, indent, text, 2);
	}
}

static int finish(int err)
{
	int late = output_finish(stdout);

	if (!err)
		err = late;
	if (!err)
		return EXIT_OK;
	msg_error("cannot write to standard output: %s", strerror(-err));
	return EXIT_RUN;
}

int doctor_print_text(const struct doctor *doctor)
{
	struct lines lines = {0};
	char text[256];
	int err;

	lines_addf(&lines, "kernel %s %s, %d CPUs, board %s", doctor->host.kernel,
		   doctor->host.arch, doctor->host.cpus,
		   *doctor->host.module ? doctor->host.module : "unknown (no device tree)");
	for (int i = 0; i < doctor->n; i++)
		add_check(&lines, &doctor->config, &doctor->checks[i]);
	if (doctor->next) {
		snprintf(text, sizeof(text), "%s   (%s)", doctor->next->remedy,
			 doctor->next->finding.what);
		lines_wrap(&lines, "next: ", "      ", text, 4);
	}
	err = lines_write(stdout, &lines, false);
	lines_free(&lines);
	return finish(err);
}

static const char *value_name(enum config_value value)
{
	switch (value) {
	case CONFIG_VALUE_ON:
		return "y";
	case CONFIG_VALUE_MODULE:
		return "m";
	case CONFIG_VALUE_OFF:
		return "n";
	case CONFIG_VALUE_UNKNOWN:
		break;
	}
	return NULL;
}

static json_t *config_json(const struct kernel_config *config)
{
	const char *all[2 * KERNEL_OPTIONS_MAX];
	size_t n = kernel_needs_all(all, sizeof(all) / sizeof(all[0]));
	json_t *options = json_object();
	char name[64];

	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "CONFIG_%s", all[i]);
		json_object_set_new(options, name,
				    json_pack("s?", value_name(kernel_config_get(config, all[i]))));
	}
	return json_pack("{s:s?,s:b,s:o}", "source", config->text ? config->source : NULL, "whole",
			 config->whole, "options", options);
}

static json_t *events_json(const struct doctor_check *check)
{
	json_t *events = json_object();

	for (int i = 0; i < TRACEPOINTS_MAX && check->tracepoints->events[i]; i++)
		json_object_set_new(events, check->tracepoints->events[i],
				    json_boolean(check->there[i]));
	return events;
}

static json_t *check_json(const struct kernel_config *config, const struct doctor_check *check)
{
	const char *options[KERNEL_OPTIONS_MAX];
	json_t *lacking = json_array(), *object;
	char text[96];
	size_t n = 0;

	if (!check->finding.ok)
		n = kernel_needs_lacking(config, check->finding.what, options, KERNEL_OPTIONS_MAX);
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "CONFIG_%s", options[i]);
		json_array_append_new(lacking, json_string(text));
	}
	object = json_pack("{s:s,s:b,s:s,s:o,s:s?}", "what", check->finding.what, "ok",
			   check->finding.ok, "text", check->finding.text, "lacking", lacking,
			   "remedy", *check->remedy ? check->remedy : NULL);
	if (check->tracepoints)
		json_object_set_new(object, "events", events_json(check));
	return object;
}

int doctor_print_json(const struct doctor *doctor)
{
	const struct host_info *host = &doctor->host;
	json_t *checks = json_array(), *object;
	int err;

	for (int i = 0; i < doctor->n; i++)
		json_array_append_new(checks, check_json(&doctor->config, &doctor->checks[i]));
	object = json_pack(
		"{s:s,s:{s:s,s:s,s:i,s:s?},s:o,s:o,s:s?}", "schema", "tegratrace-doctor/1", "host",
		"kernel", host->kernel, "arch", host->arch, "cpus", host->cpus, "module",
		*host->module ? host->module : NULL, "kernel_config", config_json(&doctor->config),
		"checks", checks, "next", doctor->next ? doctor->next->remedy : NULL);
	err = !object ? -ENOMEM : json_dumpf(object, stdout, JSON_COMPACT) ? -EIO : 0;
	putchar('\n');
	json_decref(object);
	return finish(err);
}
