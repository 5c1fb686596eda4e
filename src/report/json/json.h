/* SPDX-License-Identifier: GPL-2.0-only */
/* The JSON object of schema.json: every key is there, unknown is null. */
#ifndef TEGRATRACE_REPORT_JSON_H
#define TEGRATRACE_REPORT_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "diagnose/verdict.h"
#include "session/session.h"

/* A new reference; NULL when out of memory. */
json_t *report_json(const struct session *session, const struct verdict *verdict);

/* The object on one line. 0, -ENOMEM, or -errno of a failed write. */
int report_json_write(FILE *out, const struct session *session, const struct verdict *verdict);

#endif
