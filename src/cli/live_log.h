/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All events of a run as one text that only grows: each viewer reads it from its begin at its own
 * pace, and one that comes late sees the same as the first.
 */
#ifndef TEGRATRACE_LIVE_LOG_H
#define TEGRATRACE_LIVE_LOG_H

#include <jansson.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

struct live_log;

/* Events that it would grow beyond `limit` bytes with are left out. NULL when out of memory. */
struct live_log *live_log_new(size_t limit);

/* The server must be stopped before: it has no viewer then. */
void live_log_free(struct live_log *log);

/* One event of that name. Takes the reference over. What finds no memory is left out. */
void live_log_add(struct live_log *log, const char *event, json_t *data);

/* The same for the report at the end, which no limit keeps from viewers. */
void live_log_add_last(struct live_log *log, const char *event, json_t *data);

size_t live_log_size(struct live_log *log);

/* Nothing follows: viewers are let go once they have read all. */
void live_log_end(struct live_log *log);

/* True when every viewer has read all. */
bool live_log_all_read(struct live_log *log);

/* The log from its begin, for one connection. NULL when out of memory. */
struct MHD_Response *live_log_response(struct live_log *log, struct MHD_Connection *connection);

#endif
