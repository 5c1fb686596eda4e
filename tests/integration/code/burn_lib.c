/* SPDX-License-Identifier: GPL-2.0-only */
/* A library with functions that burn the same CPU time a call. With frame pointers. */
#include <stdint.h>

static inline __attribute__((always_inline)) void burn(void)
{
	uint64_t x = 88172645463325252ULL;

	/* Else a function that calls none has no frame, and its caller is not seen. */
	__asm__ volatile("" ::"r"(__builtin_frame_address(0)));
	for (int i = 0; i < 200003; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x));
	}
}

void tt_decode(void);
void tt_convert(void);

__attribute__((noinline)) void tt_decode(void)
{
	burn();
}

__attribute__((noinline)) void tt_convert(void)
{
	burn();
}

/* As in a pipeline: who calls what. The empty statement keeps the call from becoming a jump. */
void tt_stage(int first, int second);

__attribute__((noinline)) void tt_stage(int first, int second)
{
	for (int i = 0; i < first; i++) {
		tt_decode();
		__asm__ volatile("");
	}
	for (int i = 0; i < second; i++) {
		tt_convert();
		__asm__ volatile("");
	}
}
