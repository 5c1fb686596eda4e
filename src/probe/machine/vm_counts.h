/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory, paging and swap of the whole machine, from /proc below a root, "" in use. */
#ifndef TEGRATRACE_VM_COUNTS_H
#define TEGRATRACE_VM_COUNTS_H

#include "session/pressure.h"

/* Since boot. Unknown what this kernel does not count; returns 0 or -errno. */
int vm_counts_read(const char *root, int64_t count[VM_EVENTS]);

/* Bytes; unknown when it cannot be read, as MemAvailable before Linux 3.14. */
void vm_memory_read(const char *root, int64_t *total_bytes, int64_t *available_bytes);

/* At most PRESSURE_SWAPS; their number, or -1 when /proc/swaps cannot be read. */
int vm_swaps_read(const char *root, struct swap_device *swaps);

#endif
