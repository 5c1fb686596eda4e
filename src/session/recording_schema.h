/* SPDX-License-Identifier: GPL-2.0-only */
/* The SQL of a recording's tables and views. */
#ifndef TEGRATRACE_RECORDING_SCHEMA_H
#define TEGRATRACE_RECORDING_SCHEMA_H

#include <stdio.h>

/* Every statement, with comments. The text is malloc'd; NULL when out of memory. */
char *recording_schema_sql(void);

#endif
