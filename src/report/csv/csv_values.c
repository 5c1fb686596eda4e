/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/csv/csv_values.h"

#include <string.h>

bool csv_is_formula(const char *safe)
{
	return *safe && strchr("=+-@", *safe);
}

void csv_put_quoted(FILE *out, const char *safe)
{
	fputc('"', out);
	if (csv_is_formula(safe))
		fputc('\'', out);
	for (const char *p = safe; *p; p++) {
		if (*p == '"')
			fputc('"', out);
		fputc(*p, out);
	}
	fputc('"', out);
}
