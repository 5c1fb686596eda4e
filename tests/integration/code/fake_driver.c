/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands in for the CUDA driver: one call that spins until a time, one that works. No names inside. */
#include <stdint.h>
#include <time.h>

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static __attribute__((noinline)) void until(uint64_t end)
{
	while (now() < end)
		for (volatile int i = 0; i < 4001; i++)
			;
}

void tt_stage(int first, int second);

int cuStreamSynchronize(void *stream);
int cuLaunchKernel(void *function);

int cuStreamSynchronize(void *stream)
{
	(void)stream;
	until(now() + 2000000);
	return 0;
}

__attribute__((noinline)) int cuLaunchKernel(void *function)
{
	(void)function;
	for (volatile int i = 0; i < 200003; i++)
		;
	return 0;
}

void tt_stage(int first, int second)
{
	for (int i = 0; i < first; i++)
		cuStreamSynchronize(0);
	for (int i = 0; i < second; i++)
		cuLaunchKernel(0);
}
