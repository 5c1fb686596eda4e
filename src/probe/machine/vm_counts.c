/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/machine/vm_counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/text_file.h"
#include "session/session.h"

#define VMSTAT_SIZE 16384

/*
 * Lines of /proc/vmstat that are added up. Kernels before 4.8 count reclaim by zone, and so do all
 * count stalls since 4.10; a throttled scan is no scan. Before 5.9 only files had refaults.
 */
struct counter {
	const char *names[8];
	enum { COUNT, KIB, PAGES } unit;
};

static const struct counter counters[VM_EVENTS] = {
	[VM_FAULTS] = {{"pgfault"}, COUNT},
	[VM_MAJOR_FAULTS] = {{"pgmajfault"}, COUNT},
	[VM_PAGED_IN_BYTES] = {{"pgpgin"}, KIB},
	[VM_PAGED_OUT_BYTES] = {{"pgpgout"}, KIB},
	[VM_SWAPPED_IN_BYTES] = {{"pswpin"}, PAGES},
	[VM_SWAPPED_OUT_BYTES] = {{"pswpout"}, PAGES},
	[VM_ALLOCATION_STALLS] = {{"allocstall", "allocstall_dma", "allocstall_dma32",
				   "allocstall_normal", "allocstall_high", "allocstall_movable",
				   "allocstall_device"},
				  COUNT},
	[VM_DIRECT_SCANNED] = {{"pgscan_direct", "pgscan_direct_dma", "pgscan_direct_dma32",
				"pgscan_direct_normal", "pgscan_direct_high",
				"pgscan_direct_movable"},
			       COUNT},
	[VM_DIRECT_RECLAIMED] = {{"pgsteal_direct", "pgsteal_direct_dma", "pgsteal_direct_dma32",
				  "pgsteal_direct_normal", "pgsteal_direct_high",
				  "pgsteal_direct_movable"},
				 COUNT},
	[VM_KSWAPD_SCANNED] = {{"pgscan_kswapd", "pgscan_kswapd_dma", "pgscan_kswapd_dma32",
				"pgscan_kswapd_normal", "pgscan_kswapd_high",
				"pgscan_kswapd_movable"},
			       COUNT},
	[VM_REFAULTS_FILE] = {{"workingset_refault_file", "workingset_refault"}, COUNT},
	[VM_REFAULTS_ANON] = {{"workingset_refault_anon"}, COUNT},
};

static int64_t scaled(int64_t value, int64_t unit)
{
	return value < 0 || value > INT64_MAX / unit ? UNKNOWN_COUNT : value * unit;
}

static int64_t sum_of(const char *text, const struct counter *counter, int64_t page_bytes)
{
	int64_t sum = UNKNOWN_COUNT;

	for (size_t i = 0; i < sizeof(counter->names) / sizeof(counter->names[0]); i++) {
		int64_t value = counter->names[i] ? text_keyed(text, counter->names[i]) : -1;

		if (value < 0)
			continue;
		if (sum == UNKNOWN_COUNT)
			sum = value;
		else if (__builtin_add_overflow(sum, value, &sum))
			return UNKNOWN_COUNT;
	}
	return scaled(sum, counter->unit == PAGES ? page_bytes : counter->unit == KIB ? 1024 : 1);
}

int vm_counts_read(const char *root, int64_t count[VM_EVENTS])
{
	char text[VMSTAT_SIZE];
	ssize_t n = text_file_read(text, sizeof(text), "%s/proc/vmstat", root);

	for (int i = 0; i < VM_EVENTS; i++)
		count[i] = sum_of(text, &counters[i], sysconf(_SC_PAGESIZE));
	return n < 0 ? (int)n : 0;
}

void vm_memory_read(const char *root, int64_t *total_bytes, int64_t *available_bytes)
{
	char text[4096];

	text_file_read(text, sizeof(text), "%s/proc/meminfo", root);
	*total_bytes = scaled(text_keyed(text, "MemTotal"), 1024);
	*available_bytes = scaled(text_keyed(text, "MemAvailable"), 1024);
}

static enum swap_kind kind_of(const char *name, const char *type)
{
	const char *base = strrchr(name, '/');

	if (!strncmp(base ? base + 1 : name, "zram", 4))
		return SWAP_ZRAM;
	return strcmp(type, "file") ? SWAP_DISK : SWAP_FILE;
}

int vm_swaps_read(const char *root, struct swap_device *swaps)
{
	char text[4096], name[256], type[32];
	const char *line = text;
	int n = 0;

	if (text_file_read(text, sizeof(text), "%s/proc/swaps", root) < 0)
		return -1;
	while (n < PRESSURE_SWAPS && (line = strchr(line, '\n'))) {
		struct swap_device *swap = &swaps[n];
		int64_t size_kib, used_kib;

		line++;
		if (sscanf(line, "%255s %31s %18" SCNd64 " %18" SCNd64, name, type, &size_kib,
			   &used_kib) != 4)
			continue;
		text_sanitize(swap->name, sizeof(swap->name), name, strlen(name));
		swap->kind = kind_of(name, type);
		swap->size_bytes = scaled(size_kib, 1024);
		swap->used_bytes = scaled(used_kib, 1024);
		n++;
	}
	return n;
}
