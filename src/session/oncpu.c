/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/oncpu.h"

#include "session/session.h"

const char *oncpu_kind_name(enum oncpu_kind kind)
{
	static const char *const names[ONCPU_KINDS] = {
		[ONCPU_WORK] = "work",
		[ONCPU_GPU_SPIN] = "gpu-spin",
		[ONCPU_SPIN] = "spin",
	};

	return (unsigned int)kind < ONCPU_KINDS ? names[kind] : "?";
}

void oncpu_samples_init(struct oncpu_samples *samples)
{
	*samples =
		(struct oncpu_samples){UNKNOWN_COUNT, UNKNOWN_COUNT, UNKNOWN_COUNT, UNKNOWN_COUNT};
}
