/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/html/page.h"

#include <errno.h>
#include <string.h>

#ifdef PAGE_PATH
/* clang-format off */
__asm__(".pushsection .rodata.report_page, \"a\", %progbits\n"
	".globl report_page_text\n"
	".hidden report_page_text\n"
	".type report_page_text, %object\n"
	"report_page_text:\n"
	".incbin \"" PAGE_PATH "\"\n"
	".byte 0\n"
	".size report_page_text, . - report_page_text\n"
	".popsection\n");
/* clang-format on */

extern const char report_page_text[] __attribute__((visibility("hidden")));
#else
static const char report_page_text[] = "";
#endif

static const char mark[] = "@@TEGRATRACE-DATA@@";

int report_page(struct page *page)
{
	const char *at = strstr(report_page_text, mark);

	if (!at)
		return -ENOENT;
	page->head = report_page_text;
	page->head_size = (size_t)(at - report_page_text);
	page->tail = at + strlen(mark);
	page->tail_size = strlen(page->tail);
	return 0;
}
