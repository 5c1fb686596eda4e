/* SPDX-License-Identifier: GPL-2.0-only */
/* The JSON Schema (draft 2020-12) of the report. */
#ifndef TEGRATRACE_REPORT_SCHEMA_H
#define TEGRATRACE_REPORT_SCHEMA_H

/* The text of schema.json, embedded when this was built; static. */
const char *report_schema(void);

#endif
