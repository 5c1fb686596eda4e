/* SPDX-License-Identifier: GPL-2.0-only */
/* The checklist that people go through by hand over tegrastats curves, answered from the samples. */
#ifndef TEGRATRACE_CHECKLIST_H
#define TEGRATRACE_CHECKLIST_H

#include "diagnose/facts.h"
#include "diagnose/verdict.h"

/* Of a log whose facts and rules are those of its steady phase. */
void checklist_fill(const struct session *session, const struct facts *facts,
		    struct verdict *verdict);

/* Of a live run, whose verdict is there: its samples are gone through as those of a log. */
void checklist_of_run(const struct session *session, struct verdict *verdict);

#endif
