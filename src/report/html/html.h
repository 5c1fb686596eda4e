/* SPDX-License-Identifier: GPL-2.0-only */
/* The HTML report: one file that asks for nothing else, with the page's data inside. */
#ifndef TEGRATRACE_REPORT_HTML_H
#define TEGRATRACE_REPORT_HTML_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "diagnose/verdict.h"
#include "session/session.h"

/* False when this binary was built without the page: report_html_write then gives -ENOENT. */
bool report_html_available(void);

/*
 * What the page draws: {"report": the JSON report, "series": the curves, "board": {"trips": C,
 * "ceilings": [..]}}; unknown is null. A new reference; NULL when out of memory.
 */
json_t *report_html_data(const struct session *session, const struct verdict *verdict);

/* 0, -ENOENT, -ENOMEM, or -errno of a failed write. */
int report_html_write(FILE *out, const struct session *session, const struct verdict *verdict);

#endif
