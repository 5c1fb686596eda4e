/* SPDX-License-Identifier: GPL-2.0-only */
/* The sentences of a verdict: headline, evidence with numbers, next steps. */
#ifndef TEGRATRACE_WORDING_H
#define TEGRATRACE_WORDING_H

#include "diagnose/facts.h"
#include "diagnose/verdict.h"

/* What would turn insufficient-data into a verdict. */
const char *wording_raise_insufficient(const struct facts *facts, bool gpu_known);

/* Fill headline, evidence and next steps of a verdict whose class and numbers stand. */
void wording_fill(const struct session *session, const struct facts *facts,
		  struct verdict *verdict);

#endif
