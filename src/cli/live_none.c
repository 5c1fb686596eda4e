/* SPDX-License-Identifier: GPL-2.0-only */
/* Without libmicrohttpd. */
#ifndef TEGRATRACE_LIVE
#include "cli/live.h"

#include <stddef.h>

#include "base/msg.h"
#include "cli/options.h"

int live_open(struct live **live, const char *where)
{
	*live = NULL;
	if (!where)
		return EXIT_OK;
	msg_error("no --live: this tegratrace was built without libmicrohttpd; --html FILE writes "
		  "the "
		  "same page at the end");
	return EXIT_UNSUPPORTED;
}

void live_begin(struct live *live, const struct session *session)
{
	(void)live;
	(void)session;
}

void live_tick(struct live *live, const struct session *session, int64_t now_ns)
{
	(void)live;
	(void)session;
	(void)now_ns;
}

void live_end(struct live *live, const struct session *session, const struct verdict *verdict)
{
	(void)live;
	(void)session;
	(void)verdict;
}

void live_close(struct live *live)
{
	(void)live;
}

#endif
