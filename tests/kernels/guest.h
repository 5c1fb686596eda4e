/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of guest_check share: reports and truths as JSON, and the one line of a check. */
#ifndef __GUEST_H
#define __GUEST_H

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char check_name[64];

static inline void __attribute__((format(printf, 2, 3))) verdict(bool ok, const char *format, ...)
{
	va_list args;

	printf("CHECK %s %s ", check_name, ok ? "ok" : "FAIL");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* JSON */

static inline json_t *load(const char *path)
{
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error);

	if (!root) {
		verdict(false, "%s: %s", path, error.text);
		exit(1);
	}
	return root;
}

/* "a.b.c"; 0 where there is none */
static inline int64_t number(const json_t *object, const char *path)
{
	char part[64];

	while (*path) {
		size_t len = strcspn(path, ".");

		snprintf(part, sizeof(part), "%.*s", (int)len, path);
		object = json_object_get(object, part);
		path += len + (path[len] == '.');
	}
	return json_integer_value(object);
}

static inline const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static inline const json_t *find(const json_t *list, const char *key, const char *value)
{
	size_t i;
	json_t *one;

	json_array_foreach(list, i, one)
	{
		if (!strcmp(text(one, key), value))
			return one;
	}
	return NULL;
}

/* A report, and what the workload says of itself. */
struct run {
	const json_t *report, *truth;
	const json_t *rows, *books;
	const char *rung;
	const char *report_path;
};

static inline bool has_bpf(const struct run *run)
{
	return strcmp(run->rung, "perf") && strcmp(run->rung, "proc");
}

static inline int64_t grew(const json_t *thread, const char *key)
{
	char begin[64], end[64];

	snprintf(begin, sizeof(begin), "begin.%s", key);
	snprintf(end, sizeof(end), "end.%s", key);
	return number(thread, end) - number(thread, begin);
}

/* Numbers that init wrote beside the report. Returns how many. */
static inline int read_numbers(const struct run *run, const char *suffix, int64_t *numbers,
			       int most)
{
	char path[256];
	FILE *file;
	int n = 0;

	snprintf(path, sizeof(path), "%s-%s", run->report_path, suffix);
	file = fopen(path, "re");
	while (file && n < most && fscanf(file, "%" SCNd64, &numbers[n]) == 1)
		n++;
	if (file)
		fclose(file);
	return n;
}

/* Time of a CPU in interrupts while the load ran, where the kernel keeps it apart; else 0. */
static inline int64_t interrupts_ns(const struct run *run, int cpu)
{
	int64_t before[64], after[64];
	int n = read_numbers(run, "interrupts-before", before, 64);

	if (cpu >= n || read_numbers(run, "interrupts-after", after, 64) != n)
		return 0;
	return (after[cpu] - before[cpu]) * 10000000;
}

static inline double further(double a, double b)
{
	return (b < 0 ? -b : b) > (a < 0 ? -a : a) ? b : a;
}

/* guest_loads.c */
int check_demo(const char *wanted, const char *path);
int check_load(const char *which, char **args);

/* guest_waits.c */
void check_waits(const struct run *run);
void check_disk(const struct run *run);

#endif /* __GUEST_H */
