/* SPDX-License-Identifier: GPL-2.0-only */
/* The threads' records by slot: the scheduler object owns the map, the loader hands it to another. */
#ifndef __TEGRATRACE_RECORDS_H
#define __TEGRATRACE_RECORDS_H

#include "abi.h"

/* Sized by the loader: the number of slots. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tt_thread);
} threads SEC(".maps");

#endif /* __TEGRATRACE_RECORDS_H */
