/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rung.h"
#include <errno.h>
static int proc_load(const struct rung_settings *settings, struct rung_objects *objects,
		     char reason[RUNG_REASON_LEN])
{
	(void)settings;
	(void)objects;
	(void)reason;
	return -ENOTSUP;
}
const struct rung_ops rung_proc = {.name = "proc", .in_user_space = true, .load = proc_load};
