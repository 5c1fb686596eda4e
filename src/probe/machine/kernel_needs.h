/* SPDX-License-Identifier: GPL-2.0-only */
/* What has to be in a kernel's configuration for each thing that doctor looks at. */
#ifndef TEGRATRACE_KERNEL_NEEDS_H
#define TEGRATRACE_KERNEL_NEEDS_H

#include <stddef.h>

#include "probe/machine/kernel_config.h"

#define KERNEL_OPTIONS_MAX 16

/* The options behind a finding's `what`, without CONFIG_; returns how many, at most `max`. */
size_t kernel_needs(const char *what, const char **options, size_t max);

/* Those of them that this kernel surely lacks. */
size_t kernel_needs_lacking(const struct kernel_config *config, const char *what,
			    const char **options, size_t max);

/* Every option of the table once. */
size_t kernel_needs_all(const char **options, size_t max);

/*
 * "CONFIG_BPF_EVENTS is off (it comes with CONFIG_UPROBE_EVENTS)": an option that is lacking, and
 * how it is had, or why it cannot be.
 */
void kernel_option_explain(const struct kernel_config *config, const char *option, char *text,
			   size_t size);

/* What to set in a kernel's source to get it: itself, or what it follows from. */
const char *kernel_option_setting(const char *option);

#endif
