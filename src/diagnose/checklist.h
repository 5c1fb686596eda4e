/* SPDX-License-Identifier: GPL-2.0-only */
/* The checklist that people go through by hand over tegrastats curves, answered from a log. */
#ifndef TEGRATRACE_CHECKLIST_H
#define TEGRATRACE_CHECKLIST_H

#include "diagnose/facts.h"
#include "diagnose/verdict.h"

void checklist_fill(const struct session *session, const struct facts *facts,
		    struct verdict *verdict);

#endif
