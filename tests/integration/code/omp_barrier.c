/* SPDX-License-Identifier: GPL-2.0-only */
/* The master works between barriers; the other threads of the team have nothing to do but to wait. */
#include <stdint.h>

void tt_stage(int first, int second);

static __attribute__((noinline)) void master_work(void)
{
	for (volatile int i = 0; i < 4000037; i++)
		;
}

void tt_stage(int first, int second)
{
#pragma omp parallel num_threads(2)
	{
		for (int i = 0; i < first + second; i++) {
#pragma omp master
			master_work();
#pragma omp barrier
		}
	}
}
