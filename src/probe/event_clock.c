/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/event_clock.h"

#include <unistd.h>

bool event_clock_runs(int fd, uint64_t *enabled_ns)
{
	struct {
		uint64_t count, enabled_ns;
	} now;
	ssize_t n = read(fd, &now, sizeof(now));

	if (n == 0) /* it is in error, or its PMU is gone */
		return false;
	if (n != sizeof(now))
		return true;
	if (now.enabled_ns == *enabled_ns)
		return false;
	*enabled_ns = now.enabled_ns;
	return true;
}
