/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/freezer.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/msg.h"
#include "probe/symbols/kernel_symbols.h"

/* Later ones may be told as before 6.1 by a backport: then no thread goes out untold and is woken. */
static bool may_be_untold(void)
{
	struct utsname kernel;
	int major, minor;

	return !uname(&kernel) && sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
	       major == 6 && minor >= 1 && minor <= 12;
}

static void find_code(struct tt_freezer *freezer)
{
	static const char *const names[TT_FREEZER_FUNCTIONS] = {
		[TT_FREEZER_V2] = "do_freezer_trap",
		[TT_FREEZER_SIGNAL] = "get_signal",
		[TT_FREEZER_V1] = "__refrigerator",
		[TT_FREEZER_SCHEDULE] = "schedule",
	};
	struct kernel_code code[TT_FREEZER_FUNCTIONS];
	int err = kernel_symbols_find(NULL, names, TT_FREEZER_FUNCTIONS, code);

	if (err)
		msg_debug("frozen threads are not told from sleeping ones: %s", strerror(-err));
	for (int i = 0; i < TT_FREEZER_FUNCTIONS; i++)
		freezer->code[i] = (struct tt_code){code[i].begin, code[i].size};
}

void freezer_find(struct tt_freezer *freezer, bool stacks)
{
	*freezer = (struct tt_freezer){.untold = may_be_untold()};
	if (stacks)
		find_code(freezer);
}
