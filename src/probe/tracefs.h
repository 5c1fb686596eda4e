/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracefs: where it is, and what the `format` file of a tracepoint says. When it is mounted
 * nowhere, a detached mount is made that no other process sees and that ends with this one.
 */
#ifndef TEGRATRACE_TRACEFS_H
#define TEGRATRACE_TRACEFS_H

#include <stddef.h>

struct tracefs {
	int fd;		 /* directory; -1 = not available */
	char where[128]; /* mount point, "detached mount", or why there is none */
};

/* Returns 0, or -errno with the reason in where. */
int tracefs_open(struct tracefs *tracefs);
void tracefs_close(struct tracefs *tracefs);

/* The perf id of an event "sched/sched_switch"; -errno when it does not exist. */
int tracefs_event_id(const struct tracefs *tracefs, const char *event);

struct tracefs_field {
	const char *name;
	int offset; /* bytes from the start of the record */
	int size;   /* bytes */
};

/*
 * Fill offset and size of the named fields of an event. Returns 0; -ENOENT when the event or a
 * field is missing (that field's size is 0).
 */
int tracefs_event_fields(const struct tracefs *tracefs, const char *event,
			 struct tracefs_field *fields, int n);

/* The same over the text of a `format` file. */
int tracefs_parse_format(const char *text, struct tracefs_field *fields, int n);

#endif
