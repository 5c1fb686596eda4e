/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of the CUDA driver library that are probed, and what each does to its caller. */
#ifndef TEGRATRACE_CUDA_CALLS_H
#define TEGRATRACE_CUDA_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "cuda_abi.h"

struct cuda_call {
	const char *symbol;
	enum tt_cuda_kind kind;
	int bytes_argument; /* which argument counts bytes, from 1; 0 = none does */
};

/* The table, ordered by kind; its length in *n. */
const struct cuda_call *cuda_calls(size_t *n);

/* The entry program in bpf/cuda.bpf.c for a call: "copy_async_3". */
void cuda_call_program(const struct cuda_call *call, char *name, size_t size);

/* The kinds that the mode "sync" leaves out. */
bool cuda_kind_is_work(enum tt_cuda_kind kind);

#endif
