/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls and descriptors for waits of a rung that sees neither, from the samples of where
 * the same thread slept. Private to src/probe.
 */
#ifndef TEGRATRACE_WAIT_SITES_H
#define TEGRATRACE_WAIT_SITES_H

#include <stdbool.h>
#include <sys/types.h>

#include "probe/waits/fd_names.h"
#include "probe/waits/raw_waits.h"
#include "probe/waits/site_sampler.h"

/*
 * Give `wait`, judged to be in the call `site` ("futex", "ppoll"), what most samples of the thread
 * in that call have.
 */
void wait_sites_add(const struct site_sampler *sites, struct fd_names *files, pid_t pid, pid_t tid,
		    const char *site, struct raw_wait *wait);

#endif
