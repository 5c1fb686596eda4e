/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/target_name.h"

#include <string.h>

#include "base/text.h"

void report_target_name(char *dst, size_t size, const struct session *session)
{
	const struct target_info *target = &session->targets[0];
	char name[TEXT_SANITIZED_SIZE(sizeof(target->comm))];
	const char *comm = target->comm;

	*dst = '\0';
	if (session->ntargets <= 0)
		return;
	/* A command that we started was still called like us when it became a target. */
	for (size_t i = 0; i < session->nthreads; i++) {
		if (session->threads[i].tid == target->pid)
			comm = session->threads[i].comm;
	}
	text_sanitize(name, sizeof(name), comm, strnlen(comm, sizeof(target->comm)));
	text_appendf(dst, size, "%s (%d)", name, target->pid);
}
