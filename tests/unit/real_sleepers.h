/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that really sleep, for tests of where they do. */
#ifndef __REAL_SLEEPERS_H
#define __REAL_SLEEPERS_H

#include "probe/waits/sleep_site.h"

#include <string.h>
#include <time.h>

/* Twice at the same place: it has arrived */
static inline void wait_until_asleep(pid_t pid, pid_t tid, struct sleep_site *site)
{
	static struct sleep_site last;
	struct timespec pause_time = {.tv_nsec = 20000000};

	for (int i = 0; i < 500; i++) {
		bool same = !sleep_site_read(site, pid, tid) && !site->running &&
			    site->syscall != WAIT_SYSCALL_UNKNOWN &&
			    last.syscall == site->syscall &&
			    !memcmp(last.args, site->args, sizeof(last.args)) && i;

		if (same)
			return;
		memcpy(&last.args, site->args, sizeof(last.args));
		last.syscall = site->syscall;
		nanosleep(&pause_time, NULL);
	}
	fail_msg("the sleeper does not sleep");
}

#endif /* __REAL_SLEEPERS_H */
