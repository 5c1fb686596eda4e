/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/freezer.h"

#include <string.h>

#include "base/msg.h"
#include "probe/symbols/kernel_symbols.h"

void freezer_find(struct tt_freezer *freezer)
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
