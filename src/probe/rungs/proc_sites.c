/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/proc_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct proc_sites {
	struct sleep_site *sites[PROC_SITES];
	int n;
};

struct proc_sites *proc_sites_new(void)
{
	return calloc(1, sizeof(struct proc_sites));
}

void proc_sites_free(struct proc_sites *sites)
{
	if (!sites)
		return;
	for (int i = 0; i < sites->n; i++)
		free(sites->sites[i]);
	free(sites);
}

/* Arguments beyond the third tell no place from another (wait_rules.h). */
static bool same(const struct sleep_site *a, const struct sleep_site *b)
{
	if (a->syscall != b->syscall || a->args_known != b->args_known ||
	    a->nframes != b->nframes || memcmp(a->args, b->args, 3 * sizeof(a->args[0])))
		return false;
	for (int i = 0; i < a->nframes; i++) {
		if (strcmp(a->frames[i], b->frames[i]))
			return false;
	}
	return true;
}

static void copy(struct sleep_site *to, const struct sleep_site *from)
{
	*to = *from;
	for (int i = 0; i < to->nframes; i++)
		to->frames[i] = to->text + (from->frames[i] - from->text);
}

__u64 proc_sites_add(struct proc_sites *sites, const struct sleep_site *site)
{
	struct sleep_site *kept;

	if (site->syscall == WAIT_SYSCALL_UNKNOWN && !site->nframes)
		return 0;
	for (int i = 0; i < sites->n; i++) {
		if (same(sites->sites[i], site))
			return (__u64)i + 1;
	}
	if (sites->n == PROC_SITES)
		return 0;
	kept = malloc(sizeof(*kept));
	if (!kept)
		return 0;
	copy(kept, site);
	sites->sites[sites->n++] = kept;
	return (__u64)sites->n;
}

int proc_sites_get(const struct proc_sites *sites, __u64 key, struct sleep_site *site)
{
	if (!key || key > (__u64)sites->n)
		return -ENOENT;
	copy(site, sites->sites[key - 1]);
	return 0;
}
