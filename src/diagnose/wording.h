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

/* The same for a verdict on a log. */
void wording_log(const struct session *session, const struct facts *facts, struct verdict *verdict);

/* The end of a headline: that the GPU is the limit, but not which part of it; or nothing. */
const char *wording_dram_unknown(const struct facts *facts);

/* "preproc-0/1234" */
void wording_thread(char *dst, size_t size, const struct thread_account *thread);

/*
 * The parts that are about what the GPU-feeding thread waits for: nothing without one; headline and
 * steps only for classes that are about a part of the path.
 */
void wording_path_headline(const struct facts *facts, struct verdict *v);
void wording_path_evidence(const struct session *session, const struct facts *facts,
			   struct verdict *v);
void wording_path_steps(const struct facts *facts, struct verdict *v);

/* The parts of a live verdict that are about clocks, heat and power. */
void wording_board_headline(const struct session *session, const struct facts *facts,
			    struct verdict *v);
void wording_board_evidence(const struct session *session, const struct facts *facts,
			    struct verdict *v);
void wording_board_steps(const struct session *session, struct verdict *v);

/* Of events that were counted and are not the class. */
void wording_board_events_step(const struct session *session, struct verdict *v);

/* Cap the confidence, with the words for what would lift the cap. */
void verdict_doubt(struct verdict *v, double limit, const char *raise);

/* Append one line of evidence, or one next step; dropped when there is no room left. */
void verdict_evidence(struct verdict *v, const char *source, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void verdict_step(struct verdict *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
