/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_SESSION_ROOFLINE_H
#define TEGRATRACE_SESSION_ROOFLINE_H

#include "diagnose/facts.h"
#include "diagnose/verdict.h"

/* Fills the roofline of the verdict when the workload was given; traffic is from the EMC load. */
void roofline_of_session(const struct session *session, const struct facts *facts,
			 struct verdict *verdict);

#endif
