/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of the text report; only for this folder. */
#ifndef TEGRATRACE_REPORT_TEXT_PARTS_H
#define TEGRATRACE_REPORT_TEXT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "diagnose/verdict.h"
#include "report/text/lines.h"
#include "session/session.h"

#define NO_LIMIT SIZE_MAX

/* part / whole; NAN when either is unknown or the whole is not positive. */
double share_of(int64_t part, int64_t whole);

/* A share as a percentage, at most 6 bytes: "93.1", "<0.1" if small but not 0, "?" for NAN. */
void text_percent(char *dst, size_t size, double share);

/* The same in whole percents with the sign, for sentences: "93 %", "<1 %", "unknown". */
void text_percent_sign(char *dst, size_t size, double share);

/* "infer/1234", cut to `width` columns, PID last to go. */
void text_process(char *dst, size_t size, const struct session *session, pid_t pid, size_t width);

/*
 * The table of groups in at most max_lines lines (at least 3), its header and a line on the
 * groups left out included.
 */
void text_groups(struct lines *lines, const struct session *session,
		 const struct thread_group *groups, size_t n, size_t max_lines);

/*
 * Library and function that the busiest groups are in, and how much of that is spinning; page faults
 * where they cost time. Nothing where there is nothing to say; at most max lines each.
 */
void text_oncpu(struct lines *lines, const struct session *session,
		const struct thread_group *groups, size_t n, size_t max);
void text_faults(struct lines *lines, const struct session *session, size_t max);

/* GPU, EMC, temperature and power, or what is missing. */
void text_board(struct lines *lines, const struct session *session);

/* In at most max lines: the devices that the target waits for, or that others keep busy. */
void text_block(struct lines *lines, const struct session *session, size_t max);

/*
 * CPU quotas that were used up, who had the CPU, memory pressure: in at most max lines, none when
 * none matters. Verbose shows all quotas and waiters.
 */
void text_system(struct lines *lines, const struct session *session, bool verbose, size_t max);

/* Only with -v: other processes, stalls, paging. */
void text_system_details(struct lines *lines, const struct session *session);

/* Nothing when nothing was lost, unless verbose. */
void text_losses(struct lines *lines, const struct session *session, bool verbose);

/* How long, on what, in which way. */
void text_measured(struct lines *lines, const struct session *session);

/* Waits for the GPU inside CUDA calls, and iterations; with -v every kind of call and the cost. */
void text_cuda(struct lines *lines, const struct session *session);
void text_cuda_details(struct lines *lines, const struct session *session);

/* Only with -v: all threads with the identity; then CPUs, sensors, what is missing, overhead. */
void text_threads(struct lines *lines, const struct session *session);
void text_details(struct lines *lines, const struct session *session);
void text_waits(struct lines *lines, const struct session *session);
void text_block_table(struct lines *lines, const struct session *session);

/* The phases of a run, `room` of them: the steady one and the longest. */
void text_phases(struct lines *lines, const struct verdict *verdict, size_t room);

void text_checklist(struct lines *lines, const struct verdict *verdict);

/* Checklist of a log, and as many phases as fit in max_lines beside it (at least the steady one). */
void text_log(struct lines *lines, const struct verdict *verdict, size_t max_lines);

/* Only with --explain. */
void text_rules(struct lines *lines, const struct verdict *verdict);

#endif
