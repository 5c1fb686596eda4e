/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/block_io.h"

#include <string.h>

#include "session/session.h"

_Static_assert(BLOCK_HIST_BUCKETS == SESSION_HIST_BUCKETS, "one layout of histograms");

const char *block_op_name(enum block_op op)
{
	static const char *const names[BLOCK_OPS] = {
		[BLOCK_READ] = "read",	     [BLOCK_WRITE] = "write", [BLOCK_FLUSH] = "flush",
		[BLOCK_DISCARD] = "discard", [BLOCK_OTHER] = "other",
	};

	return (unsigned int)op < BLOCK_OPS ? names[op] : "?";
}

int64_t block_mean_ns(const struct block_delay *delay)
{
	return delay->count > 0 ? delay->sum_ns / delay->count : UNKNOWN_NS;
}

int64_t block_quantile_ns(const struct block_delay *delay, double q)
{
	struct runq_delay same = {.count = delay->count, .max_ns = delay->max_ns};

	memcpy(same.hist, delay->hist, sizeof(same.hist));
	return runq_quantile_ns(&same, q);
}
