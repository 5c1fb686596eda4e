/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/cpu_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_file.h"

/* "3" or "0-3"; where it ends, NULL when it is neither. */
static const char *parse_range(const char *text, unsigned long *first, unsigned long *last)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	*first = *last = strtoul(text, &end, 10);
	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return NULL;
		*last = strtoul(end + 1, &end, 10);
	}
	return *last < *first ? NULL : end;
}

bool cpu_list_parse(const char *text, bool *set, size_t max)
{
	unsigned long first, last;
	const char *at = text;

	memset(set, 0, max * sizeof(*set));
	while ((at = parse_range(at, &first, &last))) {
		for (unsigned long cpu = first; cpu <= last && cpu < max; cpu++)
			set[cpu] = true;
		if (!*at || (*at == '\n' && !at[1]))
			return true;
		if (*at++ != ',')
			break;
	}
	memset(set, 0, max * sizeof(*set));
	return false;
}

bool cpu_list_read(const char *path, bool *set, size_t max)
{
	char text[CPU_LIST_TEXT];

	text_file_read(text, sizeof(text), "%s", path);
	return cpu_list_parse(text, set, max);
}
