/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/machine/kernel_needs.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NEEDS_MAX    4

static const struct {
	const char *what;
	const char *options[NEEDS_MAX];
} needs[] = {
	{"rung btf", {"BPF_SYSCALL", "BPF_EVENTS", "DEBUG_INFO_BTF"}},
	{"rung raw", {"BPF_SYSCALL", "BPF_EVENTS"}},
	{"rung tracepoint", {"BPF_SYSCALL", "BPF_EVENTS", "EVENT_TRACING"}},
	{"rung perf", {"PERF_EVENTS", "EVENT_TRACING"}},
	{"rung proc", {"SCHED_INFO"}},
	{"kernel type data (BTF)", {"DEBUG_INFO_BTF"}},
	{"tracefs", {"EVENT_TRACING"}},
	{"scheduler tracepoints", {"EVENT_TRACING"}},
	{"interrupt tracepoints", {"EVENT_TRACING"}},
	{"timer tracepoints", {"EVENT_TRACING"}},
	{"freezer tracepoint", {"EVENT_TRACING", "CGROUPS"}},
	{"block tracepoints", {"EVENT_TRACING", "BLOCK"}},
	{"perf events", {"PERF_EVENTS"}},
	{"uprobes", {"PERF_EVENTS", "UPROBE_EVENTS"}},
	{"BPF JIT", {"BPF_JIT"}},
	{"kernel symbols", {"KALLSYMS"}},
	{"schedstat", {"SCHED_INFO"}},
	{"delay accounting", {"TASK_DELAY_ACCT"}},
	{"pressure stall information", {"PSI"}},
	{"kernel configuration", {"IKCONFIG", "IKCONFIG_PROC"}},
};

/* Options that nobody can set by themselves, or not always. */
static const struct {
	const char *option, *comes_with, *prevented_by;
} relations[] = {
	/* default y where there are uprobe or kprobe events: kernel/trace/Kconfig */
	{"BPF_EVENTS", "UPROBE_EVENTS", NULL},
	/* needs whole type data: lib/Kconfig.debug */
	{"DEBUG_INFO_BTF", NULL, "DEBUG_INFO_REDUCED"},
	{"EVENT_TRACING", "FTRACE", NULL},
	/* selected by either of SCHEDSTATS and TASK_DELAY_ACCT */
	{"SCHED_INFO", "SCHEDSTATS", NULL},
};

static size_t add_once(const char **options, size_t n, size_t max, const char *option)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(options[i], option))
			return n;
	}
	if (n < max)
		options[n++] = option;
	return n;
}

size_t kernel_needs(const char *what, const char **options, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < COUNT(needs); i++) {
		for (size_t j = 0; j < NEEDS_MAX && needs[i].options[j]; j++) {
			if (!strcmp(needs[i].what, what))
				n = add_once(options, n, max, needs[i].options[j]);
		}
	}
	return n;
}

size_t kernel_needs_lacking(const struct kernel_config *config, const char *what,
			    const char **options, size_t max)
{
	size_t n = kernel_needs(what, options, max), lacking = 0;

	for (size_t i = 0; i < n; i++) {
		if (kernel_config_get(config, options[i]) == CONFIG_VALUE_OFF)
			options[lacking++] = options[i];
	}
	return lacking;
}

size_t kernel_needs_all(const char **options, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < COUNT(needs); i++) {
		for (size_t j = 0; j < NEEDS_MAX && needs[i].options[j]; j++)
			n = add_once(options, n, max, needs[i].options[j]);
	}
	for (size_t i = 0; i < COUNT(relations); i++) {
		if (relations[i].comes_with)
			n = add_once(options, n, max, relations[i].comes_with);
		if (relations[i].prevented_by)
			n = add_once(options, n, max, relations[i].prevented_by);
	}
	return n;
}

void kernel_option_explain(const struct kernel_config *config, const char *option, char *text,
			   size_t size)
{
	snprintf(text, size, "CONFIG_%s is off", option);
	for (size_t i = 0; i < COUNT(relations); i++) {
		const char *with = relations[i].comes_with, *by = relations[i].prevented_by;

		if (strcmp(relations[i].option, option) != 0)
			continue;
		if (with)
			snprintf(text, size, "CONFIG_%s is off (it comes with CONFIG_%s)", option,
				 with);
		else if (kernel_config_get(config, by) == CONFIG_VALUE_ON)
			snprintf(text, size, "CONFIG_%s is off (it cannot be with CONFIG_%s)",
				 option, by);
	}
}

const char *kernel_option_setting(const char *option)
{
	for (size_t i = 0; i < COUNT(relations); i++) {
		if (!strcmp(relations[i].option, option) && relations[i].comes_with)
			return relations[i].comes_with;
	}
	return option;
}
