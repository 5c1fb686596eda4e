/* SPDX-License-Identifier: GPL-2.0-only */
/* Building blocks of the JSON report; only for this folder. */
#ifndef TEGRATRACE_REPORT_JSON_VALUES_H
#define TEGRATRACE_REPORT_JSON_VALUES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "diagnose/verdict.h"
#include "session/session.h"

/*
 * Put a value, whose reference is taken over, into a container. Out of memory, and a NULL value,
 * which is another value's, turn the container into NULL: so one check at the end is enough.
 */
void json_put(json_t **object, const char *key, json_t *value);
void json_push(json_t **array, json_t *value);

json_t *json_count(int64_t value);   /* null for UNKNOWN_NS and UNKNOWN_COUNT */
json_t *json_number(double value);   /* null unless finite */
json_t *json_text(const char *text); /* sanitised; null when empty */

/* The same for a field of raw bytes that may lack its NUL; "" when empty. */
json_t *json_bytes(const char *bytes, size_t size);

/* On one line; takes the reference over. 0, -ENOMEM (also for NULL), or -errno of a failed write. */
int json_write_line(FILE *out, json_t *object);

json_t *json_threads(const struct session *session);
json_t *json_edges(const struct session *session);
json_t *json_stacks(const struct session *session);
json_t *json_wait_coverage(const struct session *session);
json_t *json_block(const struct session *session);
json_t *json_pressure(const struct session *session);
json_t *json_cpu_holders(const struct session *session);
json_t *json_top_processes(const struct session *session);
json_t *json_oncpu(const struct session *session);
json_t *json_oncpu_samples(const struct oncpu_samples *samples);
json_t *json_faults(const struct session *session);
json_t *json_tegra(const struct session *session);
json_t *json_cuda(const struct cuda_summary *cuda);
json_t *json_phases(const struct verdict *verdict);
json_t *json_thread_cuda(const struct cuda_account *cuda); /* null when not measured */

#endif
