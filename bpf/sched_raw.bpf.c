/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rung raw: the programs of rung btf on raw tracepoints, for kernels without type data of their own
 * where a BTF file has it (--btf).
 */
#define TT_RAW
#include "sched_btf.bpf.c"
#include "self_check.h"
