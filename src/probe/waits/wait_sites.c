/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/wait_sites.h"

#include <string.h>

#include "base/text.h"
#include "probe/waits/wait_rules.h"

bool wait_sites_add(const struct site_sampler *sites, struct fd_names *files, pid_t pid, pid_t tid,
		    const char *site, struct raw_wait *wait)
{
	struct site_count counts[SITES_PER_THREAD];
	const struct site_count *best = NULL;
	int n = sites ? site_sampler_lookup(sites, tid, counts) : 0;
	const char *file;

	for (int i = 0; i < n && !best; i++) {
		const char *name = wait_syscall_name(counts[i].syscall);

		/* the judged site may have the file behind it, or more words */
		if (name && !strncmp(site, name, strlen(name)) &&
		    (site[strlen(name)] == '\0' || site[strlen(name)] == ' '))
			best = &counts[i];
	}
	if (!best)
		return false;
	wait->key.syscall = TT_SYSCALL(best->syscall);
	wait->key.arg = best->arg;
	wait->sampled = true;
	if (best->flags & SITE_FUTEX_LOCK)
		wait->key.flags |= TT_SITE_FUTEX_LOCK;
	if (wait_syscall_takes_fd(best->syscall)) {
		file = fd_names_get(files, pid, (int)best->arg);
		if (file)
			text_copy(wait->file, sizeof(wait->file), file);
	}
	return true;
}
