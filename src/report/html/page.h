/* SPDX-License-Identifier: GPL-2.0-only */
/* The page of the HTML report without its data, as bundled at build time. */
#ifndef TEGRATRACE_REPORT_PAGE_H
#define TEGRATRACE_REPORT_PAGE_H

#include <stddef.h>

struct page {
	const char *head; /* up to where the JSON goes */
	size_t head_size;
	const char *tail;
	size_t tail_size;
};

/* 0, or -ENOENT when this binary was built without the page. */
int report_page(struct page *page);

#endif
