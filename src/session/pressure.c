/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/pressure.h"

#include <stdlib.h>
#include <string.h>

#include "session/session.h"

const char *stall_resource_name(enum stall_resource resource)
{
	static const char *const names[STALL_RESOURCES] = {
		[STALL_CPU] = "cpu",
		[STALL_MEMORY] = "memory",
		[STALL_IO] = "io",
	};

	return names[resource];
}

const char *vm_event_name(enum vm_event event)
{
	static const char *const names[VM_EVENTS] = {
		[VM_FAULTS] = "faults",
		[VM_MAJOR_FAULTS] = "major_faults",
		[VM_PAGED_IN_BYTES] = "paged_in_bytes",
		[VM_PAGED_OUT_BYTES] = "paged_out_bytes",
		[VM_SWAPPED_IN_BYTES] = "swapped_in_bytes",
		[VM_SWAPPED_OUT_BYTES] = "swapped_out_bytes",
		[VM_ALLOCATION_STALLS] = "allocation_stalls",
		[VM_DIRECT_SCANNED] = "direct_scanned",
		[VM_DIRECT_RECLAIMED] = "direct_reclaimed",
		[VM_KSWAPD_SCANNED] = "kswapd_scanned",
		[VM_REFAULTS_FILE] = "refaults_file",
		[VM_REFAULTS_ANON] = "refaults_anon",
	};

	return names[event];
}

const char *swap_kind_name(enum swap_kind kind)
{
	static const char *const names[] = {
		[SWAP_ZRAM] = "zram",
		[SWAP_DISK] = "disk",
		[SWAP_FILE] = "file",
	};

	return names[kind];
}

void pressure_init(struct pressure *pressure)
{
	memset(pressure, 0, sizeof(*pressure));
	for (int i = 0; i < STALL_RESOURCES; i++)
		pressure->stalls[i] = (struct stall){UNKNOWN_NS, UNKNOWN_NS};
	for (int i = 0; i < VM_EVENTS; i++)
		pressure->vm[i] = UNKNOWN_COUNT;
	pressure->total_bytes = pressure->available_min_bytes = UNKNOWN_COUNT;
	pressure->nswaps = pressure->nquotas = pressure->nlimits = -1;
	pressure->rt_runtime_us = pressure->rt_period_us = UNKNOWN_COUNT;
}

void pressure_free(struct pressure *pressure)
{
	free(pressure->series);
	pressure_init(pressure);
}

double cpu_quota_throttled(const struct cpu_quota *quota)
{
	if (quota->periods <= 0 || quota->throttled_periods < 0)
		return NAN;
	return (double)quota->throttled_periods / (double)quota->periods;
}
