/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The handlers of bpf/account.h, fed with events from rings instead of from hooks. As in a program
 * in the kernel the state is global: one such rung at a time. Private to src/probe.
 */
#ifndef TEGRATRACE_PERF_ACCOUNT_H
#define TEGRATRACE_PERF_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/rungs/freezer.h"
#include "probe/rungs/perf_events.h"
#include "probe/rungs/records.h"

/* The window is closed and nothing is lost. */
void perf_account_start(struct records *records, bool follow_children,
			const struct tt_freezer *freezer);

struct tt_window *perf_account_window(void);
struct tt_losses *perf_account_losses(void);

/* In the order of time, with the lock of the records held. */
void perf_account_event(const struct trace_event *event);

/* What was lost with until_ns open is over: the rings have been read. */
void perf_account_found(uint64_t now_ns);

/* A loss under way or not yet repaired. */
bool perf_account_has_lost(void);

/*
 * After a loss, now and then: closes the accounts of threads that are gone and opens those of new ones
 * of the traced processes, once all events of before /proc was asked are handled. Takes the lock.
 */
void perf_account_repair(uint64_t now_ns, uint64_t handled_ns);

/* After the last event: the same of threads that were lost at the end. */
void perf_account_finish(void);

#endif
