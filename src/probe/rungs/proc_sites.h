/* SPDX-License-Identifier: GPL-2.0-only */
/* The places where polled threads were seen asleep, each kept once. Private to src/probe. */
#ifndef TEGRATRACE_PROC_SITES_H
#define TEGRATRACE_PROC_SITES_H

#include <linux/types.h>

#include "probe/waits/sleep_site.h"

#define PROC_SITES 1024

struct proc_sites;

/* NULL when out of memory. */
struct proc_sites *proc_sites_new(void);
void proc_sites_free(struct proc_sites *sites);

/* The key of a place; 0 when nothing of it is known, or no room is left. */
__u64 proc_sites_add(struct proc_sites *sites, const struct sleep_site *site);

/* Returns 0, -ENOENT. */
int proc_sites_get(const struct proc_sites *sites, __u64 key, struct sleep_site *site);

#endif
