/* SPDX-License-Identifier: GPL-2.0-only */
/* tegratrace doctor: what this machine can measure, what is missing, why, and what would help. */
#ifndef TEGRATRACE_DOCTOR_H
#define TEGRATRACE_DOCTOR_H

#include "probe/machine/environment.h"
#include "probe/machine/kernel_config.h"
#include "probe/machine/kernel_features.h"
#include "tegra/sysfs.h"

/* Arguments and status of a main(): EXIT_OK when some rung works. */
int doctor_command(int argc, char **argv);

/* The rest is shared by doctor*.c only. */

#define DOCTOR_CLOCKS_LEFT "clocks"

struct doctor_check {
	struct finding finding;
	const struct tracepoint_set *tracepoints; /* NULL: none */
	bool there[TRACEPOINTS_MAX];
	char remedy[160]; /* a command; empty when there is none, or no need */
};

#define DOCTOR_CHECKS (9 + SYSFS_QUANTITIES + FINDINGS + KERNEL_FEATURES + 8)

struct doctor {
	struct host_info host;
	struct kernel_config config;
	struct doctor_check checks[DOCTOR_CHECKS];
	int n;
	const struct doctor_check *next; /* the one whose remedy helps most; NULL */
};

/* Fills the remedies and chooses the next. */
void doctor_advise(struct doctor *doctor);

/* Both return EXIT_OK or EXIT_RUN. */
int doctor_print_text(const struct doctor *doctor);
int doctor_print_json(const struct doctor *doctor);

#endif
