/* SPDX-License-Identifier: GPL-2.0-only */
/* The curves of a session, for the page: arrays that share a time axis, null for unknown. */
#ifndef TEGRATRACE_REPORT_JSON_SERIES_H
#define TEGRATRACE_REPORT_JSON_SERIES_H

#include <jansson.h>

#include "session/session.h"

/* A new reference; NULL when out of memory. */
json_t *json_series(const struct session *session);

#endif
