/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of CPUs as the kernel writes them: "0-3,6". */
#ifndef TEGRATRACE_CPU_LIST_H
#define TEGRATRACE_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Room for the text of any list: sysfs gives a page. */
#define CPU_LIST_TEXT 4096

/*
 * set[cpu] for cpu < max; CPUs beyond are left out. False, and none set, when the text is no such list:
 * one that is empty, or cut in a number's place.
 */
bool cpu_list_parse(const char *text, bool *set, size_t max);

/* Of the file of that path. False also when it cannot be read. */
bool cpu_list_read(const char *path, bool *set, size_t max);

#endif
