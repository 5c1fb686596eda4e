/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/wait_sites.h"

#include <string.h>

#include "base/text.h"
#include "probe/waits/wait_rules.h"

/* The judged site may have the file behind it, or more words. */
static bool is_call(const char *site, int syscall)
{
	const char *name = wait_syscall_name(syscall);

	return name && !strncmp(site, name, strlen(name)) &&
	       (site[strlen(name)] == '\0' || site[strlen(name)] == ' ');
}

void wait_sites_add(const struct site_sampler *sites, struct fd_names *files, pid_t pid, pid_t tid,
		    const char *site, struct raw_wait *wait)
{
	struct site_count counts[SITES_PER_THREAD];
	const struct site_count *best = NULL;
	int n = sites ? site_sampler_lookup(sites, tid, counts) : 0;
	const char *file;
	uint32_t flags = 0;

	for (int i = 0; i < n; i++) {
		if (!is_call(site, counts[i].syscall))
			continue;
		if (!best) {
			best = &counts[i];
			flags = best->flags;
		}
		/* Which of the waits were for the lock is not known. */
		flags &= counts[i].flags;
	}
	if (!best)
		return;
	wait->key.syscall = TT_SYSCALL(best->syscall);
	wait->key.arg = best->arg;
	wait->sampled = true;
	wait->key.flags |= flags;
	if (wait_syscall_takes_fd(best->syscall)) {
		file = fd_names_get(files, pid, (int)best->arg);
		if (file)
			text_copy(wait->file, sizeof(wait->file), file);
	}
}
