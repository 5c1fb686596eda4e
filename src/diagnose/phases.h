/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Start-up, warm-up, steady and tail of a run, told apart by what the board did. Pure: reads a
 * series of samples only.
 */
#ifndef TEGRATRACE_PHASES_H
#define TEGRATRACE_PHASES_H

#include "session/session.h"

enum phase_kind {
	PHASE_IDLE,    /* neither the GPU nor the CPUs do anything */
	PHASE_WORK,    /* something is done, the GPU is not filled */
	PHASE_GPU,     /* the GPU is filled */
	PHASE_WARM_UP, /* the GPU clock has not come up yet */
};

struct phase {
	enum phase_kind kind;
	size_t from, to; /* points [from, to) of the series */
};

#define PHASES_MAX 24

struct phases {
	struct phase phase[PHASES_MAX];
	int n;
	int steady; /* index of the phase that the headline is about; -1 when all is idle */
};

/*
 * No phase goes over the restart of tegrastats, as long as there is room for them.
 *
 * `gpu_full_mhz`: the largest clock of this GPU, NAN unknown; a busy share at a fraction of that
 * clock is that fraction of the work.
 */
void phases_find(const struct tegra_series *series, double gpu_full_mhz, struct phases *phases);

#endif
