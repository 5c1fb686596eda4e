/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json/schema.h"

/* seen from the folder in which the compiler runs */
#ifndef SCHEMA_PATH
#define SCHEMA_PATH "src/report/json/schema.json"
#endif

/* clang-format off */
__asm__(".pushsection .rodata.report_schema, \"a\", %progbits\n"
	".globl report_schema_text\n"
	".hidden report_schema_text\n"
	".type report_schema_text, %object\n"
	"report_schema_text:\n"
	".incbin \"" SCHEMA_PATH "\"\n"
	".byte 0\n"
	".size report_schema_text, . - report_schema_text\n"
	".popsection\n");
/* clang-format on */

extern const char report_schema_text[] __attribute__((visibility("hidden")));

const char *report_schema(void)
{
	return report_schema_text;
}
